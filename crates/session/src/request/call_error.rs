//! The error of a call: one variant for each thing that a caller can do about it.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use switchboard_protocol::{DecodeError, EncodeError, Revision, RpcError};

use crate::link::{LinkError, PeerHint};

/// The error of a call.
///
/// [`CallError::Remote`] is the error of the server; every other variant is local.
///
/// ```
/// use switchboard::protocol::ErrorCode;
/// use switchboard::{CallError, Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// match session.call_tool("unknown", json!({})).await {
///     Ok(result) => println!("{}", result.text()),
///     Err(CallError::Remote(error)) => assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND),
///     Err(error) if error.is_retryable() => println!("nothing was sent: {error}"),
///     Err(error) => println!("failed: {error}"),
/// }
/// # demo::done() });
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Remote(RpcError),
    /// The connection could not carry the call: not started, exited, lost, overloaded, too large, damaged, closed.
    Link(LinkError),
    /// The call timed out. It was cancelled on the server.
    TimedOut {
        /// Which timeout expired.
        kind: TimeoutKind,
        /// The duration of the timeout.
        after: Duration,
        /// A likely cause on the server's side.
        hint: Option<PeerHint>,
    },
    /// The call was cancelled by this side, other than by dropping it.
    Cancelled,
    /// The session is not open yet: call `initialize` first.
    NotInitialized,
    /// The session was closed.
    Closed,
    /// The server does not declare the capability. Nothing was sent.
    Unsupported {
        /// The capability that is missing.
        what: &'static str,
    },
    /// The response does not conform to the specification.
    Protocol {
        /// The method of the request.
        method: String,
        /// The decoding error, with its path.
        error: DecodeError,
    },
    /// The two sides share no protocol revision.
    NoCommonRevision {
        /// The revisions of this side.
        ours: Vec<Revision>,
        /// The revisions that the server named; empty when it named none.
        theirs: Vec<String>,
        /// The server's own error, when it refused with one.
        refusal: Option<Box<RpcError>>,
    },
    /// The server requested input that this side did not give.
    InputRefused(String),
    /// The server requested input too many times for one call.
    TooManyRounds {
        /// The limit in force.
        rounds: usize,
    },
    /// The parameters cannot be written as JSON. Nothing was sent.
    Parameters(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(error) => write!(f, "the server refused: {error}"),
            Self::Link(error) => fmt::Display::fmt(error, f),
            Self::TimedOut { kind, after, hint } => {
                write!(f, "no answer within {after:?} ({kind})")?;
                hint.map_or(Ok(()), |hint| write!(f, "; {hint}"))
            }
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::NotInitialized => f.write_str("the session is not initialized; call initialize() first"),
            Self::Closed => f.write_str("the session is closed"),
            Self::Unsupported { what } => write!(f, "the server does not offer {what}"),
            Self::Protocol { method, error } => {
                write!(f, "the server's answer to {method} is not valid: {error}")
            }
            Self::NoCommonRevision { ours, theirs, refusal } => {
                let (ours, theirs) = (dates(ours), version_list(theirs));
                write!(
                    f,
                    "no protocol revision in common: this side speaks {ours}, the server speaks {theirs}"
                )?;
                refusal.as_ref().map_or(Ok(()), |refusal| write!(f, "; the server refused: {refusal}"))
            }
            Self::InputRefused(why) => write!(f, "the server asked for input and did not get it: {why}"),
            Self::TooManyRounds { rounds } => {
                write!(f, "the server asked for input more than {rounds} times for one call")
            }
            Self::Parameters(why) => write!(f, "the parameters cannot be sent: {why}"),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Link(error) => error.source(),
            _ => None,
        }
    }
}

fn dates(revisions: &[Revision]) -> String {
    revisions.iter().map(|revision| revision.as_str()).collect::<Vec<_>>().join(", ")
}

fn version_list(theirs: &[String]) -> String {
    if theirs.is_empty() { "another (it did not say which)".to_owned() } else { theirs.join(", ") }
}

impl CallError {
    /// Returns whether the call can be retried safely: nothing was sent or carried out.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Link(LinkError::Overloaded { .. } | LinkError::Lost { sent: false, .. })
                | Self::NotInitialized
        )
    }

    /// Returns whether the server may have carried out the call although there is no result.
    pub fn outcome_unknown(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::Cancelled => true,
            Self::Link(error) => matches!(
                error,
                LinkError::Exited(_)
                    | LinkError::Lost { sent: true, .. }
                    | LinkError::TooLarge { .. }
                    | LinkError::Malformed(_)
                    | LinkError::Closed
                    // A 2xx or 5xx status: only a request that was rejected with 4xx was certainly not carried out.
                    | LinkError::Refused { status: 200..300 | 500.., .. }
            ),
            Self::Protocol { .. } | Self::Closed => true,
            _ => false,
        }
    }

    /// Returns the error object of the server, where it sent one.
    pub fn remote(&self) -> Option<&RpcError> {
        match self {
            Self::Remote(error) => Some(error),
            _ => None,
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn protocol(method: &str, error: DecodeError) -> Self {
        Self::Protocol { method: method.to_owned(), error }
    }
}

impl From<LinkError> for CallError {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Closed => Self::Closed,
            other => Self::Link(other),
        }
    }
}

impl From<EncodeError> for CallError {
    fn from(error: EncodeError) -> Self {
        Self::Parameters(error.to_string())
    }
}

/// Which timeout expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// From the start of the server to an open session.
    Startup,
    /// The time without progress of the call.
    Idle,
    /// The whole call, independent of progress.
    Total,
    /// All pages of a list.
    List,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Startup => "while starting",
            Self::Idle => "without a word on the call",
            Self::Total => "for the whole call",
            Self::List => "for the whole list",
        })
    }
}
