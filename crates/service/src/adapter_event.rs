//! What a logger is given: a request that arrived, or how it was answered.

use std::time::Duration;

use switchboard_protocol::{ErrorCode, Implementation, Raw};
use switchboard_session::server::Caller;

/// One thing that happened to a request.
///
/// Names and URIs are in it; arguments, results and the texts of errors are not, unless payloads are logged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdapterEvent {
    /// What happened.
    pub kind: EventKind,
    /// The method of the request.
    pub method: String,
    /// The tool or prompt.
    pub name: Option<String>,
    /// The resource, without its query.
    pub uri: Option<String>,
    /// On whose behalf the request is made, where that was found out.
    pub caller: Option<Caller>,
    /// Who the client says it is. For display only.
    pub client: Option<Implementation>,
    /// How long it took; nothing when it has just come.
    pub duration: Option<Duration>,
    /// The code of the error it was answered with.
    pub code: Option<ErrorCode>,
    /// What it carried, when payloads are logged.
    pub payload: Option<Raw>,
}

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It came.
    Request,
    /// It was answered.
    Response,
    /// It was answered with an error, or the result of its tool says that it failed.
    Error,
}
