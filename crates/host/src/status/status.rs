//! The status of a server: a detailed enum for programs, and five kinds for reports.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use switchboard_session::SessionInfo;
use switchboard_session::link::Challenge;
use tokio::time::Instant;

use crate::status::ConnectionError;

/// The status of a server.
///
/// ```
/// use switchboard::host::{Status, StatusKind};
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// match host.state("sums")? {
///     Status::Ready(info) => assert!(info.capabilities.tools.is_some()),
///     other => println!("{}", other.next_step()),
/// }
/// assert_eq!(host.state("sums")?.kind(), StatusKind::Connected);
/// # demo::done() });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// Disabled: its tools are not listed. The connection may still be open.
    Disabled,
    /// Not started: its configuration was not approved.
    AwaitingApproval,
    /// Not started yet: the first call starts it.
    Asleep,
    /// Connecting.
    Starting {
        /// When the attempt started.
        since: Instant,
        /// The number of the attempt, starting at 1.
        attempt: u32,
    },
    /// Connected.
    Ready(Arc<SessionInfo>),
    /// Connected, with a problem: its tool list may be outdated, or a call failed.
    Degraded {
        /// The session.
        session_info: Arc<SessionInfo>,
        /// The problem.
        failure: ConnectionError,
    },
    /// Disconnected; the next attempt is scheduled.
    BackingOff {
        /// The time of the next attempt.
        until: Instant,
        /// The number of consecutive failures.
        attempt: u32,
        /// The last failure.
        failure: ConnectionError,
    },
    /// The server requires a login; the challenge says what has to happen next. Its tools stay listed for a while.
    NeedsAuth(Challenge),
    /// Failed; not retried until it is reconnected explicitly.
    Failed(ConnectionError),
    /// Disconnected.
    Stopped,
}

/// The kind of a status, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusKind {
    /// Connected.
    Connected,
    /// Failed; not retried.
    Failed,
    /// The server requires a login.
    NeedsAuth,
    /// Waiting for approval, for the first call, for the start or for the next attempt.
    Pending,
    /// Disabled or disconnected.
    Disabled,
}

impl Status {
    /// Returns the kind.
    pub fn kind(&self) -> StatusKind {
        match self {
            Self::Disabled | Self::Stopped => StatusKind::Disabled,
            Self::AwaitingApproval | Self::Asleep | Self::Starting { .. } | Self::BackingOff { .. } => {
                StatusKind::Pending
            }
            Self::Ready(_) | Self::Degraded { .. } => StatusKind::Connected,
            Self::NeedsAuth(_) => StatusKind::NeedsAuth,
            Self::Failed(_) => StatusKind::Failed,
        }
    }

    /// Returns the session info, while connected.
    pub fn session_info(&self) -> Option<&Arc<SessionInfo>> {
        match self {
            Self::Ready(session_info) | Self::Degraded { session_info, .. } => Some(session_info),
            _ => None,
        }
    }

    /// Returns the error, if there is one.
    pub fn failure(&self) -> Option<&ConnectionError> {
        match self {
            Self::Degraded { failure, .. } | Self::BackingOff { failure, .. } | Self::Failed(failure) => {
                Some(failure)
            }
            _ => None,
        }
    }

    /// Returns what to do in order to use the server.
    pub fn next_step(&self) -> String {
        let plain = match self {
            Self::Disabled => "enable the server first",
            Self::AwaitingApproval => "approve the server's configuration first",
            Self::Asleep | Self::Starting { .. } => "wait until it has started",
            Self::Ready(_) => "nothing is wrong",
            Self::Degraded { .. } => "try again in a moment",
            Self::BackingOff { .. } => "wait for its next attempt, or reconnect it now",
            Self::NeedsAuth(challenge) => return challenge.requirement.next_step(),
            Self::Failed(failure) => failure.next_step(),
            Self::Stopped => "connect it first",
        };
        plain.to_owned()
    }

    /// Returns whether no attempt is in progress.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting { .. })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("disabled"),
            Self::AwaitingApproval => f.write_str("waiting for approval"),
            Self::Asleep => f.write_str("not started yet"),
            Self::Starting { attempt: 1, .. } => f.write_str("starting"),
            Self::Starting { attempt, .. } => write!(f, "starting, attempt {attempt}"),
            Self::Ready(_) => f.write_str("connected"),
            Self::Degraded { failure, .. } => write!(f, "connected, but: {failure}"),
            Self::BackingOff { attempt, failure, .. } => {
                write!(f, "failed {attempt} in a row and waiting to try again: {failure}")
            }
            Self::NeedsAuth(challenge) => write!(f, "{challenge}"),
            Self::Failed(failure) => write!(f, "failed: {failure}"),
            Self::Stopped => f.write_str("disconnected"),
        }
    }
}

impl StatusKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::NeedsAuth => "needs-auth",
            Self::Pending => "pending",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for StatusKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
