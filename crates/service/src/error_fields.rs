//! Encodes and decodes the fields of error enums derived with `ServiceError`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use switchboard_design::{Error, ItemKind, ToolError};
use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// The fields of one enum variant by name; unnamed fields by position.
#[derive(Debug, Default)]
pub struct ErrorFields {
    fields: Map<String, Value>,
}

impl ErrorFields {
    /// Creates an empty set of fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field. A field that cannot be encoded is logged and omitted.
    #[must_use]
    pub fn with<T: Serialize>(mut self, name: &str, field: &T) -> Self {
        match serde_json::to_value(field) {
            Ok(value) => drop(self.fields.insert(name.to_owned(), value)),
            Err(error) => tracing::error!(name, %error, "error field cannot be encoded as JSON"),
        }
        self
    }

    /// Converts the fields to a tool error, which the model reads.
    pub fn into_tool_error(self, code: &str, message: String) -> Error {
        let error = ToolError::new(code, message);
        Error::Tool(if self.fields.is_empty() { error } else { error.with_data(self.fields) })
    }

    /// Converts the fields to a protocol error.
    pub fn into_rpc_error(self, code: i32, message: String) -> Error {
        let error = RpcError::new(ErrorCode(code), message);
        // Nested, because a top-level member such as `name` would be read as another kind of error.
        let data = (!self.fields.is_empty()).then(|| json!({"fields": self.fields}));
        Error::Rpc(match data {
            Some(data) => error.with_data(data),
            None => error,
        })
    }

    /// Decodes the fields of a tool error with this code.
    pub fn from_tool_error(error: &Error, code: &str) -> Option<Self> {
        match error {
            Error::Tool(tool) if tool.code == code => Self::from_data(tool.data.as_ref()),
            _ => None,
        }
    }

    /// Decodes the fields of a not-found error. For a resource that the server does not have they are empty.
    pub fn from_not_found(error: &Error) -> Option<Self> {
        match error {
            Error::Unknown { kind: ItemKind::Resource, .. } => Some(Self::new()),
            other => Self::from_tool_error(other, "not_found"),
        }
    }

    /// Decodes the fields of a protocol error with this code.
    pub fn from_rpc_error(error: &Error, code: i32) -> Option<Self> {
        let Error::Rpc(rpc) = error else { return None };
        if rpc.code != ErrorCode(code) {
            return None;
        }
        let data: Option<Value> = rpc.data.as_ref().map(Raw::decode).transpose().ok()?;
        Self::from_data(data.as_ref().and_then(|data| data.get("fields")))
    }

    fn from_data(data: Option<&Value>) -> Option<Self> {
        match data {
            None => Some(Self::new()),
            Some(Value::Object(fields)) => Some(Self { fields: fields.clone() }),
            Some(_) => None,
        }
    }

    /// Decodes one field; `None` if it is missing or has another type.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.fields.get(name).cloned().unwrap_or_default();
        serde_json::from_value(value).ok()
    }

    /// Returns the message of an invalid-arguments error without individual issues.
    pub fn invalid_params_message(error: &Error) -> Option<String> {
        match error {
            Error::InvalidParams(invalid) if invalid.issues.is_empty() => Some(invalid.message.clone()),
            _ => None,
        }
    }
}
