//! A server of ours, with tools that try it: slow, loud, large, broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard::Server;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, Implementation, Level, Raw, RpcError, ServerCapabilities, Tool,
};
use switchboard::protocol::{ElicitParams, FormSchema, ListCapability, ListToolsResult};
use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerLimits, ServerRequest};
use tokio::sync::Notify;

/// A result that only text can carry.
pub(crate) const EXACT: &str = "{\"content\":[],\"structuredContent\":{\n\"rows\":[1e999,123456789012345678901234567890,-0,\"\\ud800\"],\r\n\"a\":1,\"a\":2}}";

/// The handler, and what it lets a test see.
#[derive(Clone, Default)]
pub(crate) struct Honest {
    /// Calls of `wait` that are neither answered nor dropped.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Opens every `gate` that is waited at.
    pub(crate) gate: Arc<Notify>,
}

pub(crate) fn server() -> Arc<Server> {
    Honest::default().serve(ServerLimits::default())
}

impl Honest {
    pub(crate) fn serve(&self, limits: ServerLimits) -> Arc<Server> {
        let mut capabilities = ServerCapabilities::new();
        capabilities.tools = Some(ListCapability::new());
        capabilities.logging = Some(Default::default());
        Server::builder(Implementation::new("honest", "1"), capabilities).limits(limits).build(self.clone())
    }

    fn call(&self, params: &CallToolParams, cx: RequestContext) -> HandlerOutcome {
        let arguments: Value = params.arguments.as_ref().map(|raw| raw.decode().unwrap()).unwrap_or_default();
        let nonce = arguments["nonce"].as_str().unwrap_or_default().to_owned();
        match params.name.as_str() {
            "echo" => text(nonce),
            "bytes" => text("x".repeat(usize::try_from(arguments["count"].as_u64().unwrap()).unwrap())),
            "exact" => HandlerOutcome::Now(Ok(Raw::parse(EXACT).unwrap().into())),
            "stray" => {
                println!("stray {nonce}");
                std::process::Command::new("sh").args(["-c", "echo stray from below"]).status().unwrap();
                text(nonce)
            }
            "gate" => {
                let gate = Arc::clone(&self.gate);
                HandlerOutcome::later(async move {
                    gate.notified().await;
                    Ok(CallToolResult::new([Content::text(nonce)]).into())
                })
            }
            "wait" => {
                let waiting = Waiting::new(&self.waiting);
                HandlerOutcome::later(async move {
                    let _waiting = waiting;
                    std::future::pending().await
                })
            }
            "chatter" => HandlerOutcome::later(async move {
                for line in 0.. {
                    cx.log(Level::Error, None, json!({ "line": line, "more": "x".repeat(100) }));
                    tokio::task::yield_now().await;
                }
                unreachable!("it is cancelled first")
            }),
            "ask" => HandlerOutcome::later(async move {
                let schema = FormSchema::new();
                let asked = cx.elicit("q", ElicitParams::form("well?", schema)).await;
                let told = asked.map_or_else(|error| error.to_string(), |_| "answered".to_owned());
                Ok(CallToolResult::new([Content::text(told)]).into())
            }),
            "panic-now" => panic!("as asked"),
            "panic-later" => HandlerOutcome::later(async { panic!("as asked") }),
            "panic-blocking" => HandlerOutcome::blocking(|| panic!("as asked")),
            other => HandlerOutcome::error(RpcError::invalid_params(format!("no such tool: {other}"))),
        }
    }
}

impl Handler for Honest {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::CallTool(params) => self.call(&params, cx),
            ServerRequest::ListTools(_) => {
                let schema = json!({"type": "object"});
                HandlerOutcome::now(ListToolsResult::new(
                    ["echo", "wait"].map(|name| Tool::new(name, schema.clone())),
                ))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn text(text: String) -> HandlerOutcome {
    HandlerOutcome::now(CallToolResult::new([Content::text(text)]))
}

/// Counts itself while it lives.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
