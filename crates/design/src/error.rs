//! [`Error`]: the errors of service methods, the same type for the service and its typed client.
//!
//! The variants say who is at fault: the caller's arguments, the service, the protocol, the connection, or this program.
//! [`ErrorRules`] encodes an error as a response; [`Error::from_rpc`] and [`Error::from_result`] decode it.

mod convert;
mod decode;
mod encode;
mod std_error;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_protocol::{DecodeError, ErrorCode, RpcError};

pub use convert::ServiceError;
pub use encode::{ArgumentErrors, ErrorDetails, ErrorPolicy, ErrorResponse, ErrorRules, RequestKind};

use crate::check::ItemKind;
use crate::repair::{Issue, Repair};

/// The `_meta` key of a failed result: name and data of a [`ToolError`].
pub const ERROR_KEY: &str = "dev.switchboard/error";
/// The `_meta` key of a failed result: the issues of invalid arguments.
pub const INVALID_PARAMS_KEY: &str = "dev.switchboard/invalidParams";
/// The key in the data of a JSON-RPC error: kind and name of an unknown item.
pub(crate) const UNKNOWN_KEY: &str = "dev.switchboard/unknown";

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The result of a service method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a service method.
///
/// `?` converts any other error to [`Error::Internal`], whose message the caller does not see.
///
/// ```
/// use switchboard::service::design::Error;
///
/// let error = Error::not_found("No such city");
/// assert!(!error.is_retryable());
/// assert!(Error::invalid_params("Missing required field: city").is_retryable());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The arguments are invalid. The caller can retry with other arguments.
    InvalidParams(InvalidParams),
    /// An error of the service, for the model to read.
    Tool(ToolError),
    /// The tool, resource or prompt does not exist.
    Unknown {
        /// The kind of the item.
        kind: ItemKind,
        /// The name, or the URI of a resource.
        name: String,
        /// The code of the response that the error was decoded from.
        rpc: Option<ErrorCode>,
    },
    /// The peer does not implement the method.
    MethodNotFound {
        /// The method.
        method: String,
    },
    /// The method is not mapped to MCP, and the client has no fallback for it.
    Unmapped {
        /// The Rust method.
        method: String,
    },
    /// The URI policy denies access to the resource.
    Denied {
        /// The URI of the resource.
        uri: String,
    },
    /// The caller lacks required scopes.
    Unauthorized {
        /// The required scopes.
        scopes: Vec<String>,
    },
    /// Any other JSON-RPC error of the peer.
    Rpc(RpcError),
    /// The connection to the peer failed.
    Transport(Source),
    /// The request timed out.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// The peer's response cannot be decoded.
    Malformed(DecodeError),
    /// The client does not declare a capability that the method needs.
    MissingCapability(String),
    /// The call waits for an answer of the user and is replayed with it. Not a failure: propagate it.
    Suspended,
    /// An internal error. The message is for logs; the caller sees it only with [`ErrorDetails::Shown`].
    Internal(Source),
}

/// Invalid arguments.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct InvalidParams {
    /// The message, in one sentence.
    pub message: String,
    /// The individual issues.
    pub issues: Vec<Issue>,
    /// How to repair the arguments, if known.
    pub repair: Option<Box<Repair>>,
}

/// An error that the service defines.
///
/// ```
/// use switchboard::json;
/// use switchboard::service::{Error, ToolError};
///
/// let error = Error::Tool(ToolError::new("closed", "The shop is closed.").with_data(json!({ "opens": "09:00" })));
/// assert_eq!(error.to_string(), "The shop is closed.");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ToolError {
    /// The name of the error, like `not_found`. Transmitted.
    #[serde(rename = "name")]
    pub code: String,
    /// The message for the model.
    #[serde(skip)]
    pub message: String,
    /// Data whose format depends on the name. Transmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The code of the JSON-RPC error that this error was decoded from.
    #[serde(skip)]
    pub rpc: Option<ErrorCode>,
}

/// The [`ToolError`] name that is encoded as "invalid params".
pub(crate) const INVALID_PARAMS: &str = "invalid_params";
/// The [`ToolError`] name that is encoded as "method not found".
pub(crate) const METHOD_NOT_FOUND: &str = "method_not_found";
/// The [`ToolError`] name of [`Error::not_found`].
pub(crate) const NOT_FOUND: &str = "not_found";

impl ToolError {
    /// Creates an error without data.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: None, rpc: None }
    }

    /// Returns the JSON-RPC code: the received one, or the one that belongs to the name.
    pub(crate) fn rpc_code(&self) -> ErrorCode {
        self.rpc.unwrap_or(match self.code.as_str() {
            INVALID_PARAMS => ErrorCode::INVALID_PARAMS,
            METHOD_NOT_FOUND => ErrorCode::METHOD_NOT_FOUND,
            _ => ErrorCode::INTERNAL_ERROR,
        })
    }

    /// Sets [`data`](Self::data).
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }
}

impl InvalidParams {
    /// Creates the error with a message only.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), issues: Vec::new(), repair: None }
    }

    /// Creates the error from issues, which the message lists.
    pub fn from_issues(issues: Vec<Issue>) -> Self {
        let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
        Self { message: format!("Invalid arguments: {}", lines.join("; ")), issues, repair: None }
    }

    /// Sets [`repair`](Self::repair).
    #[must_use]
    pub fn with_repair(mut self, repair: Repair) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }
}

impl Error {
    /// Creates an error of the service, for the model to read.
    pub fn tool(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Tool(ToolError::new(code, message))
    }

    /// Creates an error for invalid arguments.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::InvalidParams(InvalidParams::new(message))
    }

    /// Creates the error of a resource template for a URI that does not exist.
    ///
    /// Encoded with the code that the client's protocol revision specifies.
    pub fn unknown_resource(uri: impl Into<String>) -> Self {
        Self::unknown(ItemKind::Resource, uri)
    }

    /// Creates the error for an item that does not exist.
    pub fn unknown(kind: ItemKind, name: impl Into<String>) -> Self {
        Self::Unknown { kind, name: name.into(), rpc: None }
    }

    /// Creates the error for a requested entity that does not exist: [`Self::tool`] with the name `not_found`.
    ///
    /// A resource responds with the specification's code for a missing resource, a prompt with -32602, and a tool with a
    /// failed result.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::tool(NOT_FOUND, message)
    }

    /// Creates an internal error.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::Internal(source.into())
    }

    /// Returns the JSON-RPC code: the received one, or the one that the specification assigns.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { rpc: Some(code), .. } => *code,
            Self::InvalidParams(_) | Self::Unknown { .. } | Self::Denied { .. } => ErrorCode::INVALID_PARAMS,
            Self::MethodNotFound { .. } | Self::Unmapped { .. } => ErrorCode::METHOD_NOT_FOUND,
            Self::Unauthorized { .. } => ErrorCode::INVALID_REQUEST,
            Self::MissingCapability(_) => ErrorCode::MISSING_CLIENT_CAPABILITY,
            Self::Rpc(error) => error.code,
            Self::Tool(own) => own.rpc_code(),
            Self::Transport(_)
            | Self::Timeout
            | Self::Cancelled
            | Self::Malformed(_)
            | Self::Suspended
            | Self::Internal(_) => ErrorCode::INTERNAL_ERROR,
        }
    }

    /// Returns whether the call may succeed with other arguments. Connection failures are not retryable in this sense.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::InvalidParams(_))
    }

    /// Returns how to repair invalid arguments, if known.
    pub fn repair(&self) -> Option<&Repair> {
        match self {
            Self::InvalidParams(invalid) => invalid.repair.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
