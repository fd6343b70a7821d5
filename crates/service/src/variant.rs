//! The fields of an author's own error, on their way over the wire and back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use switchboard_design::{Error, ItemKind, ToolError};
use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// The fields of one variant, by name; those without names have their numbers.
#[derive(Debug, Default)]
pub struct Variant {
    fields: Map<String, Value>,
}

impl Variant {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// And this. What cannot be written is left out.
    #[must_use]
    pub fn with<T: Serialize>(mut self, name: &str, field: &T) -> Self {
        match serde_json::to_value(field) {
            Ok(value) => drop(self.fields.insert(name.to_owned(), value)),
            Err(error) => tracing::error!(name, %error, "a field of an error cannot be written as JSON"),
        }
        self
    }

    /// As an error for the model to read.
    pub fn tool(self, code: &str, message: String) -> Error {
        let error = ToolError::new(code, message);
        Error::Tool(if self.fields.is_empty() { error } else { error.with_data(self.fields) })
    }

    /// As an error of the protocol.
    pub fn rpc(self, code: i32, message: String) -> Error {
        let error = RpcError::new(ErrorCode(code), message);
        // Not the fields alone: with one called `name` they would be taken for another kind of error.
        let data = (!self.fields.is_empty()).then(|| json!({"fields": self.fields}));
        Error::Rpc(match data {
            Some(data) => error.with_data(data),
            None => error,
        })
    }

    /// The fields of an error for the model, if it is the one of this code.
    pub fn of_tool(error: &Error, code: &str) -> Option<Self> {
        match error {
            Error::Tool(told) if told.code == code => Self::of(told.data.as_ref()),
            _ => None,
        }
    }

    /// The fields of an error that says that something does not exist. A resource that the server does not have is one
    /// without fields.
    pub fn of_missing(error: &Error) -> Option<Self> {
        match error {
            Error::Unknown { kind: ItemKind::Resource, .. } => Some(Self::new()),
            other => Self::of_tool(other, "not_found"),
        }
    }

    /// The fields of an error of the protocol, if it is the one of this code.
    pub fn of_rpc(error: &Error, code: i32) -> Option<Self> {
        let Error::Rpc(told) = error else { return None };
        if told.code != ErrorCode(code) {
            return None;
        }
        let data: Option<Value> = told.data.as_ref().map(Raw::decode).transpose().ok()?;
        Self::of(data.as_ref().and_then(|data| data.get("fields")))
    }

    fn of(data: Option<&Value>) -> Option<Self> {
        match data {
            None => Some(Self::new()),
            Some(Value::Object(fields)) => Some(Self { fields: fields.clone() }),
            Some(_) => None,
        }
    }

    /// One of the fields; none when it is not there or something else.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.fields.get(name).cloned().unwrap_or_default();
        serde_json::from_value(value).ok()
    }

    /// What was wrong with arguments in one sentence, when that is all that is known.
    pub fn of_invalid(error: &Error) -> Option<String> {
        match error {
            Error::InvalidParams(invalid) if invalid.issues.is_empty() => Some(invalid.message.clone()),
            _ => None,
        }
    }
}
