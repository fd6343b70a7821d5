//! The tracing span of a call.

use switchboard_session::CallError;
use switchboard_session::link::LinkError;

use crate::error::HostError;
use crate::registry::{CallTarget, CatalogTool};
use crate::transport::Transport;

/// Creates the span of a call, by the OpenTelemetry conventions for MCP, without arguments and results.
pub(crate) fn call_span(listed: &CatalogTool) -> tracing::Span {
    let transport = match &listed.target {
        CallTarget::Local(_) => None,
        CallTarget::Server(slot) => match slot.spec.transport {
            Transport::Stdio(_) => Some("pipe"),
            Transport::Http(_) | Transport::Proxy { .. } => Some("tcp"),
            Transport::InProcess(_) | Transport::Registered { .. } => Some("inproc"),
            Transport::Custom(_) | Transport::Invalid(_) => None,
        },
    };
    tracing::info_span!(
        "mcp.call",
        otel.name = %listed.span,
        otel.kind = "client",
        mcp.method.name = "tools/call",
        mcp.server.name = %listed.server,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = %listed.tool.name,
        network.transport = transport,
        "error.type" = tracing::field::Empty,
    )
}

/// Returns the value of `error.type`.
pub(crate) fn error_type(error: &HostError) -> &'static str {
    match error {
        HostError::NotConnected { .. } | HostError::NotReady { .. } | HostError::Connect { .. } => {
            "not_ready"
        }
        HostError::NeedsAuth { .. } => "needs_auth",
        HostError::Busy { .. } | HostError::TooManySessions { .. } => "busy",
        HostError::UnknownTool { .. } | HostError::Ambiguous { .. } => "unknown_tool",
        HostError::Withheld { .. } | HostError::Refused { .. } => "refused",
        HostError::Arguments { .. } => "invalid_arguments",
        HostError::Output { .. } => "invalid_output",
        HostError::Cancelled { .. } => "cancelled",
        HostError::Call { error, .. } | HostError::Session { error, .. } => match &**error {
            CallError::Remote(_) => "rpc_error",
            CallError::TimedOut { .. } => "timeout",
            CallError::Link(LinkError::Exited(_)) => "server_exited",
            CallError::Link(LinkError::Challenged(_)) => "needs_auth",
            CallError::Link(_) | CallError::Closed => "connection",
            _ => "other",
        },
        HostError::BadName { .. } | HostError::TooManyServers { .. } | HostError::Closed => "other",
    }
}
