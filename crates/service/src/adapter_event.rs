//! Log events of the adapter: a request that arrived, or the response to one.

use std::time::Duration;

use switchboard_protocol::{ErrorCode, Implementation, Raw};
use switchboard_session::server::Caller;

/// A log event of one request.
///
/// Contains names and URIs. Arguments, results and error texts are included only when payloads are logged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AdapterEvent {
    /// Whether the request arrived, succeeded or failed.
    pub kind: EventKind,
    /// The protocol method of the request.
    pub method: String,
    /// The name of the tool or prompt.
    pub name: Option<String>,
    /// The resource URI without its query.
    pub uri: Option<String>,
    /// The authenticated caller, if there is one.
    pub caller: Option<Caller>,
    /// The name and version that the client claims. For display only.
    pub client: Option<Implementation>,
    /// The time from request to response; `None` for [`EventKind::Request`].
    pub duration: Option<Duration>,
    /// The error code of the response.
    pub code: Option<ErrorCode>,
    /// Parameters or result, when payloads are logged.
    pub payload: Option<Raw>,
}

/// The phase of a request that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The request arrived.
    Request,
    /// The request succeeded.
    Response,
    /// The request failed with a protocol error, or the tool result has `isError`.
    Error,
}
