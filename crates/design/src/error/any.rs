//! How any error becomes an [`Error`] by `?`, and an [`Error`] any other.
//!
//! [`Error`] does not implement [`std::error::Error`] on purpose: so that everything that does can become one, as in a
//! method whose author just writes `?`. What is known keeps its meaning; what is not is our own fault.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;

use switchboard_protocol::RpcError;

use super::{Error, InvalidParams, Source, ToolError};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidParams(invalid) => invalid.fmt(f),
            Self::Tool(own) => own.fmt(f),
            Self::Unknown { kind, name, .. } => write!(f, "Unknown {kind}: {name}"),
            Self::MethodNotFound { method } => write!(f, "Method not found: {method}"),
            Self::Unmapped { method } => {
                write!(f, "`{method}` has no role in MCP: call it through a client `with_fallback`")
            }
            Self::Denied { uri } => write!(f, "Resource not allowed: {uri}"),
            Self::Unauthorised { scopes } => write!(f, "needs the scopes {}", scopes.join(", ")),
            Self::Rpc(error) => error.fmt(f),
            Self::Transport(_) => f.write_str("the connection failed"),
            Self::Timeout => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Malformed(_) => f.write_str("the answer cannot be read"),
            Self::MissingCapability(capability) => write!(f, "the client lacks the capability {capability}"),
            Self::Suspended => f.write_str("waiting for the user"),
            Self::Internal(_) => f.write_str("internal error"),
        }
    }
}

impl Error {
    /// What the other side reads of it, which may be a model: no word for developers, and nothing of what lies beneath.
    /// The text for logs is how the error is displayed.
    pub fn public_message(&self) -> String {
        match self {
            Self::Unmapped { method } => format!("Method not found: {method}"),
            Self::MissingCapability(capability) => {
                format!("This needs the capability {capability}, which the client does not have.")
            }
            Self::Transport(_) | Self::Malformed(_) | Self::Internal(_) => "Internal error".to_owned(),
            other => other.to_string(),
        }
    }

    /// What lies beneath it.
    pub fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Transport(source) | Self::Internal(source) => Some(&**source),
            Self::Malformed(source) => Some(source),
            Self::InvalidParams(invalid) => Some(invalid),
            Self::Tool(own) => Some(own),
            Self::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// What lies beneath it, if it is this: an author's own error that became one by `?`.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.source()?.downcast_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        // Known errors keep their meaning. A value in an `Option` can be taken out of `dyn Any` without a copy.
        let mut slot = Some(error);
        let any: &mut dyn Any = &mut slot;
        if let Some(own) = any.downcast_mut::<Option<ToolError>>().and_then(Option::take) {
            return Self::Tool(own);
        }
        if let Some(invalid) = any.downcast_mut::<Option<InvalidParams>>().and_then(Option::take) {
            return Self::InvalidParams(invalid);
        }
        if let Some(rpc) = any.downcast_mut::<Option<RpcError>>().and_then(Option::take) {
            return Self::Rpc(rpc);
        }
        if let Some(Whole(whole)) = any.downcast_mut::<Option<Whole>>().and_then(Option::take) {
            return whole;
        }
        match slot {
            Some(error) => Self::Internal(Box::new(error)),
            None => Self::Internal("an error that was taken".into()),
        }
    }
}

/// An [`Error`] where an [`std::error::Error`] is asked for.
#[derive(Debug)]
pub(super) struct Whole(pub(super) Error);

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Whole {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0 {
            Error::Transport(source) | Error::Internal(source) => Some(&**source),
            Error::Malformed(source) => Some(source),
            // The others say it all themselves.
            _ => None,
        }
    }
}

impl From<Error> for Source {
    fn from(error: Error) -> Self {
        Box::new(Whole(error))
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::new(Whole(error))
    }
}

/// An author's own enum of errors, which survives the wire: the typed client gets the same variant back.
///
/// Derived with `#[derive(ServiceError)]`.
pub trait ServiceError: Sized + Send + 'static {
    /// What is told to the other side.
    fn into_error(self) -> Error;

    /// What the other side told. Every error must have a place: one variant holds an [`Error`].
    fn from_error(error: Error) -> Self;
}

impl ServiceError for Error {
    fn into_error(self) -> Error {
        self
    }

    fn from_error(error: Error) -> Self {
        error
    }
}
