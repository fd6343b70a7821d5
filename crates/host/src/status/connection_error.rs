//! Errors of the connection to a server.

use switchboard_http::AuthorizeError;
use switchboard_session::CallError;
use switchboard_session::link::{Challenge, LinkError, StartErrorKind};
use switchboard_transport::http::client::{EndpointError, login_requirement};

use crate::config::ConfigError;

/// Why a connection could not be opened or was lost. Cheap to clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The session did not open, or it ended.
    #[error(transparent)]
    Session(CallError),
    /// The server was started but did not respond in time.
    #[error("{error}; the end of its stderr: {}", .stderr.trim_end())]
    StartupTimedOut {
        /// The timeout.
        error: CallError,
        /// The end of its stderr output.
        stderr: String,
    },
    /// The address or a header is invalid.
    #[error("invalid address or header: {0}")]
    Endpoint(EndpointError),
    /// The configuration is invalid, for example because a variable is not set.
    #[error("invalid configuration: {0}")]
    Config(ConfigError),
    /// No server of this name is registered in this process.
    #[error(
        "no server named {name:?} is registered in this program (registered: {})",
        names(.known)
    )]
    NotRegistered {
        /// The requested name.
        name: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// The host has neither a token source nor credentials for the connector.
    #[error(
        "the connector {id:?} needs a token, but the host has neither a token source nor credentials for it"
    )]
    NoTokenSource {
        /// The connector.
        id: String,
    },
    /// The token source failed.
    #[error("no token for the connector: {0}")]
    Token(AuthorizeError),
}

impl ConnectionError {
    /// Returns the login challenge, if a login is required.
    pub fn challenge(&self) -> Option<Challenge> {
        match self {
            Self::Session(CallError::Link(error)) => error.challenge().cloned(),
            Self::Token(error) => {
                login_requirement(error).map(|requirement| Challenge::new(401).with_requirement(requirement))
            }
            _ => None,
        }
    }

    /// Returns whether the credentials are missing or no longer valid, which ends the connection. A scope that is missing
    /// for one request does not.
    pub(crate) fn is_login_lost(&self) -> bool {
        self.challenge().is_some_and(|challenge| challenge.status == 401)
    }

    /// Returns the end of the stderr output, if known.
    pub fn stderr_tail(&self) -> Option<&str> {
        match self {
            Self::StartupTimedOut { stderr, .. } => Some(stderr),
            Self::Session(CallError::Link(error)) => {
                error.exit().map(|exit| exit.stderr_tail.as_str()).filter(|tail| !tail.is_empty())
            }
            _ => None,
        }
    }

    /// Returns whether a retry cannot succeed until something is corrected.
    pub(crate) fn is_permanent(&self) -> bool {
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
            Self::Session(_) | Self::StartupTimedOut { .. } | Self::Token(_) => false,
            Self::Endpoint(_) | Self::Config(_) | Self::NotRegistered { .. } | Self::NoTokenSource { .. } => {
                true
            }
        }
    }

    /// Returns exit code and signal of the server process, if it exited.
    pub(crate) fn exit(&self) -> Option<(Option<i32>, Option<i32>)> {
        match self {
            Self::Session(CallError::Link(error)) => error.exit().map(|exit| (exit.code, exit.signal)),
            _ => None,
        }
    }

    /// Returns the pause that the server requested.
    pub(crate) fn retry_after_hint(&self) -> Option<std::time::Duration> {
        match self {
            Self::Session(CallError::Link(LinkError::RateLimited { retry_after })) => *retry_after,
            _ => None,
        }
    }

    /// Returns what to do about the error.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Session(CallError::Link(LinkError::NotStarted(_))) => {
                "correct its command or path, then reconnect"
            }
            Self::Session(CallError::Link(LinkError::Exited(_))) => "read its stderr output, then reconnect",
            Self::Session(CallError::Link(LinkError::Challenged(_))) | Self::Token(_) => {
                "log in, then reconnect"
            }
            Self::Session(CallError::TimedOut { .. }) | Self::StartupTimedOut { .. } => {
                "check whether it hangs, or increase its startup timeout"
            }
            Self::Session(CallError::NoCommonRevision { .. }) => "update the server or this program",
            Self::Session(CallError::Link(LinkError::Misconfigured { .. }))
            | Self::Endpoint(_)
            | Self::Config(_) => "correct its configuration, then reconnect",
            Self::Session(_) => "reconnect when the server is reachable",
            Self::NotRegistered { .. } => "register the server before it is connected",
            Self::NoTokenSource { .. } => "give the host a token source, or stored logins",
        }
    }
}

impl From<CallError> for ConnectionError {
    fn from(error: CallError) -> Self {
        Self::Session(error)
    }
}

impl From<LinkError> for ConnectionError {
    fn from(error: LinkError) -> Self {
        Self::Session(error.into())
    }
}

fn names(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
