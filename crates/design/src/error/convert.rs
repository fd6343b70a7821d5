//! Conversions between [`Error`] and other error types.
//!
//! [`Error`] does not implement [`std::error::Error`], so that every type that does can be converted to it with `?`.
//! Known error types keep their meaning; all others become [`Error::Internal`].

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
                write!(f, "`{method}` is not mapped to MCP: call it through a client `with_fallback`")
            }
            Self::Denied { uri } => write!(f, "Resource not allowed: {uri}"),
            Self::Unauthorized { scopes } => write!(f, "needs the scopes {}", scopes.join(", ")),
            Self::Rpc(error) => error.fmt(f),
            Self::Transport(_) => f.write_str("the connection failed"),
            Self::Timeout => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Malformed(_) => f.write_str("the response cannot be decoded"),
            Self::MissingCapability(capability) => write!(f, "the client lacks the capability {capability}"),
            Self::Suspended => f.write_str("waiting for the user"),
            Self::Internal(_) => f.write_str("internal error"),
        }
    }
}

impl Error {
    /// Returns the message for the peer, which may be a model: without hints for developers and without the source. Use
    /// [`Display`](fmt::Display) for logs.
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

    /// Returns the source of the error.
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

    /// Returns the source if it is of type `E`, such as an author's error that was converted with `?`.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.source()?.downcast_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        // Known errors keep their meaning. `Option::take` moves the value out of `dyn Any`.
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
        if let Some(StdErrorAdapter(inner)) =
            any.downcast_mut::<Option<StdErrorAdapter>>().and_then(Option::take)
        {
            return inner;
        }
        match slot {
            Some(error) => Self::Internal(Box::new(error)),
            None => Self::Internal("error already converted".into()),
        }
    }
}

/// An [`Error`] as a [`std::error::Error`].
#[derive(Debug)]
pub(super) struct StdErrorAdapter(pub(super) Error);

impl fmt::Display for StdErrorAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for StdErrorAdapter {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0 {
            Error::Transport(source) | Error::Internal(source) => Some(&**source),
            Error::Malformed(source) => Some(source),
            // The message of the others is that of their source.
            _ => None,
        }
    }
}

impl From<Error> for Source {
    fn from(error: Error) -> Self {
        Box::new(StdErrorAdapter(error))
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::new(StdErrorAdapter(error))
    }
}

/// An author's error enum that is transmitted: the typed client receives the same variant.
///
/// Derived with `#[derive(ServiceError)]`.
///
/// ```
/// use switchboard::service::{Error, ServiceError};
///
/// #[derive(Debug, ServiceError)]
/// enum ShopError {
///     #[tool_error("closed")]
///     #[message("The shop is closed for {0} hours.")]
///     Closed(u32),
///     #[other]
///     Other(Error),
/// }
///
/// let error = ShopError::Closed(3).into_error();
/// assert_eq!(error.to_string(), "The shop is closed for 3 hours.");
/// assert!(matches!(ShopError::from_error(error), ShopError::Closed(3))); // on the client side
/// ```
pub trait ServiceError: Sized + Send + 'static {
    /// Converts to the error that is encoded as the response.
    fn into_error(self) -> Error;

    /// Converts from a decoded error. One variant holds any other [`Error`], so every error has a representation.
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
