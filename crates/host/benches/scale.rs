//! What a host costs: with 10,000 tools over 100 servers, and on top of a bare call.
//!
//! `cargo bench -p switchboard-host` prints the times. With `bare N` or `host N` after `--` it makes so many calls and
//! nothing else, for a tool that counts instructions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_host::Host;
use switchboard_host::config::{Plan, Reach, Restart, Start};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities,
    Tool,
};
use switchboard_session::Client;
use switchboard_session::answering::{Cx, Handled, Handler, Kept, Server, ServerRequest};
use switchboard_session::link::InProcess;

const SERVERS: usize = 100;
const TOOLS: usize = 100;

struct Wide {
    tools: Kept,
}

impl Handler for Wide {
    fn handle(&self, request: ServerRequest, _: Cx) -> Handled {
        match request {
            ServerRequest::ListTools(_) => Handled::kept(&self.tools),
            ServerRequest::CallTool(_) => Handled::now(CallToolResult::new([Content::text("done")])),
            other => Handled::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn server(tools: usize) -> Arc<Server> {
    let schema = json!({
        "type": "object",
        "required": ["path"],
        "properties": {"path": {"type": "string", "description": "The file."}, "lines": {"type": "integer"}}
    });
    let tools: Vec<Tool> = (0..tools)
        .map(|n| Tool::new(format!("tool_{n}"), schema.clone()).with_description("Does one thing of many."))
        .collect();
    let offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
    let tools = Kept::new(ListToolsResult::new(tools));
    Server::builder(Implementation::new("wide", "1.0.0"), offers).build(Wide { tools })
}

fn plan(name: &str) -> Plan {
    Plan {
        reach: Reach::InProcess { name: name.to_owned() },
        start: Start::AtOnce,
        restart: Restart::Never,
        required: false,
        startup: Duration::from_secs(30),
        call: None,
        allow: Vec::new(),
        deny: Vec::new(),
    }
}

/// The median of many runs.
fn median(runs: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[runs / 2]
}

async fn scale() {
    let host = Host::builder().build();
    let names: Vec<String> = (0..SERVERS).map(|n| format!("server{n}")).collect();
    for name in &names {
        host.register(name.as_str(), &server(TOOLS));
    }
    let began = Instant::now();
    let done = host.set_servers(names.iter().map(|name| (name.as_str(), plan(name)))).await;
    assert!(done.errors.is_empty(), "{:?}", done.errors);
    println!("{SERVERS} servers connected       {:?}", began.elapsed());
    assert_eq!(host.catalog().tools().len(), SERVERS * TOOLS + 2);
    let thousand = |run: &dyn Fn()| median(101, || (0..1000).for_each(|_| run())) / 1000;
    println!("snapshot                     {:?}", thousand(&|| _ = std::hint::black_box(host.catalog())));
    let found = thousand(&|| _ = std::hint::black_box(host.find_tool("mcp__server57__tool_42")));
    println!("find_tool, qualified         {found:?}");
    let found = median(101, || _ = std::hint::black_box(host.find_tool("tool_42")));
    println!("find_tool, 100 providers     {found:?}");
    println!("status of all                {:?}", median(101, || _ = std::hint::black_box(host.status())));
    let json = median(101, || _ = std::hint::black_box(serde_json::to_string(&host.status())));
    println!("status of all, as JSON       {json:?}");
    let mut denied = false;
    let changed = median(101, || {
        denied = !denied;
        host.set_denied_tools("server50", denied.then_some("tool_7"));
    });
    println!("one list changes             {changed:?}");
    host.close().await;
}

async fn bare(calls: usize) {
    let session = Client::new().connect(InProcess::new(&server(TOOLS))).await.expect("it connects");
    session.list_tools().await.expect("it lists");
    for _ in 0..calls {
        session.call_tool("tool_7", json!({"path": "/tmp/a"})).await.expect("it answers");
    }
    session.close().await;
}

async fn hosted(calls: usize, validation: switchboard_host::Validation) {
    let host = Host::builder().with_server("s", &server(TOOLS)).with_validation(validation).build();
    host.connect("s", plan("s")).await.expect("it connects");
    for _ in 0..calls {
        host.call_tool("s", "tool_7", json!({"path": "/tmp/a"})).await.expect("it answers");
    }
    host.close().await;
}

fn main() {
    use switchboard_host::Validation::{Off, On};
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let calls = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(10_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match words.first().map(String::as_str) {
            Some("bare") => bare(calls).await,
            Some("host") => hosted(calls, Off).await,
            Some("validating") => hosted(calls, On).await,
            _ => scale().await,
        }
    });
}
