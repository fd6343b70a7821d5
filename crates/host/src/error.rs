//! Why a host could not do what it was asked: one variant for each thing the caller can do about it.

use std::sync::Arc;

use switchboard_session::CallError;
use switchboard_session::link::Challenge;

use crate::registry::Withheld;
use crate::status::{Failure, Status};

/// What a host could not do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// There is no server of this name.
    #[error("server not connected: {server:?} ({})", known_text(.known))]
    NotConnected {
        /// The name that was asked for.
        server: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// A server cannot have this name.
    #[error("a server cannot be named {server:?}")]
    BadName {
        /// The name.
        server: String,
    },
    /// There are as many servers as a host takes.
    #[error("a host takes no more than {most} servers")]
    TooManyServers {
        /// How many.
        most: usize,
    },
    /// The server did not connect.
    #[error("{server:?} did not connect: {failure}")]
    Connect {
        /// The server.
        server: Arc<str>,
        /// Why.
        failure: Box<Failure>,
    },
    /// The server wants a login.
    #[error("{server:?} needs a login: {challenge}")]
    NeedsAuth {
        /// The server.
        server: Arc<str>,
        /// What it asks for.
        challenge: Box<Challenge>,
    },
    /// The server is there and cannot be used now.
    #[error("{server:?} is not ready: {status}")]
    NotReady {
        /// The server.
        server: Arc<str>,
        /// How it is.
        status: Box<Status>,
    },
    /// As many calls run on the server and wait for it as it is given. Nothing was sent.
    #[error("{server:?} has too many calls under way")]
    Busy {
        /// The server.
        server: Arc<str>,
    },
    /// No tool of this name is listed.
    #[error("there is no tool {tool:?}{}", near_text(.near))]
    UnknownTool {
        /// The name that was asked for.
        tool: String,
        /// Names that look like it.
        near: Vec<Arc<str>>,
    },
    /// Several servers offer a tool of this name. Nothing was sent.
    #[error("the tool {tool:?} is offered by several servers: {}", .servers.join(", "))]
    Ambiguous {
        /// The name that was asked for.
        tool: String,
        /// The servers, in configured order.
        servers: Vec<Arc<str>>,
        /// The qualified name of the first.
        example: Arc<str>,
    },
    /// The tool is there and may not be used.
    #[error("{tool:?} of {server:?} is withheld: {reason}")]
    Withheld {
        /// Its server.
        server: Arc<str>,
        /// The tool.
        tool: String,
        /// Why.
        reason: Box<Withheld>,
    },
    /// The call was not permitted. Nothing was sent.
    #[error("the call of {tool:?} was not permitted: {reason}")]
    Refused {
        /// The tool.
        tool: Arc<str>,
        /// Why, and what would help.
        reason: String,
    },
    /// The arguments do not fit the tool's schema. Nothing was sent.
    #[error("the arguments of {tool:?} do not fit: {problem}")]
    Arguments {
        /// The tool.
        tool: Arc<str>,
        /// What does not fit, and where.
        problem: String,
        /// How to mend it, for whoever wrote the arguments.
        repair: String,
    },
    /// The server or the connection failed.
    #[error("{tool:?} of {server:?} failed: {error}")]
    Call {
        /// The server.
        server: Arc<str>,
        /// The tool.
        tool: String,
        /// What happened.
        error: Box<CallError>,
        /// How to mend the arguments, where they were refused.
        repair: Option<String>,
    },
    /// Anything but a call failed.
    #[error("{server:?}: {error}")]
    Session {
        /// The server.
        server: Arc<str>,
        /// What happened.
        error: Box<CallError>,
    },
    /// The tool ran, and its structured result is not what its schema says.
    #[error("the result of {tool:?} is not what its schema says: {problem}")]
    Output {
        /// The tool.
        tool: Arc<str>,
        /// What does not fit, and where.
        problem: String,
    },
    /// The run that the call belongs to was cancelled.
    #[error("the call of {tool:?} was cancelled")]
    Cancelled {
        /// The tool.
        tool: String,
        /// Whether it had been sent by then.
        sent: bool,
    },
    /// The host was closed.
    #[error("the host is closed")]
    Closed,
}

impl HostError {
    /// Whether the tool may have run although there is no result.
    pub fn outcome_unknown(&self) -> bool {
        match self {
            Self::Call { error, .. } => error.outcome_unknown(),
            Self::Cancelled { sent, .. } => *sent,
            _ => false,
        }
    }

    /// What the caller can do about it.
    pub fn next_step(&self) -> String {
        let plain = match self {
            Self::NotConnected { .. } => "connect the server, or use one of those named",
            Self::BadName { .. } => "choose another name",
            Self::TooManyServers { .. } => "disconnect a server first",
            Self::Connect { failure, .. } => failure.next_step(),
            Self::NeedsAuth { .. } => "log in to the server, then reconnect it",
            Self::NotReady { status, .. } => status.next_step(),
            Self::Busy { .. } => "wait until calls have come back, then call it again",
            Self::UnknownTool { .. } => "look the tool up in the catalogue; names are exact",
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

/// The error of a server that is in this status and was needed now.
pub(crate) fn not_ready(server: &Arc<str>, status: Status) -> HostError {
    match status {
        Status::NeedsAuth(challenge) => {
            HostError::NeedsAuth { server: Arc::clone(server), challenge: Box::new(challenge) }
        }
        status => HostError::NotReady { server: Arc::clone(server), status: Box::new(status) },
    }
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() { "there are none".to_owned() } else { format!("there are: {}", known.join(", ")) }
}

fn near_text(near: &[Arc<str>]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}
