//! An upstream server with the state of whoever it serves: a secret word, and a counter. Calls name nobody: what a process
//! answers comes from its own state alone.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, ElicitParams, FormSchema, Implementation, ListCapability,
    ListToolsResult, Raw, RpcError, ServerCapabilities, Tool,
};
use switchboard::server::{Handler, HandlerOutcome, Reply, RequestContext, ServerRequest};
use switchboard::{Server, json};

use crate::ledger_server::revisions;

#[derive(Default)]
struct Memory {
    word: Option<String>,
    counter: u64,
}

#[derive(Default)]
struct Stateful {
    memory: Arc<Mutex<Memory>>,
}

/// Serves on stdin and stdout.
pub(crate) fn play() {
    let server = build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { switchboard::serve_stdio(&server).await }).unwrap();
}

/// Builds a server with an empty state.
pub(crate) fn build() -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("stateful", "1.0.0"), offers);
    server.revisions(revisions()).build(Stateful::default())
}

impl Handler for Stateful {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let tool = |name| Tool::new(name, json!({ "type": "object" }));
                HandlerOutcome::now(ListToolsResult::new(["enter", "count", "ask"].map(tool)))
            }
            ServerRequest::CallTool(call) => {
                let memory = Arc::clone(&self.memory);
                HandlerOutcome::later(async move { call_tool(&memory, &call, &cx).await })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

async fn call_tool(memory: &Mutex<Memory>, call: &CallToolParams, cx: &RequestContext) -> Reply {
    let arguments = call.arguments.clone().unwrap_or_else(Raw::empty_object);
    let arguments: serde_json::Value = serde_json::from_str(arguments.as_str()).unwrap_or_default();
    let mut answer = None;
    match call.name.as_str() {
        "enter" => {
            let mut memory = memory.lock();
            memory.word.get_or_insert_with(|| arguments["word"].as_str().unwrap_or_default().to_owned());
        }
        "ask" => {
            let question =
                ElicitParams::form(format!("Word for {}?", arguments["number"]), FormSchema::new());
            let content = cx.elicit("word", question).await?.content.unwrap_or_default();
            answer = content.get("word").and_then(|word| word.decode::<String>().ok());
        }
        _ => {}
    }
    let mut memory = memory.lock();
    memory.counter += 1;
    let state = serde_json::json!({
        "pid": std::process::id(),
        "word": memory.word,
        "counter": memory.counter,
        "number": arguments["number"],
        "answer": answer,
    });
    Ok(CallToolResult::new([Content::text(state.to_string())]).into())
}
