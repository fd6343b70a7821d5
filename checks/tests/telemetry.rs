//! OpenTelemetry spans of a call: named by server and tool, with the attributes of the conventions, and without arguments
//! or results.

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use switchboard_host::{Host, SpanNames};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities,
    Tool,
};
use switchboard_session::server::{
    Handler, HandlerOutcome, InProcess, RequestContext, Server, ServerRequest,
};
use tracing_subscriber::layer::SubscriberExt;

struct Files;

impl Handler for Files {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let tool = |name: &str| Tool::new(name, json!({"type": "object"}));
                HandlerOutcome::now(ListToolsResult::new([tool("read_file"), tool("lost_file")]))
            }
            ServerRequest::CallTool(call) if call.name == "read_file" => {
                HandlerOutcome::now(CallToolResult::new([Content::text("what the file says")]))
            }
            other => HandlerOutcome::error(RpcError::invalid_params(format!("no {}", other.method()))),
        }
    }
}

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    span.attributes.iter().find(|pair| pair.key.as_str() == key).map(|pair| pair.value.to_string())
}

#[tokio::test(flavor = "current_thread")]
async fn a_call_is_exported_by_the_name_of_its_server_and_tool() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    // Alone in its program, so that no other test meets the spans first.
    let _here = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));

    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("files", "1.0.0"), offers).build(Files);
    let host = Host::builder().with_span_names(SpanNames::ServerAndTool).build();
    host.connect("filesystem", InProcess::new(&server)).await.unwrap();
    host.call_tool("filesystem", "read_file", json!({"path": "/a/secret/place"})).await.unwrap();
    host.call_tool("filesystem", "lost_file", json!({})).await.unwrap_err();
    let metrics = host.metrics();
    assert_eq!((metrics.calls, metrics.failures), (2, 1));
    host.close().await;
    provider.force_flush().unwrap();

    let spans = exporter.get_finished_spans().unwrap();
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let read = named("mcp.filesystem.read_file");
    assert_eq!(read.span_kind, SpanKind::Client);
    assert_eq!(attribute(read, "mcp.method.name").as_deref(), Some("tools/call"));
    assert_eq!(attribute(read, "gen_ai.tool.name").as_deref(), Some("read_file"));
    let lost = named("mcp.filesystem.lost_file");
    assert_eq!(attribute(lost, "error.type").as_deref(), Some("-32602"));
    assert_eq!(read.status, Status::Unset);
    let everything = format!("{spans:?}");
    assert!(!everything.contains("secret") && !everything.contains("what the file says"), "{everything}");
}
