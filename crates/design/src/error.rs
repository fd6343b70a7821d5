//! What can go wrong in a method of a service, the same on both sides of the wire.
//!
//! Says whose fault it is: the caller's arguments, the service's own business, the protocol, the link, or us. How each is
//! told to the other side is [`ErrorRules`]; how it is read back is [`Error::from_rpc`] and [`Error::from_result`].

mod answer;
mod any;
mod received;
mod standard;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_protocol::{DecodeError, ErrorCode, RpcError};

pub use answer::{Answer, ArgumentErrors, Asked, Details, ErrorPolicy, ErrorRules};
pub use any::ServiceError;

use crate::check::ItemKind;
use crate::repair::{Issue, Repair};

/// The key in `_meta` of a failed call that has the name and the data of the service's own error.
pub const ERROR_KEY: &str = "dev.switchboard/error";
/// The key in `_meta` of a failed call whose arguments do not fit: it has the issues.
pub const INVALID_PARAMS_KEY: &str = "dev.switchboard/invalidParams";
/// The key in the data of an error that has the kind and the name of what does not exist.
pub(crate) const UNKNOWN_KEY: &str = "dev.switchboard/unknown";

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What a method of a service answers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a method of a service.
///
/// Any other error becomes one by `?`: an internal one, whose text the caller does not see.
///
/// ```
/// use switchboard::design::Error;
///
/// let error = Error::not_found("No such city");
/// assert!(!error.is_retryable());
/// assert!(Error::invalid_params("Missing required field: city").is_retryable());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The arguments do not fit: the caller's fault, who may try again with others.
    InvalidParams(InvalidParams),
    /// The service's own error, for the model to read.
    Tool(ToolError),
    /// There is no tool, resource or prompt of that name.
    Unknown {
        /// What was asked for.
        kind: ItemKind,
        /// Its name, or the URI of a resource.
        name: String,
        /// The code it was received with.
        rpc: Option<ErrorCode>,
    },
    /// The peer has no such method.
    MethodNotFound {
        /// The method.
        method: String,
    },
    /// The method has no role in MCP, and there is no other way to call it.
    Unmapped {
        /// The method of the service.
        method: String,
    },
    /// The policy does not let this resource be read.
    Denied {
        /// The resource.
        uri: String,
    },
    /// The caller lacks scopes.
    Unauthorised {
        /// What the caller must be allowed.
        scopes: Vec<String>,
    },
    /// Anything else the peer said.
    Rpc(RpcError),
    /// The link to the peer failed.
    Transport(Source),
    /// No answer in time.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// The peer's answer cannot be read.
    Malformed(DecodeError),
    /// The client cannot do what the method needs of it.
    MissingCapability(String),
    /// Waiting for an answer of the user: the call is run again with it. Not a failure; pass it on.
    Suspended,
    /// Our fault. The text is for logs; the caller sees it only when [`Details::Shown`].
    Internal(Source),
}

/// Arguments that do not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct InvalidParams {
    /// What is wrong, in one sentence.
    pub message: String,
    /// What is wrong, one by one.
    pub issues: Vec<Issue>,
    /// How to repair it, when that is known.
    pub repair: Option<Box<Repair>>,
}

/// A service's own error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ToolError {
    /// Which of the service's errors it is, like `not_found`. Survives the wire.
    #[serde(rename = "name")]
    pub code: String,
    /// For the model to read.
    #[serde(skip)]
    pub message: String,
    /// More, in a shape the code defines. Survives the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The code it was received with, when it was told as a JSON-RPC error.
    #[serde(skip)]
    pub rpc: Option<ErrorCode>,
}

/// The name of a service's own error that is reported as invalid parameters.
pub(crate) const INVALID_PARAMS: &str = "invalid_params";
/// The name of a service's own error that is reported as "method not found".
pub(crate) const METHOD_NOT_FOUND: &str = "method_not_found";
/// The name of a service's own error that says that there is no such thing: see [`Error::not_found`].
pub(crate) const NOT_FOUND: &str = "not_found";

impl ToolError {
    /// An error without data.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: None, rpc: None }
    }

    /// The code it has as a JSON-RPC error: the one it was received with, or the one of its name.
    pub(crate) fn rpc_code(&self) -> ErrorCode {
        self.rpc.unwrap_or(match self.code.as_str() {
            INVALID_PARAMS => ErrorCode::INVALID_PARAMS,
            METHOD_NOT_FOUND => ErrorCode::METHOD_NOT_FOUND,
            _ => ErrorCode::INTERNAL_ERROR,
        })
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }
}

impl InvalidParams {
    /// Arguments that do not fit, in one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), issues: Vec::new(), repair: None }
    }

    /// Arguments that do not fit, one by one; the sentence names them all.
    pub fn from_issues(issues: Vec<Issue>) -> Self {
        let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
        Self { message: format!("Invalid arguments: {}", lines.join("; ")), issues, repair: None }
    }

    /// The same, with how to repair it.
    #[must_use]
    pub fn with_repair(mut self, repair: Repair) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }
}

impl Error {
    /// The service's own error, for the model to read.
    pub fn tool(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Tool(ToolError::new(code, message))
    }

    /// Arguments that do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::InvalidParams(InvalidParams::new(message))
    }

    /// There is no such resource: for a method whose URI has variables, when nothing is where they lead.
    ///
    /// Clients are told with the code that the specification has for it, which differs between revisions.
    pub fn no_resource(uri: impl Into<String>) -> Self {
        Self::unknown(ItemKind::Resource, uri)
    }

    /// There is nothing of this name.
    pub fn unknown(kind: ItemKind, name: impl Into<String>) -> Self {
        Self::Unknown { kind, name: name.into(), rpc: None }
    }

    /// What the method was asked for does not exist. The same as [`Self::tool`] with the code `not_found`, which means
    /// the right thing in each place: the resource that was read does not exist (the specification's code for that, with
    /// its URI), the prompt has nothing for these arguments (-32602), the tool failed (a result the model reads).
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::tool(NOT_FOUND, message)
    }

    /// Our fault.
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::Internal(source.into())
    }

    /// The code it has as a JSON-RPC error: the one it was received with, else the specification's.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { rpc: Some(code), .. } => *code,
            Self::InvalidParams(_) | Self::Unknown { .. } | Self::Denied { .. } => ErrorCode::INVALID_PARAMS,
            Self::MethodNotFound { .. } | Self::Unmapped { .. } => ErrorCode::METHOD_NOT_FOUND,
            Self::Unauthorised { .. } => ErrorCode::INVALID_REQUEST,
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

    /// Whether the same call with other arguments may succeed. A broken link is never a matter of arguments.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::InvalidParams(_))
    }

    /// How to repair the arguments, when it is known.
    pub fn repair(&self) -> Option<&Repair> {
        match self {
            Self::InvalidParams(invalid) => invalid.repair.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
