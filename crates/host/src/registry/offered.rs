//! Tools as a model is given them: names, descriptions and schemas in the form its provider takes.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::registry::catalog::Catalog;
use crate::registry::catalog_tool::CatalogTool;
use crate::registry::profile::{Profile, Unfit};

/// A tool as a model is given it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Offered {
    /// The name to call it by.
    pub name: String,
    /// What it does, and what its schema had to leave out.
    pub description: String,
    /// The arguments it takes.
    pub input_schema: Value,
}

/// All tools as a model is given them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForModels {
    /// Those that can be given, in order.
    pub tools: Vec<Offered>,
    /// Those that cannot, by name, and why: each is left out alone.
    pub left_out: Vec<(Arc<str>, Unfit)>,
}

impl CatalogTool {
    /// The tool as the models of a provider take it.
    ///
    /// # Errors
    /// Says why its schema cannot be made to fit.
    pub fn offered(&self, profile: Profile) -> Result<Offered, Unfit> {
        let schema: Value = self.tool.input_schema.decode().map_err(|_| Unfit::NotASchema)?;
        let shaped = profile.shape(&schema)?;
        let mut description = self.tool.description.clone().unwrap_or_default();
        for note in &shaped.notes {
            if !description.is_empty() {
                description.push(' ');
            }
            description.push_str(note);
        }
        Ok(Offered { name: self.qualified.to_string(), description, input_schema: shaped.schema })
    }
}

impl Catalog {
    /// All tools as the models of a provider take them.
    pub fn for_models(&self, profile: Profile) -> ForModels {
        let mut all = ForModels::default();
        for listed in self.tools() {
            match listed.offered(profile) {
                Ok(offered) => all.tools.push(offered),
                Err(unfit) => all.left_out.push((Arc::clone(&listed.qualified), unfit)),
            }
        }
        all
    }
}
