//! The layer that creates the span of every request, by the OpenTelemetry conventions for MCP. Without arguments and results.

use std::fmt;
use std::sync::Arc;

use http::Version;
use switchboard_host::TraceHeaders;
use switchboard_protocol::{RequestId, RpcError, ServerResult};
use switchboard_session::server::{ConnectionId, HandlerOutcome, IncomingRequest, Layer, Next};
use switchboard_transport::http::server::{ClientAddress, RequestHead};
use tracing::{Instrument, Span};

use crate::access::reply_outcome;
use crate::audit::{AuditOutcome, strip_secrets};
use crate::trace_parent::TraceParent;

/// The maximum length of a name in a span.
const MAX_NAME: usize = 128;

/// Creates the span of every request. The span of the request to a server is its child.
pub(crate) struct SpanLayer {
    pub(crate) parent: Option<Arc<dyn TraceParent>>,
}

impl Layer for SpanLayer {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let span = request_span(&request);
        if span.is_disabled() {
            return next.call(request);
        }
        if let (Some(parent), Some(headers)) = (&self.parent, trace_headers(&request)) {
            parent.set_parent(&span, &headers);
        }
        match span.in_scope(|| next.call(request)) {
            HandlerOutcome::Later(future) => {
                let ended = span.clone();
                let answering = async move {
                    let reply = future.await;
                    record_reply(&ended, reply.as_ref());
                    reply
                };
                HandlerOutcome::later(answering.instrument(span))
            }
            outcome => outcome.inspect(move |reply| record_reply(&span, reply)),
        }
    }
}

fn request_span(request: &IncomingRequest) -> Span {
    let span = tracing::info_span!(
        "mcp.server",
        otel.name = tracing::field::Empty,
        otel.kind = "server",
        otel.status_code = tracing::field::Empty,
        mcp.method.name = request.method(),
        mcp.protocol.version = request.revision().map(|revision| revision.as_str()),
        mcp.session.id = request.session_key(),
        mcp.resource.uri = tracing::field::Empty,
        gen_ai.operation.name = tracing::field::Empty,
        gen_ai.tool.name = tracing::field::Empty,
        gen_ai.prompt.name = tracing::field::Empty,
        jsonrpc.request.id = %DisplayId(request.id()),
        network.transport = tracing::field::Empty,
        network.protocol.name = tracing::field::Empty,
        network.protocol.version = tracing::field::Empty,
        client.address = request.extension::<ClientAddress>().map(ToString::to_string),
        rpc.response.status_code = tracing::field::Empty,
        "error.type" = tracing::field::Empty,
    );
    if span.is_disabled() {
        return span;
    }
    if let Some(head) = request.extension::<RequestHead>() {
        span.record("network.transport", "tcp");
        span.record("network.protocol.name", "http");
        span.record("network.protocol.version", http_version(head.version));
    } else if request.extension::<ConnectionId>().is_some() {
        span.record("network.transport", "pipe");
    }
    let method = request.method();
    let text = |name: &str| request.param(name).and_then(|value| value.decode::<String>().ok());
    let target = match method {
        "tools/call" => {
            span.record("gen_ai.operation.name", "execute_tool");
            record_name(&span, "gen_ai.tool.name", text("name"))
        }
        "prompts/get" => record_name(&span, "gen_ai.prompt.name", text("name")),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            // Not part of the name: there are too many of them.
            record_name(&span, "mcp.resource.uri", text("uri").map(|uri| strip_secrets(&uri)));
            None
        }
        _ => None,
    };
    match target {
        Some(target) => span.record("otel.name", format!("{method} {target}")),
        None => span.record("otel.name", method),
    };
    span
}

fn http_version(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        Version::HTTP_10 => "1.0",
        _ => "1.1",
    }
}

/// Records a text that a client chose, and returns it; not a long one.
fn record_name(span: &Span, field: &str, name: Option<String>) -> Option<String> {
    let name = name.filter(|name| name.len() <= MAX_NAME && !name.contains(char::is_control))?;
    span.record(field, name.as_str());
    Some(name)
}

/// Returns the trace context of the client, if it is one.
fn trace_headers(request: &IncomingRequest) -> Option<TraceHeaders> {
    let parent = request.meta_text("traceparent").filter(|parent| is_trace_parent(parent))?;
    Some(TraceHeaders { parent, state: request.meta_text("tracestate").filter(|state| state.len() <= 512) })
}

/// Returns whether a text is a `traceparent`: `00-<32 hex>-<16 hex>-<2 hex>`.
fn is_trace_parent(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [2, 32, 16, 2] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn record_reply(span: &Span, reply: Result<&ServerResult, &RpcError>) {
    match reply {
        Err(error) => {
            let code = error.code.0.to_string();
            span.record("rpc.response.status_code", code.as_str());
            span.record("error.type", code);
        }
        Ok(_) if reply_outcome(reply) == AuditOutcome::Error => _ = span.record("error.type", "tool_error"),
        // The conventions leave the status of a success unset; a request without one was cancelled.
        Ok(_) => {
            span.record("otel.status_code", "UNSET");
            return;
        }
    }
    span.record("otel.status_code", "ERROR");
}

/// Writes the id of a request without quotes.
struct DisplayId<'a>(&'a RequestId);

impl fmt::Display for DisplayId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RequestId::Number(number) => number.fmt(f),
            RequestId::String(text) => text.chars().take(MAX_NAME).try_for_each(|c| write!(f, "{c}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trace_parent_is_one() {
        assert!(is_trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
        for text in ["", "00-0-0-00", "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", "a"] {
            assert!(!is_trace_parent(text), "{text}");
        }
    }
}
