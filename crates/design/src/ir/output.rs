//! What a method answers with.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// What a method answers with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
#[non_exhaustive]
pub enum OutputDef {
    /// Nothing but that it succeeded.
    #[default]
    Nothing,
    /// Text.
    Text,
    /// Content blocks: pictures, links, text.
    Content,
    /// Data.
    Structured {
        /// The JSON Schema of the data.
        schema: Value,
    },
}

impl OutputDef {
    /// Data with this schema, which goes through [`schema::output`].
    pub fn structured(schema: Value) -> Self {
        Self::Structured { schema: schema::output(schema) }
    }

    /// Data that `T` is written as.
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        Self::structured(settings.into_generator().into_root_schema_for::<T>().to_value())
    }

    /// The schema, when it is data.
    pub fn schema(&self) -> Option<&Value> {
        match self {
            Self::Structured { schema } => Some(schema),
            Self::Nothing | Self::Text | Self::Content => None,
        }
    }

    pub(crate) fn schema_mut(&mut self) -> Option<&mut Value> {
        match self {
            Self::Structured { schema } => Some(schema),
            Self::Nothing | Self::Text | Self::Content => None,
        }
    }
}
