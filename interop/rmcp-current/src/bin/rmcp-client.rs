//! A client written with the current rmcp:
//! `rmcp-client [--era auto|legacy|modern] [--nonce TEXT] (--url URL | -- CMD ARGS…)`
//!
//! Opens a session with the server at the address, or with the command over its pipes, lists the tools, calls `echo`
//! with a nonce, `slow` with progress and a tool that is not there, closes, and prints what it saw as one line of JSON.
//! Exits 0 when all of that worked.

use std::process::ExitCode;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

const USAGE: &str = "usage: rmcp-client [--era auto|legacy|modern] [--nonce TEXT] (--url URL | -- CMD ARGS…)";

struct Arguments {
    lifecycle: ClientLifecycleMode,
    nonce: String,
    target: Target,
}

enum Target {
    Url(String),
    Command(Vec<String>),
}

fn parse(mut given: impl Iterator<Item = String>) -> Option<Arguments> {
    let modern = || vec![ProtocolVersion::V_2026_07_28];
    let auto = || ClientLifecycleMode::Auto { preferred_versions: modern(), legacy_version: None };
    let mut lifecycle = auto();
    let mut nonce = format!("nonce-{}", std::process::id());
    while let Some(word) = given.next() {
        match word.as_str() {
            "--era" => {
                lifecycle = match given.next()?.as_str() {
                    "auto" => auto(),
                    "legacy" => ClientLifecycleMode::Initialize,
                    "modern" => ClientLifecycleMode::Discover { preferred_versions: modern() },
                    _ => return None,
                }
            }
            "--nonce" => nonce = given.next()?,
            "--url" => return Some(Arguments { lifecycle, nonce, target: Target::Url(given.next()?) }),
            "--" => {
                let command: Vec<String> = given.collect();
                let given = !command.is_empty();
                return given.then_some(Arguments { lifecycle, nonce, target: Target::Command(command) });
            }
            _ => return None,
        }
    }
    None
}

/// Counts the progress that is reported.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU32>);

impl ClientHandler for Counting {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

async fn run(arguments: Arguments) -> Result<Value, Box<dyn std::error::Error>> {
    let Arguments { lifecycle, nonce, target } = arguments;
    let counting = Counting::default();
    let handler = counting.clone();
    let client = match target {
        Target::Url(url) => {
            let transport = StreamableHttpClientTransport::from_uri(url);
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
        Target::Command(words) => {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            handler.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        }
    };

    let peer = client.peer_info().ok_or("no word from the server about itself")?;
    let peer = serde_json::to_value(&*peer)?;
    let tools = client.list_all_tools().await?;
    let echoed = call(&client, "echo", json!({ "text": nonce })).await?;
    let slow = call(&client, "slow", json!({ "seconds": 0.5 })).await?;
    let progress = counting.0.load(Ordering::Relaxed);
    let unknown = match call(&client, "no-such-tool", json!({})).await {
        Err(ServiceError::McpError(error)) => json!(error.code.0),
        Err(other) => return Err(other.into()),
        Ok(_) => Value::Null,
    };
    // Gone away from in the middle: the connection must go on.
    let arguments = json!({ "seconds": 1 }).as_object().cloned().unwrap_or_default();
    let slow_call = CallToolRequestParams::new("slow").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(slow_call));
    let gone = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    gone.cancel(Some("the caller no longer waits".into())).await?;
    let again = call(&client, "echo", json!({ "text": "still here" })).await?;
    let close = client.cancel().await?;

    Ok(json!({
        "protocolVersion": peer["protocolVersion"],
        "server": peer["serverInfo"],
        "tools": tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        "nonce": nonce,
        "echoed": echoed,
        "slow": slow,
        "progress": progress,
        "unknown": unknown,
        "cancelled": true,
        "again": again,
        "close": format!("{close:?}"),
    }))
}

/// Calls a tool and takes the first text of its result.
async fn call(
    client: &RunningService<RoleClient, Counting>,
    tool: &'static str,
    arguments: Value,
) -> Result<Value, ServiceError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
    Ok(serde_json::to_value(result).map(|result| result["content"][0]["text"].clone()).unwrap_or_default())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(arguments) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(arguments).await {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rmcp-client: {error}");
            ExitCode::FAILURE
        }
    }
}
