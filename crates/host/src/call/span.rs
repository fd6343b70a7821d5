//! The tracing spans of calls and requests, by the OpenTelemetry conventions for MCP. Without arguments and results.

use std::borrow::Cow;
use std::sync::Arc;

use switchboard_protocol::{Meta, Raw};
use switchboard_session::client::CallOptions;

use crate::error::HostError;
use crate::policy::{SpanNames, TraceContext};
use crate::registry::{CallTarget, CatalogTool};
use crate::slot::{ServerAttributes, Slot};
use crate::status::call_error_type;

/// Creates the span of a tool call.
pub(crate) fn call_span(listed: &CatalogTool, names: SpanNames) -> tracing::Span {
    let span = tracing::info_span!(
        "mcp.call",
        otel.name = %listed.span,
        otel.kind = "client",
        otel.status_code = tracing::field::Empty,
        mcp.method.name = "tools/call",
        mcp.server.name = %listed.server,
        mcp.protocol.version = tracing::field::Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = %listed.tool.name,
        network.transport = tracing::field::Empty,
        network.protocol.name = tracing::field::Empty,
        server.address = tracing::field::Empty,
        server.port = tracing::field::Empty,
        rpc.response.status_code = tracing::field::Empty,
        "error.type" = tracing::field::Empty,
    );
    if names == SpanNames::ServerAndTool && !span.is_disabled() {
        span.record("otel.name", format!("mcp.{}.{}", listed.server, listed.tool.name));
    }
    if let CallTarget::Server(slot) = &listed.target {
        record_server(&span, slot);
    }
    span
}

/// Creates the span of a request other than a tool call.
pub(crate) fn request_span(slot: &Slot, method: &str, params: &Raw) -> tracing::Span {
    let span = tracing::info_span!(
        "mcp.request",
        otel.name = tracing::field::Empty,
        otel.kind = "client",
        otel.status_code = tracing::field::Empty,
        mcp.method.name = method,
        mcp.server.name = %slot.name,
        mcp.protocol.version = tracing::field::Empty,
        gen_ai.prompt.name = tracing::field::Empty,
        network.transport = tracing::field::Empty,
        network.protocol.name = tracing::field::Empty,
        server.address = tracing::field::Empty,
        server.port = tracing::field::Empty,
        rpc.response.status_code = tracing::field::Empty,
        "error.type" = tracing::field::Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let name =
        params.fields().find(|(name, _)| *name == "name").and_then(|(_, name)| name.decode::<String>().ok());
    match name.filter(|_| method == "prompts/get") {
        Some(prompt) => {
            span.record("otel.name", format!("{method} {prompt}"));
            span.record("gen_ai.prompt.name", prompt);
        }
        None => _ = span.record("otel.name", method),
    }
    record_server(&span, slot);
    span
}

fn record_server(span: &tracing::Span, slot: &Slot) {
    if span.is_disabled() {
        return;
    }
    let ServerAttributes { transport, protocol, address, port, revision } = ServerAttributes::of(slot);
    span.record("network.transport", transport);
    span.record("network.protocol.name", protocol);
    span.record("server.address", address);
    span.record("server.port", port);
    span.record("mcp.protocol.version", revision);
}

/// Records how a call failed.
pub(crate) fn record_error(span: &tracing::Span, error: &HostError) {
    if span.is_disabled() {
        return;
    }
    if let HostError::Call { error, .. } | HostError::Session { error, .. } = error
        && let Some(remote) = error.remote()
    {
        span.record("rpc.response.status_code", remote.code.0.to_string());
    }
    span.record("error.type", &*error_type(error));
    span.record("otel.status_code", "ERROR");
}

/// Adds the trace context of the current span. That of another hop, which the caller may have passed, is replaced.
pub(crate) fn add_trace(trace: Option<&Arc<dyn TraceContext>>, options: &mut CallOptions) {
    let Some(traced) = trace.and_then(|trace| trace.current()) else { return };
    let meta = options.meta.get_or_insert_default();
    meta.remove(Meta::TRACESTATE);
    let entries = [(Meta::TRACEPARENT, Some(traced.parent)), (Meta::TRACESTATE, traced.state)];
    for (key, value) in entries {
        if let Some(value) = value.and_then(|value| Raw::encode(&value).ok()) {
            meta.insert(key, value);
        }
    }
}

/// Returns the value of `error.type`: the code of a JSON-RPC error, or else a word.
fn error_type(error: &HostError) -> Cow<'static, str> {
    let word = match error {
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
        HostError::Call { error, .. } | HostError::Session { error, .. } => return call_error_type(error),
        HostError::BadName { .. } | HostError::TooManyServers { .. } | HostError::Closed => "other",
    };
    word.into()
}
