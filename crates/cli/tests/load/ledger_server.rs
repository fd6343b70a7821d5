//! An upstream server that writes the id of every call to its ledger before it answers, and crashes on request:
//! before it executes a call, after that, and in the middle of its answer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use switchboard::client::RevisionPolicy;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError,
    ServerCapabilities, Tool,
};
use switchboard::server::{Handler, HandlerOutcome, Reply, RequestContext, ServerRequest};
use switchboard::{Server, json};

/// Names the ledger.
pub(crate) const LEDGER: &str = "SWITCHBOARD_LOAD_LEDGER";
/// `legacy` or `modern`.
pub(crate) const ERA: &str = "SWITCHBOARD_LOAD_ERA";

struct Ledger {
    path: PathBuf,
}

/// Serves on stdin and stdout.
pub(crate) fn play() {
    let path = PathBuf::from(std::env::var_os(LEDGER).unwrap());
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("ledger", "1.0.0"), offers)
        .revisions(revisions())
        .build(Ledger { path });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { switchboard::serve_stdio(&server).await }).unwrap();
}

/// Returns the revisions of the era that the environment names.
pub(crate) fn revisions() -> RevisionPolicy {
    match std::env::var(ERA).as_deref() {
        Ok("legacy") => RevisionPolicy::LegacyOnly,
        _ => RevisionPolicy::ModernOnly,
    }
}

impl Handler for Ledger {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new([Tool::new("record", json!({ "type": "object" }))]))
            }
            ServerRequest::CallTool(call) => {
                let path = self.path.clone();
                HandlerOutcome::later(async move { record(&path, &call) })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn record(path: &PathBuf, call: &CallToolParams) -> Reply {
    let arguments: std::collections::BTreeMap<String, String> =
        call.arguments.as_ref().and_then(|arguments| arguments.decode().ok()).unwrap_or_default();
    let (id, crash) = (arguments["id"].as_str(), arguments["crash"].as_str());
    if crash == "before" {
        std::process::abort();
    }
    // One write of a short line to a file opened for appending is atomic.
    let mut ledger = OpenOptions::new().create(true).append(true).open(path).unwrap();
    ledger.write_all(format!("{id}\n").as_bytes()).unwrap();
    match crash {
        "after" => std::process::abort(),
        "amid" => {
            let mut out = std::io::stdout();
            let _ = out.write_all(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te"#);
            let _ = out.flush();
            std::process::abort();
        }
        _ => Ok(CallToolResult::new([Content::text(format!("recorded {id}"))]).into()),
    }
}
