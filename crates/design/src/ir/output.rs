//! The result of a method.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

/// The result of a method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
#[non_exhaustive]
pub enum OutputDef {
    /// No content; success only.
    #[default]
    Nothing,
    /// Text.
    Text,
    /// Content blocks: text, images, audio, links.
    Content,
    /// Structured content.
    Structured {
        /// The JSON Schema of the content.
        schema: Value,
    },
}

impl OutputDef {
    /// Creates structured content. Normalizes the schema with [`schema::normalize_output`].
    pub fn structured(schema: Value) -> Self {
        Self::Structured { schema: schema::normalize_output(schema) }
    }

    /// Creates structured content with the schema of a serialized `T`.
    pub fn from_type<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        Self::structured(settings.into_generator().into_root_schema_for::<T>().to_value())
    }

    /// Returns the schema of structured content.
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
