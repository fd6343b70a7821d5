//! Prompts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use switchboard_protocol::{Icon, Role, setters};

use super::{ParamDef, ParamKind};
use crate::schema;

/// A prompt: a message template that a user can select.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptDef {
    /// The name on the wire.
    pub name: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description. Must not be empty.
    pub description: String,
    /// The arguments, in order of declaration. They are transmitted as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ParamDef>,
    /// The source of its messages.
    #[serde(default)]
    pub body: PromptBody,
    /// The icons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// Example arguments, written by the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The version of the service that introduced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The reason for its deprecation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The scopes that a caller needs. Callers without them do not see the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Tags for grouping.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// The source of the messages of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
#[non_exhaustive]
pub enum PromptBody {
    /// The result of the method.
    #[default]
    Dynamic,
    /// Fixed messages in the design.
    Static {
        /// The messages.
        messages: Vec<PromptText>,
    },
}

/// One message of a static prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptText {
    /// The role: `user` or `assistant`.
    #[schemars(with = "String")]
    pub role: Role,
    /// The text.
    pub text: String,
}

impl PromptText {
    /// Creates a text message.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

impl PromptDef {
    /// Creates a dynamic prompt without arguments. Its Rust method has the same name.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self { rust_name: name.clone(), name, description: description.into(), ..Self::default() }
    }

    /// Returns the JSON Schema of the arguments as transmitted: an object of strings.
    pub fn schema(&self) -> Value {
        let property = |argument: &ParamDef| {
            let mut schema = json!({"type": "string"});
            if let ParamKind::Choice { values } = &argument.kind {
                schema["enum"] = json!(values);
            }
            if let Some(description) = &argument.description {
                schema["description"] = json!(description);
            }
            (argument.name.clone(), schema)
        };
        let properties: Map<String, Value> = self.arguments.iter().map(property).collect();
        let required = self.arguments.iter().filter(|argument| argument.required);
        let required: Vec<&str> = required.map(|argument| argument.name.as_str()).collect();
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema::canonicalize(schema)
    }
}

setters!(PromptDef:
    set with_name name String;
    set with_rust_name rust_name String;
    some with_title title String;
    set with_arguments arguments Vec<ParamDef>;
    set with_body body PromptBody;
    set with_icons icons Vec<Icon>;
    some with_example example Value;
    some with_since since String;
    some with_deprecated deprecated String;
    set with_scopes scopes Vec<String>;
    set with_tags tags Vec<String>;
);
