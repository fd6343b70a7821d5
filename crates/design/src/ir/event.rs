//! What a service says unasked: changes of a resource, and events of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;
use crate::setter::setters;

/// A method that watches a resource while somebody is subscribed to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WatchDef {
    /// The name of the resource.
    pub resource: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl WatchDef {
    /// The method that watches this resource.
    pub fn new(resource: impl Into<String>, rust_name: impl Into<String>) -> Self {
        Self { resource: resource.into(), rust_name: rust_name.into(), description: None }
    }
}

setters!(WatchDef: some with_description description String;);

/// A typed event that is pushed to whoever listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct NotificationDef {
    /// Its name on the wire.
    pub name: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// What it tells. May not be empty.
    pub description: String,
    /// The JSON Schema of what it carries.
    pub payload: Value,
}

impl NotificationDef {
    /// An event that carries this; its method has the same name. The schema goes through [`schema::output`].
    pub fn new(name: impl Into<String>, description: impl Into<String>, payload: Value) -> Self {
        let name = name.into();
        let payload = schema::output(payload);
        Self { rust_name: name.clone(), name, description: description.into(), payload }
    }
}

setters!(NotificationDef:
    set with_name name String;
    set with_rust_name rust_name String;);
