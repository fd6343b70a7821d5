//! The spans of a gateway, as an exporter would see them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::gateway::{Gateway, GatewayOptions, TraceParent};
use switchboard::host::{TraceContext, TraceHeaders};
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, GetPromptResult, Implementation, ListCapability,
    ListPromptsResult, ListToolsResult, Prompt, RpcError, ServerCapabilities, Tool,
};
use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
use switchboard::{InProcess, Server, json};
use switchboard_testkit::{record_with, trial_leaving_tasks, trials};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::raw_client::RawClient;

trials! {
    trial_leaving_tasks:
        spans_have_the_names_and_attributes_of_the_conventions,
        the_trace_goes_from_the_client_over_both_spans_to_the_server,
}

/// A span that was created.
#[derive(Clone, Debug, Default)]
struct SeenSpan {
    parent: Option<u64>,
    fields: BTreeMap<String, String>,
}

/// The name, the kind and attributes of a span.
type ExpectedSpan<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// Collects all spans.
#[derive(Clone, Default)]
struct Spans {
    seen: Arc<Mutex<Vec<SeenSpan>>>,
    entered: Arc<Mutex<Vec<u64>>>,
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let contextual = self.entered.lock().last().copied().filter(|_| attributes.is_contextual());
        let mut span =
            SeenSpan { parent: attributes.parent().map(Id::into_u64).or(contextual), ..SeenSpan::default() };
        attributes.record(&mut Fields(&mut span.fields));
        let mut seen = self.seen.lock();
        seen.push(span);
        Id::from_u64(seen.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.seen.lock()[index(id)].fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        self.entered.lock().push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let mut entered = self.entered.lock();
        let at = entered.iter().rposition(|entered| *entered == id.into_u64()).unwrap();
        entered.remove(at);
    }
}

fn index(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

impl Spans {
    /// Returns the span with this name.
    fn named(&self, name: &str, kind: &str) -> (u64, SeenSpan) {
        let is_it = |span: &SeenSpan| span.fields["otel.name"] == name && span.fields["otel.kind"] == kind;
        let seen = self.seen.lock();
        let at = seen.iter().position(is_it).unwrap_or_else(|| panic!("{kind} {name}: {seen:#?}"));
        (at as u64 + 1, seen[at].clone())
    }
}

/// Derives the headers of the current span, as an exporter does.
impl TraceContext for Spans {
    fn current(&self) -> Option<TraceHeaders> {
        let id = *self.entered.lock().last()?;
        Some(TraceHeaders {
            parent: format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{id:016x}-01"),
            state: None,
        })
    }
}

/// The parents that were set.
#[derive(Clone, Debug, Default)]
struct Parents(Arc<Mutex<Vec<(u64, TraceHeaders)>>>);

impl TraceParent for Parents {
    fn set_parent(&self, span: &tracing::Span, parent: &TraceHeaders) {
        self.0.lock().push((span.id().unwrap().into_u64(), parent.clone()));
    }
}

/// A server that tells what trace context it received.
struct Traced;

impl Handler for Traced {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        let text = |call: &CallToolParams, key: &str| {
            let value = call.meta.as_ref().and_then(|meta| meta.get(key)?.decode::<String>().ok());
            value.unwrap_or_else(|| "none".to_owned())
        };
        match request {
            ServerRequest::ListTools(_) => {
                let tools =
                    ["trace", "fail", "refuse"].map(|name| Tool::new(name, json!({ "type": "object" })));
                HandlerOutcome::now(ListToolsResult::new(tools))
            }
            ServerRequest::ListPrompts(_) => {
                HandlerOutcome::now(ListPromptsResult::new([Prompt::new("greet")]))
            }
            ServerRequest::GetPrompt(_) => HandlerOutcome::now(GetPromptResult::new([])),
            ServerRequest::CallTool(call) => match call.name.as_str() {
                "trace" => {
                    let told = format!("{} {}", text(&call, "traceparent"), text(&call, "tracestate"));
                    HandlerOutcome::now(CallToolResult::new([Content::text(told)]))
                }
                "fail" => HandlerOutcome::now(CallToolResult::error("no")),
                _ => HandlerOutcome::error(RpcError::invalid_params("refused")),
            },
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

/// Opens a gateway whose spans are collected; the subscriber is that of this thread, which has the whole runtime.
async fn open(spans: &Spans, parents: &Parents) -> (Gateway, RawClient) {
    let offers =
        ServerCapabilities::new().with_tools(ListCapability::new()).with_prompts(ListCapability::new());
    let server = Server::builder(Implementation::new("traced", "1"), offers).build(Traced);
    let host = Gateway::host_builder().with_trace_context(Arc::new(spans.clone())).build();
    host.connect("up", InProcess::new(&server)).await.unwrap();
    let options = GatewayOptions::default().with_trace_parent(Arc::new(parents.clone()));
    let gateway = Gateway::new(host, options);
    let client = RawClient::connect(gateway.server(), Some("ada")).await;
    (gateway, client)
}

async fn spans_have_the_names_and_attributes_of_the_conventions() {
    let (spans, parents) = (Spans::default(), Parents::default());
    let guard = record_with(spans.clone());
    let (gateway, client) = open(&spans, &parents).await;
    client.request("tools/list", "").await.unwrap();
    client.request("tools/call", r#""name":"up__trace","arguments":{"a":"s3cret"}"#).await.unwrap();
    client.request("tools/call", r#""name":"up__fail""#).await.unwrap();
    client.request("tools/call", r#""name":"up__refuse""#).await.unwrap_err();
    client.request("prompts/get", r#""name":"up__greet""#).await.unwrap();
    client.request("resources/read", r#""uri":"note://me:pw@x/y?token=s3cret""#).await.unwrap_err();
    gateway.host().close().await;
    drop(guard);

    let expected: [ExpectedSpan<'_>; 8] = [
        (
            "tools/list",
            "server",
            &[("mcp.method.name", "tools/list"), ("mcp.protocol.version", "2026-07-28")],
        ),
        (
            "tools/call up__trace",
            "server",
            &[
                ("mcp.method.name", "tools/call"),
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "up__trace"),
                ("jsonrpc.request.id", "2"),
            ],
        ),
        (
            "tools/call trace",
            "client",
            &[
                ("mcp.method.name", "tools/call"),
                ("gen_ai.tool.name", "trace"),
                ("mcp.protocol.version", "2026-07-28"),
            ],
        ),
        ("tools/call up__fail", "server", &[("error.type", "tool_error"), ("otel.status_code", "ERROR")]),
        ("tools/call fail", "client", &[("error.type", "tool_error"), ("otel.status_code", "ERROR")]),
        (
            "tools/call up__refuse",
            "server",
            &[
                ("error.type", "-32602"),
                ("rpc.response.status_code", "-32602"),
                ("otel.status_code", "ERROR"),
            ],
        ),
        ("tools/call refuse", "client", &[("error.type", "-32602"), ("rpc.response.status_code", "-32602")]),
        (
            "prompts/get greet",
            "client",
            &[("gen_ai.prompt.name", "greet"), ("mcp.method.name", "prompts/get")],
        ),
    ];
    for (name, kind, attributes) in expected {
        let (_, span) = spans.named(name, kind);
        for (key, value) in attributes {
            assert_eq!(span.fields.get(*key).map(String::as_str), Some(*value), "{kind} {name}: {key}");
        }
    }
    let (_, ok) = spans.named("tools/call up__trace", "server");
    assert!(!ok.fields.contains_key("error.type") && !ok.fields.contains_key("rpc.response.status_code"));
    let (_, read) = spans.named("resources/read", "server");
    assert_eq!(read.fields["mcp.resource.uri"], "note://x/y");
    let all = format!("{:?}", spans.seen.lock());
    assert!(!all.contains("s3cret"), "neither arguments nor queries: {all}");
}

async fn the_trace_goes_from_the_client_over_both_spans_to_the_server() {
    let (spans, parents) = (Spans::default(), Parents::default());
    let guard = record_with(spans.clone());
    let (gateway, client) = open(&spans, &parents).await;
    // The state of the client's hop is not that of the gateway's.
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "traceparent": parent,
        "tracestate": "client=1",
    });
    let told = client.call("up__trace", json!({ "_meta": meta })).await.unwrap();
    gateway.host().close().await;
    drop(guard);

    let (server_id, server) = spans.named("tools/call up__trace", "server");
    let (client_id, upstream) = spans.named("tools/call trace", "client");
    assert_eq!(server.parent, None, "its parent is remote");
    assert_eq!(upstream.parent, Some(server_id));
    let set = parents.0.lock().clone();
    let (span, headers) = set.iter().find(|(id, _)| *id == server_id).unwrap();
    assert_eq!((*span, headers.parent.as_str()), (server_id, parent));
    assert_eq!(headers.state.as_deref(), Some("client=1"));
    let expected = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{client_id:016x}-01 none");
    assert!(told.as_str().contains(&expected), "{} has {expected}", told.as_str());
}
