//! Errors of a host: one variant for each remedy of the caller.

use std::sync::Arc;

use switchboard_session::CallError;
use switchboard_session::link::{Challenge, LinkError};

use crate::registry::WithheldReason;
use crate::session_scope::SessionLimit;
use crate::slot::Slot;
use crate::status::{ConnectionError, Status};

/// An error of a host.
///
/// ```
/// use switchboard::host::HostError;
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let error = host.call("add", json!({ "a": "one" })).await.unwrap_err();
/// assert!(matches!(error, HostError::Arguments { .. })); // nothing was sent
///
/// let error = host.disconnect("files").await.unwrap_err();
/// assert!(matches!(error, HostError::NotConnected { known, .. } if known == ["sums"]));
/// # demo::done() });
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The host has no server of this name.
    #[error("server not connected: {server:?} ({})", known_text(.known))]
    NotConnected {
        /// The requested name.
        server: String,
        /// The names of the servers of the host.
        known: Vec<String>,
    },
    /// The name is not valid for a server.
    #[error("a server cannot be named {server:?}")]
    BadName {
        /// The name.
        server: String,
    },
    /// The limit of servers is reached.
    #[error("a host has at most {max} servers")]
    TooManyServers {
        /// The limit.
        max: usize,
    },
    /// The server did not connect.
    #[error("{server:?} did not connect: {failure}")]
    Connect {
        /// The server.
        server: Arc<str>,
        /// The reason.
        failure: Box<ConnectionError>,
    },
    /// The server requires a login.
    #[error("{server:?} needs a login: {challenge}")]
    NeedsAuth {
        /// The server.
        server: Arc<str>,
        /// The challenge of the server, with what has to happen next.
        challenge: Box<Challenge>,
    },
    /// The server cannot be used in its current status.
    #[error("{server:?} is not ready: {status}")]
    NotReady {
        /// The server.
        server: Arc<str>,
        /// The status.
        status: Box<Status>,
    },
    /// The call queue of the server is full. Nothing was sent.
    #[error("{server:?} has too many calls in progress")]
    Busy {
        /// The server.
        server: Arc<str>,
    },
    /// There are too many keyed sessions. Nothing was sent.
    #[error("no further session with {server:?}: {limit}")]
    TooManySessions {
        /// The server.
        server: Arc<str>,
        /// The limit.
        limit: SessionLimit,
    },
    /// No server lists a tool of this name.
    #[error("there is no tool {tool:?}{}", similar_text(.similar))]
    UnknownTool {
        /// The requested name.
        tool: String,
        /// Similar names.
        similar: Vec<Arc<str>>,
    },
    /// Several servers offer a tool of this name. Nothing was sent.
    #[error("the tool {tool:?} is offered by several servers: {}", .servers.join(", "))]
    Ambiguous {
        /// The requested name.
        tool: String,
        /// The servers, in configured order.
        servers: Vec<Arc<str>>,
        /// The qualified name of the first.
        example: Arc<str>,
    },
    /// The tool is withheld.
    #[error("{tool:?} of {server:?} is withheld: {reason}")]
    Withheld {
        /// Its server.
        server: Arc<str>,
        /// The tool.
        tool: String,
        /// The reason.
        reason: Box<WithheldReason>,
    },
    /// The call was not permitted. Nothing was sent.
    #[error("the call of {tool:?} was not permitted: {reason}")]
    Refused {
        /// The tool.
        tool: Arc<str>,
        /// The reason and a remedy.
        reason: String,
    },
    /// The arguments do not match the schema of the tool. Nothing was sent.
    #[error("invalid arguments of {tool:?}: {problem}")]
    Arguments {
        /// The tool.
        tool: Arc<str>,
        /// The mismatches, with their paths.
        problem: String,
        /// How to correct the arguments, for their author.
        repair: String,
    },
    /// The server or the connection failed.
    #[error("{tool:?} of {server:?} failed: {error}")]
    Call {
        /// The server.
        server: Arc<str>,
        /// The tool.
        tool: String,
        /// The error.
        error: Box<CallError>,
        /// How to correct the arguments, if the server rejected them.
        repair: Option<String>,
    },
    /// A request other than a tool call failed.
    #[error("{server:?}: {error}")]
    Session {
        /// The server.
        server: Arc<str>,
        /// The error.
        error: Box<CallError>,
    },
    /// The tool ran, but its structured result does not match its output schema.
    #[error("the result of {tool:?} does not match its output schema: {problem}")]
    Output {
        /// The tool.
        tool: Arc<str>,
        /// The mismatches, with their paths.
        problem: String,
    },
    /// The run of the call was cancelled.
    #[error("the call of {tool:?} was cancelled")]
    Cancelled {
        /// The tool.
        tool: String,
        /// Whether the call had been sent.
        sent: bool,
    },
    /// The host was closed.
    #[error("the host is closed")]
    Closed,
}

impl HostError {
    /// Returns whether the tool may have run although there is no result.
    pub fn outcome_unknown(&self) -> bool {
        match self {
            Self::Call { error, .. } => error.outcome_unknown(),
            Self::Cancelled { sent, .. } => *sent,
            _ => false,
        }
    }

    /// Returns what the caller can do about the error.
    pub fn next_step(&self) -> String {
        let plain = match self {
            Self::NotConnected { .. } => "connect the server, or use one of those named",
            Self::BadName { .. } => "choose another name",
            Self::TooManyServers { .. } => "disconnect a server first",
            Self::Connect { failure, .. } => failure.next_step(),
            Self::NeedsAuth { challenge, .. } => return challenge.requirement.next_step(),
            Self::NotReady { status, .. } => return status.next_step(),
            Self::Busy { .. } => "wait until calls have finished, then retry",
            Self::TooManySessions { .. } => {
                "wait until a session was unused for its idle timeout, then retry"
            }
            Self::UnknownTool { .. } => "look the tool up in the catalog; names are exact",
            Self::Ambiguous { example, .. } => {
                return format!("call it by its qualified name, such as {example}, or name the server");
            }
            Self::Withheld { .. } => "use another tool, or ask the user to change the rule",
            Self::Refused { .. } => "ask the user, or do it another way",
            Self::Arguments { repair, .. } | Self::Call { repair: Some(repair), .. } => {
                return repair.clone();
            }
            Self::Call { error, .. } if error.outcome_unknown() => {
                "the tool may have run: find out before calling it again"
            }
            Self::Call { error, .. } if error.is_retryable() => "nothing was carried out: call it again",
            Self::Call { error, .. } if error.remote().is_some() => {
                "read what the server says and change the call"
            }
            Self::Call { .. } | Self::Session { .. } => "look at the server's status",
            Self::Output { .. } => "the tool ran: do not rely on the shape of its result",
            Self::Cancelled { sent: true, .. } => "the tool may have run: find out before calling it again",
            Self::Cancelled { sent: false, .. } => "nothing was sent",
            Self::Closed => "open another host",
        };
        plain.to_owned()
    }
}

/// Returns the error of a server that is needed but in this status.
pub(crate) fn not_ready(server: &Arc<str>, status: Status) -> HostError {
    match status {
        Status::NeedsAuth(challenge) => {
            HostError::NeedsAuth { server: Arc::clone(server), challenge: Box::new(challenge) }
        }
        status => HostError::NotReady { server: Arc::clone(server), status: Box::new(status) },
    }
}

/// Returns the error of a request that failed because the login is missing or no longer valid.
pub(crate) fn needs_auth(slot: &Slot, error: &CallError) -> Option<HostError> {
    let CallError::Link(LinkError::Challenged(challenge)) = error else { return None };
    (challenge.status == 401).then(|| HostError::NeedsAuth {
        server: Arc::clone(&slot.name),
        challenge: Box::new(slot.spec.explain_challenge(Challenge::clone(challenge))),
    })
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() { "there are none".to_owned() } else { format!("there are: {}", known.join(", ")) }
}

fn similar_text(similar: &[Arc<str>]) -> String {
    if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(", ")) }
}
