//! What comes in at the door of the HTTP server and what goes out, without a socket: callers, versions, accepted types.

mod accept;
mod callers;
mod opening;

use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderMap, Request};
use http_body::Body;
use serde_json::{Value, json};
use switchboard_protocol::{
    CallToolResult, Content, ElicitParams, FormField, FormSchema, Implementation, ListCapability, RpcError,
    ServerCapabilities, TextField,
};
use switchboard_session::server::{
    Handler, HandlerOutcome, RequestContext, Server, ServerBuilder, ServerRequest,
};
use switchboard_transport::http::server::{HttpServerOptions, HttpService, RequestHead};

/// What a layer puts into requests.
#[derive(Clone)]
struct Tenant(&'static str);

struct Fixture;

impl Handler for Fixture {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let call = match request {
            ServerRequest::CallTool(call) => call,
            ServerRequest::Other { .. } => return HandlerOutcome::later(std::future::pending()),
            other => return HandlerOutcome::error(RpcError::method_not_found(other.method())),
        };
        HandlerOutcome::later(async move {
            match call.name.as_str() {
                "ask" => {
                    let form = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
                    cx.elicit("name", ElicitParams::form("Who are you?", form)).await?;
                }
                "progress" => cx.progress(1.0, None, None),
                _ => {}
            }
            let head = cx.extension::<RequestHead>();
            let header = |name| head.and_then(|head| head.headers.get(name)?.to_str().ok());
            let said = json!({
                "caller": cx.caller().map(|caller| &caller.subject),
                "colour": header("x-colour"),
                "token": header("authorization"),
                "tenant": cx.extension::<Tenant>().map(|tenant| tenant.0),
                "among all": head.and_then(|head| head.extensions.get::<Tenant>()).map(|tenant| tenant.0),
            });
            Ok(CallToolResult::new([Content::text(said.to_string())]).into())
        })
    }

    fn is_long_lived(&self, method: &str) -> bool {
        method == "events/stream"
    }
}

fn builder() -> ServerBuilder {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("door", "1.0.0"), offers)
}

fn service(options: HttpServerOptions) -> HttpService {
    HttpService::new(&builder().build(Fixture), options)
}

/// An answer: its status, its headers, and what is in the body so far.
struct Reply {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The message in it, whether it is one or an event of a stream.
    fn message(&self) -> Value {
        let last = self.text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        serde_json::from_str(last.unwrap_or(&self.text)).unwrap_or_else(|_| panic!("{:?}", self.text))
    }

    /// What the tool said.
    fn said(&self) -> Value {
        let message = self.message();
        let text = message["result"]["content"][0]["text"].as_str();
        serde_json::from_str(text.unwrap_or_else(|| panic!("{message}"))).unwrap()
    }
}

/// Knocks with these headers.
async fn knock(service: &HttpService, headers: &[(&str, &str)], body: &Value) -> Reply {
    let mut request = Request::post("http://localhost/mcp").extension(Tenant("math"));
    request = request.header("content-type", "application/json");
    if !headers.iter().any(|(name, _)| *name == "accept") {
        request = request.header("accept", "application/json, text/event-stream");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let reply = service.handle(request.body(body.to_string()).unwrap()).await;
    let (parts, mut body) = reply.into_parts();
    let mut bytes = Vec::new();
    // A stream that goes on is left after a while.
    let whole = async {
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
    };
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), whole).await;
    let text = String::from_utf8(bytes).unwrap();
    Reply { status: parts.status.as_u16(), headers: parts.headers, text }
}

/// The headers of a call that stands alone.
fn alone<'a>(name: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let said = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
    said.into_iter().chain(more.iter().copied()).collect()
}

/// A call of a tool that stands alone.
fn call(name: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "progressToken": 1,
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "_meta": meta } })
}

/// A call of a tool in a session.
fn plain_call(name: &str) -> Value {
    let params = json!({ "name": name, "_meta": { "progressToken": 1 } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

fn initialize(version: &str) -> Value {
    let params = json!({
        "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// Opens a session, and gives its id.
async fn open(service: &HttpService, headers: &[(&str, &str)]) -> String {
    let reply = knock(service, headers, &initialize("2025-11-25")).await;
    reply.header("mcp-session-id").unwrap_or_else(|| panic!("{}", reply.text)).to_owned()
}

fn server_with(builder: ServerBuilder) -> (Arc<Server>, HttpService) {
    let server = builder.build(Fixture);
    let service = HttpService::new(&server, HttpServerOptions::default());
    (server, service)
}
