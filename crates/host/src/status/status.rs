//! How a server is doing: a rich enum for programs, and five words for everybody else.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use switchboard_session::SessionInfo;
use switchboard_session::link::Challenge;
use tokio::time::Instant;

use crate::status::Failure;

/// How a server is doing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// Switched off: its tools are gone. It may be running all the same.
    Disabled,
    /// Not started: nobody has approved its configuration.
    AwaitingApproval,
    /// Not started yet: it starts with the first call.
    Asleep,
    /// Being started.
    Starting {
        /// Since when.
        since: Instant,
        /// The how-manieth time in a row; the first is 1.
        attempt: u32,
    },
    /// Open.
    Ready(Arc<SessionInfo>),
    /// Open, and something is wrong: its lists may be old, or it did not answer just now.
    Degraded {
        /// What was agreed on.
        terms: Arc<SessionInfo>,
        /// What is wrong.
        failure: Failure,
    },
    /// Lost or not reached; it will be tried again.
    BackingOff {
        /// When.
        until: Instant,
        /// How many times it failed in a row.
        attempt: u32,
        /// The last failure.
        failure: Failure,
    },
    /// It wants a login.
    NeedsAuth(Challenge),
    /// Given up until somebody reconnects it.
    Failed(Failure),
    /// Disconnected.
    Stopped,
}

/// The five kinds of status that reports show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusKind {
    /// Open.
    Connected,
    /// Given up.
    Failed,
    /// It wants a login.
    NeedsAuth,
    /// On its way: it waits for approval, for its first call, for its start, or for its next attempt.
    Pending,
    /// Switched off.
    Disabled,
}

impl Status {
    /// The word for it.
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

    /// What was agreed on, while the session is open.
    pub fn terms(&self) -> Option<&Arc<SessionInfo>> {
        match self {
            Self::Ready(terms) | Self::Degraded { terms, .. } => Some(terms),
            _ => None,
        }
    }

    /// What went wrong, if anything did.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Degraded { failure, .. } | Self::BackingOff { failure, .. } | Self::Failed(failure) => {
                Some(failure)
            }
            _ => None,
        }
    }

    /// What to do about it, for whoever wanted to use the server.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Disabled => "enable the server first",
            Self::AwaitingApproval => "approve the server's configuration first",
            Self::Asleep | Self::Starting { .. } => "wait until it has started",
            Self::Ready(_) => "nothing is wrong",
            Self::Degraded { .. } => "try again in a moment",
            Self::BackingOff { .. } => "wait for its next attempt, or reconnect it now",
            Self::NeedsAuth(_) => "log in to the server, then reconnect it",
            Self::Failed(failure) => failure.next_step(),
            Self::Stopped => "connect it first",
        }
    }

    /// Whether the last attempt has come to an end, well or not.
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
    /// The word.
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
