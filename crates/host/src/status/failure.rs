//! Why a server could not be reached, or was lost.

use switchboard_http::AuthorizeError;
use switchboard_session::CallError;
use switchboard_session::link::{Challenge, LinkError, StartErrorKind};
use switchboard_transport::http::client::EndpointError;

use crate::config::Fault;

/// Why a server could not be reached, or was lost. Cheap to clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The session did not open, or it ended.
    #[error(transparent)]
    Session(CallError),
    /// The server was started and did not answer in time.
    #[error("{error}; its last words on stderr: {}", .stderr.trim_end())]
    Silent {
        /// What was waited for.
        error: CallError,
        /// The last it wrote to stderr.
        stderr: String,
    },
    /// The address or a header is not valid.
    #[error("its address or a header cannot be used: {0}")]
    Endpoint(EndpointError),
    /// The configuration cannot be used: a variable that is not set, a field that is not valid.
    #[error("its configuration cannot be used: {0}")]
    Config(Fault),
    /// No server of this name was registered in this program.
    #[error(
        "no server named {name:?} is registered in this program (registered: {})",
        names(.known)
    )]
    NotRegistered {
        /// The name that was asked for.
        name: String,
        /// Those that are.
        known: Vec<String>,
    },
    /// Nobody gives tokens for connectors.
    #[error("the connector {id:?} needs a token, and this program has no source of tokens")]
    NoTokenSource {
        /// The connector.
        id: String,
    },
    /// The token could not be had.
    #[error("no token for the connector: {0}")]
    Token(AuthorizeError),
}

impl Failure {
    /// The login that would help.
    pub fn challenge(&self) -> Option<Challenge> {
        match self {
            Self::Session(CallError::Link(error)) => error.challenge().cloned(),
            Self::Token(AuthorizeError::NeedsLogin) => Some(Challenge::new(401)),
            _ => None,
        }
    }

    /// The last the server wrote to stderr, where it is known.
    pub fn stderr_tail(&self) -> Option<&str> {
        match self {
            Self::Silent { stderr, .. } => Some(stderr),
            Self::Session(CallError::Link(error)) => {
                error.exit().map(|exit| exit.stderr_tail.as_str()).filter(|tail| !tail.is_empty())
            }
            _ => None,
        }
    }

    /// Whether trying the same again cannot help: something has to be mended first.
    pub(crate) fn is_for_good(&self) -> bool {
        match self {
            Self::Session(CallError::Link(LinkError::NotStarted(why))) => matches!(
                why.kind,
                StartErrorKind::NotFound
                    | StartErrorKind::NotExecutable
                    | StartErrorKind::Directory
                    | StartErrorKind::BadDirectory
            ),
            Self::Session(
                CallError::NoCommonRevision { .. } | CallError::Link(LinkError::Misconfigured { .. }),
            ) => true,
            Self::Session(_) | Self::Silent { .. } | Self::Token(_) => false,
            Self::Endpoint(_) | Self::Config(_) | Self::NotRegistered { .. } | Self::NoTokenSource { .. } => {
                true
            }
        }
    }

    /// How the server process ended, as far as two ends can be compared.
    pub(crate) fn exit(&self) -> Option<(Option<i32>, Option<i32>)> {
        match self {
            Self::Session(CallError::Link(error)) => error.exit().map(|exit| (exit.code, exit.signal)),
            _ => None,
        }
    }

    /// How long the server itself says to wait.
    pub(crate) fn asks_to_wait(&self) -> Option<std::time::Duration> {
        match self {
            Self::Session(CallError::Link(LinkError::RateLimited { retry_after })) => *retry_after,
            _ => None,
        }
    }

    /// What to do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Session(CallError::Link(LinkError::NotStarted(_))) => {
                "mend its command or path, then reconnect"
            }
            Self::Session(CallError::Link(LinkError::Exited(_))) => {
                "look at what it wrote to stderr, then reconnect"
            }
            Self::Session(CallError::Link(LinkError::Challenged(_))) | Self::Token(_) => {
                "log in, then reconnect"
            }
            Self::Session(CallError::TimedOut { .. }) | Self::Silent { .. } => {
                "see whether it hangs, or give it more time to start"
            }
            Self::Session(CallError::NoCommonRevision { .. }) => "update the server or this program",
            Self::Session(CallError::Link(LinkError::Misconfigured { .. }))
            | Self::Endpoint(_)
            | Self::Config(_) => "correct its configuration, then reconnect",
            Self::Session(_) => "reconnect when the server can be reached",
            Self::NotRegistered { .. } => "register the server before it is connected",
            Self::NoTokenSource { .. } => "give the host a token source",
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Session(error)
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        Self::Session(error.into())
    }
}

fn names(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
