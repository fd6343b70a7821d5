//! The error of a request from a server to its client.

use std::error::Error;
use std::fmt;

use switchboard_protocol::RpcError;

/// Why a request to the client got no answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare this capability.
    Undeclared(&'static str),
    /// The negotiated revision has no such request.
    Unavailable,
    /// The client answered with an error, e.g. because the user refused.
    Refused(RpcError),
    /// Only tool calls, resource reads and prompts may ask the client.
    NotHere,
    /// The request or its response is not valid.
    Invalid(String),
    /// The handler was suspended; the client retries the request with the answer.
    Suspended,
    /// The client took too long.
    TimedOut,
    /// The connection is gone.
    Gone,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared(what) => write!(f, "the client cannot be asked: it did not declare {what}"),
            Self::Unavailable => f.write_str("the client's protocol revision has no such question"),
            Self::Refused(error) => write!(f, "the client refused: {error}"),
            Self::NotHere => f.write_str("only tool calls, resource reads and prompts may ask"),
            Self::Invalid(why) => f.write_str(why),
            Self::Suspended => f.write_str("the request was suspended until its answer comes"),
            Self::TimedOut => f.write_str("the client took too long to answer"),
            Self::Gone => f.write_str("the connection to the client is gone"),
        }
    }
}

impl Error for AskError {}

impl From<AskError> for RpcError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Refused(refusal) => refusal,
            other => RpcError::internal(other.to_string()),
        }
    }
}
