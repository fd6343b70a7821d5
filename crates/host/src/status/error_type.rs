//! The class of an error, for spans and metrics (`error.type` of the OpenTelemetry conventions).

use std::borrow::Cow;

use switchboard_session::CallError;
use switchboard_session::link::LinkError;

/// Returns the code of a JSON-RPC error, or else a word.
pub(crate) fn call_error_type(error: &CallError) -> Cow<'static, str> {
    let word = match error {
        CallError::Remote(remote) => return remote.code.0.to_string().into(),
        CallError::TimedOut { .. } => "timeout",
        CallError::Link(LinkError::Exited(_)) => "server_exited",
        CallError::Link(LinkError::Challenged(_)) => "needs_auth",
        CallError::Link(_) | CallError::Closed => "connection",
        _ => "other",
    };
    word.into()
}
