//! Messages that a service sends on its own: resource updates and notifications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;
use switchboard_protocol::setters;

/// A method that watches a resource while a client is subscribed to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WatchDef {
    /// The name of the resource.
    pub resource: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl WatchDef {
    /// Creates the watch of one resource by a method.
    pub fn new(resource: impl Into<String>, rust_name: impl Into<String>) -> Self {
        Self { resource: resource.into(), rust_name: rust_name.into(), description: None }
    }
}

setters!(WatchDef: some with_description description String;);

/// A typed notification that is sent to listening clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct NotificationDef {
    /// The name on the wire.
    pub name: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The description. Must not be empty.
    pub description: String,
    /// The JSON Schema of the payload.
    pub payload: Value,
}

impl NotificationDef {
    /// Creates a notification whose Rust method has the same name. Normalizes the payload with
    /// [`schema::normalize_output`].
    pub fn new(name: impl Into<String>, description: impl Into<String>, payload: Value) -> Self {
        let name = name.into();
        let payload = schema::normalize_output(payload);
        Self { rust_name: name.clone(), name, description: description.into(), payload }
    }
}

setters!(NotificationDef:
    set with_name name String;
    set with_rust_name rust_name String;);
