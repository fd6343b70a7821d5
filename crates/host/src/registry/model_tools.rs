//! Tools adapted to a model provider: names, descriptions and schemas in the form it accepts.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::registry::catalog::Catalog;
use crate::registry::catalog_tool::CatalogTool;
use crate::registry::profile::{Profile, ProfileError};

/// A tool adapted to a model provider.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelTool {
    /// The qualified name.
    pub name: String,
    /// The description, with notes about constraints that the schema could not keep.
    pub description: String,
    /// The schema of its arguments.
    pub input_schema: Value,
}

/// All tools adapted to a model provider.
///
/// ```
/// use switchboard::host::profile::Profile;
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::builder().with_profile(Profile::Anthropic).without_resource_tools().build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let adapted = host.catalog().for_models(Profile::Anthropic);
/// assert!(adapted.excluded.is_empty());
/// assert_eq!(adapted.tools[0].name, "mcp__sums__add");
/// # demo::done() });
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelTools {
    /// The adapted tools, in order.
    pub tools: Vec<ModelTool>,
    /// The names of tools that cannot be adapted, and why.
    pub excluded: Vec<(Arc<str>, ProfileError)>,
}

impl CatalogTool {
    /// Adapts the tool to a provider.
    ///
    /// # Errors
    /// When its schema cannot be adapted.
    pub fn for_model(&self, profile: Profile) -> Result<ModelTool, ProfileError> {
        let schema: Value = self.tool.input_schema.decode().map_err(|_| ProfileError::NotASchema)?;
        let adapted = profile.adapt(&schema)?;
        let mut description = self.tool.description.clone().unwrap_or_default();
        for note in &adapted.notes {
            if !description.is_empty() {
                description.push(' ');
            }
            description.push_str(note);
        }
        Ok(ModelTool { name: self.qualified.to_string(), description, input_schema: adapted.schema })
    }
}

impl Catalog {
    /// Adapts all tools to a provider.
    pub fn for_models(&self, profile: Profile) -> ModelTools {
        let mut all = ModelTools::default();
        for tool in self.tools() {
            match tool.for_model(profile) {
                Ok(adapted) => all.tools.push(adapted),
                Err(error) => all.excluded.push((Arc::clone(&tool.qualified), error)),
            }
        }
        all
    }
}
