//! A server with three tools, for clients of every protocol revision: on stdin and stdout, or with `--http ADDRESS` over
//! HTTP.
//!
//! `cargo run --release -- tools -- target/release/examples/serve_tools` lists them.

use std::time::Duration;

use serde::Deserialize;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, Implementation, RpcError, ServerCapabilities, Tool,
    ToolAnnotations,
};
use switchboard::protocol::{ListCapability, ListToolsResult, ServerResult};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, Reply, RequestContext,
    ServerRequest,
};
use switchboard::{Server, json, serve_stdio};

struct Tools;

#[derive(Deserialize)]
struct Echo {
    text: String,
}

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Slow {
    seconds: f64,
}

impl Handler for Tools {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new(tools())),
            ServerRequest::CallTool(params) => call(params, cx),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn tools() -> Vec<Tool> {
    let schema = |properties: serde_json::Value| {
        let required: Vec<_> =
            properties.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    };
    let read_only = ToolAnnotations::new().with_read_only_hint(true);
    vec![
        Tool::new("echo", schema(json!({ "text": { "type": "string" } })))
            .with_description("Says the text back.")
            .with_annotations(read_only.clone()),
        Tool::new("add", schema(json!({ "a": { "type": "integer" }, "b": { "type": "integer" } })))
            .with_description("Adds two integers.")
            .with_annotations(read_only.clone()),
        Tool::new("slow", schema(json!({ "seconds": { "type": "number" } })))
            .with_description("Answers after some seconds, and reports how far it is.")
            .with_annotations(read_only),
    ]
}

fn call(params: CallToolParams, cx: RequestContext) -> HandlerOutcome {
    let CallToolParams { name, arguments, .. } = params;
    let arguments = arguments.unwrap_or_else(switchboard::protocol::Raw::empty_object);
    match name.as_str() {
        "echo" => with(arguments.decode(), |Echo { text }| {
            HandlerOutcome::now(CallToolResult::new([Content::text(text)]))
        }),
        "add" => with(arguments.decode(), |Add { a, b }| {
            let sum = CallToolResult::new([Content::text((a + b).to_string())]);
            HandlerOutcome::now(sum.with_structured_content(json!({ "sum": a + b })))
        }),
        "slow" => with(arguments.decode(), |Slow { seconds }| HandlerOutcome::later(slow(seconds, cx))),
        _ => HandlerOutcome::error(RpcError::invalid_params(format!("there is no tool {name:?}"))),
    }
}

/// What does not fit is told to the model, so that it can mend its call.
fn with<T>(
    arguments: Result<T, switchboard::protocol::DecodeError>,
    call: impl FnOnce(T) -> HandlerOutcome,
) -> HandlerOutcome {
    match arguments {
        Ok(arguments) => call(arguments),
        Err(error) => {
            HandlerOutcome::now(CallToolResult::error(format!("the arguments do not fit: {error}")))
        }
    }
}

/// Cancelling the call drops this where it waits.
async fn slow(seconds: f64, cx: RequestContext) -> Reply {
    for step in 1..=10_u8 {
        tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 600.0) / 10.0)).await;
        cx.progress(f64::from(step), Some(10.0), Some("working"));
    }
    Ok(ServerResult::from(CallToolResult::new([Content::text("done")])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("serve-tools", "1.0.0"), offers)
        .instructions("Three small tools to try a client with.")
        .build(Tools);
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--http"), Some(address)) => {
            let address = address.parse().map_err(std::io::Error::other)?;
            let listener = HttpListener::bind(address).await?;
            eprintln!("serving on http://{}/mcp", listener.address()?);
            listener.serve(HttpService::new(&server, HttpServerOptions::default())).await;
            Ok(())
        }
        _ => serve_stdio(&server).await,
    }
}
