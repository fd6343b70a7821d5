//! A prompt of a service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use switchboard_protocol::{Icon, Role};

use super::{ParamDef, ParamKind};
use crate::schema;
use crate::setter::setters;

/// A text the service offers to start from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptDef {
    /// Its name on the wire.
    pub name: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for. May not be empty.
    pub description: String,
    /// What it can be filled in with, in order of declaration. They travel as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ParamDef>,
    /// Where its messages come from.
    #[serde(default)]
    pub body: PromptBody,
    /// Pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// Arguments that its author gave as an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The version of the service that had it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Why not to use it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// What a caller must be allowed; who is not does not see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Words to group it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Where the messages of a prompt come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
#[non_exhaustive]
pub enum PromptBody {
    /// The method is called.
    #[default]
    Dynamic,
    /// The design has them.
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
    /// Who says it: `user` or `assistant`; the protocol has no other role.
    #[schemars(with = "String")]
    pub role: Role,
    /// What is said.
    pub text: String,
}

impl PromptText {
    /// Someone says something.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

impl PromptDef {
    /// A dynamic prompt without arguments; its method has the same name.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            rust_name: name.clone(),
            name,
            title: None,
            description: description.into(),
            arguments: Vec::new(),
            body: PromptBody::Dynamic,
            icons: Vec::new(),
            example: None,
            since: None,
            deprecated: None,
            scopes: Vec::new(),
            tags: Vec::new(),
        }
    }
}

impl PromptDef {
    /// The JSON Schema of its arguments as they travel: texts.
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
        schema::canonical(schema)
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
