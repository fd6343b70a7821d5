//! One host with a server of each kind: a child process, an HTTP endpoint, and one from JSON as other programs write it.
//!
//! ```sh
//! cargo run -p switchboard-mcp --example many_servers
//! ```
//!
//! So that it runs anywhere, this program is also the servers: started with `SERVE=1` it serves on stdin and stdout.

use std::sync::Arc;

use switchboard::protocol::{CallToolResult, Content, Implementation, RpcError, ServerCapabilities, Tool};
use switchboard::protocol::{ListCapability, ListToolsResult};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, RequestContext, ServerRequest,
};
use switchboard::{Host, Http, Server, ServerConfig, Stdio, json};

struct Adds;

impl Handler for Adds {
    fn handle(&self, request: ServerRequest, _cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new([Tool::new("add", json!({ "type": "object" }))]))
            }
            ServerRequest::CallTool(_) => HandlerOutcome::now(CallToolResult::new([Content::text("42")])),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn server() -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("adds", "1.0.0"), offers).build(Adds)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    switchboard::run_supervisor_if_requested();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if std::env::var_os("SERVE").is_some() {
        return Ok(runtime.block_on(switchboard::serve_stdio(&server()))?);
    }
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?;
    let listener = HttpListener::bind("127.0.0.1:0".parse()?).await?;
    let url = format!("http://{}/mcp", listener.address()?);
    tokio::spawn(listener.serve(HttpService::new(&server(), HttpServerOptions::default())));
    let json = json!({ "command": program, "env": { "SERVE": "1", "HOME": "${HOME:-/}" } }).to_string();

    let host = Host::new();
    host.connect("child", Stdio::new(&program).env("SERVE", "1")).await?;
    host.connect("web", Http::new(url).header("X-Api-Key", "not checked here")).await?;
    host.connect("json", serde_json::from_str::<ServerConfig>(&json)?).await?;

    for tool in host.server_tools() {
        let result = host.execute(tool.name(), json!({ "a": 19, "b": 23 })).await;
        println!("{} = {}", tool.name(), result.text());
    }
    host.close().await;
    Ok(())
}
