//! A client written with the current rmcp: `rmcp-client [--era auto|legacy|modern] [--nonce TEXT] -- CMD ARGS…`
//!
//! Starts the command, opens a session over its pipes, lists the tools, calls `echo` with a nonce, closes, and
//! prints what it saw as one line of JSON. Exits 0 when all of that worked.

use std::process::ExitCode;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

const USAGE: &str = "usage: rmcp-client [--era auto|legacy|modern] [--nonce TEXT] -- CMD ARGS…";

struct Arguments {
    lifecycle: ClientLifecycleMode,
    nonce: String,
    command: Vec<String>,
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
            "--" => {
                let command: Vec<String> = given.collect();
                return (!command.is_empty()).then_some(Arguments { lifecycle, nonce, command });
            }
            _ => return None,
        }
    }
    None
}

async fn run(arguments: Arguments) -> Result<Value, Box<dyn std::error::Error>> {
    let mut command = Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]);
    let client = ().serve_with_lifecycle(TokioChildProcess::new(command)?, arguments.lifecycle).await?;

    let peer = client.peer_info().ok_or("no word from the server about itself")?;
    let peer = serde_json::to_value(&*peer)?;
    let tools = client.list_all_tools().await?;
    let echo = CallToolRequestParams::new("echo")
        .with_arguments(json!({ "text": arguments.nonce }).as_object().cloned().unwrap_or_default());
    let result = serde_json::to_value(client.call_tool(echo).await?)?;
    let close = client.cancel().await?;

    Ok(json!({
        "protocolVersion": peer["protocolVersion"],
        "server": peer["serverInfo"],
        "tools": tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        "nonce": arguments.nonce,
        "echoed": result["content"][0]["text"],
        "close": format!("{close:?}"),
    }))
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
