//! Clients that others wrote, through `switchboard gateway` to servers that others wrote: everything, filesystem, memory,
//! time and playwright, all behind one endpoint, over HTTP and over pipes, in both eras.
//!
//! The SDK clients use all that the servers offer. The Inspector's command line and mcporter are one process per request:
//! they can be neither asked nor told of changes, they report no progress, and cannot cancel; mcporter has no prompts and
//! speaks legacy revisions only.

use serde_json::{Value, json};
use switchboard_testkit::Failed;
use tokio::process::Command;

use crate::interop::gateway_bench::{GatewayBench, Over, entity, run_to_json, run_to_text};
use crate::interop::listening;
use crate::interop::peer::place;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("typescript_through_the_gateway_over_http", || sdk(Sdk::Typescript, Over::Http)),
    ("typescript_through_the_gateway_over_pipes", || sdk(Sdk::Typescript, Over::Pipes)),
    ("python_through_the_gateway_over_http", || sdk(Sdk::Python, Over::Http)),
    ("python_through_the_gateway_over_pipes", || sdk(Sdk::Python, Over::Pipes)),
    ("rmcp_through_the_gateway_over_http", || sdk(Sdk::Rmcp, Over::Http)),
    ("rmcp_through_the_gateway_over_pipes", || sdk(Sdk::Rmcp, Over::Pipes)),
    ("inspector_through_the_gateway_over_http_without_questions", inspector_http),
    ("inspector_through_the_gateway_over_pipes_without_questions", inspector_pipes),
    ("mcporter_through_the_gateway_over_http_without_prompts_and_questions", || mcporter(Over::Http)),
    ("mcporter_through_the_gateway_over_pipes_without_prompts_and_questions", || mcporter(Over::Pipes)),
    ("all_clients_at_once_through_the_gateway", all_at_once),
];

const SERVERS: [&str; 5] = ["everything", "filesystem", "memory", "playwright", "time"];

#[derive(Clone, Copy, PartialEq)]
enum Sdk {
    Typescript,
    Python,
    Rmcp,
}

impl Sdk {
    fn name(self) -> &'static str {
        match self {
            Self::Typescript => "typescript",
            Self::Python => "python",
            Self::Rmcp => "rmcp",
        }
    }

    fn command(self) -> Command {
        match self {
            Self::Typescript => {
                let mut command = Command::new("node");
                command.arg(place("SWITCHBOARD_INTEROP_NODE").join("gateway-client.mjs"));
                command
            }
            Self::Python => listening::python("gateway_client.py"),
            Self::Rmcp => Command::new(place("SWITCHBOARD_INTEROP_RMCP_GATEWAY_CLIENT")),
        }
    }
}

/// One SDK, in both eras one after the other.
fn sdk(sdk: Sdk, over: Over) -> Result<(), Failed> {
    block_on(async move {
        let bench = GatewayBench::start(over).await;
        for era in ["legacy", "modern"] {
            use_all(&bench, sdk, era).await;
        }
        bench.stop().await;
    })
}

/// Runs an SDK client and checks all that it saw, and what its calls left behind.
async fn use_all(bench: &GatewayBench, sdk: Sdk, era: &str) {
    let name = format!("{}-{era}", sdk.name());
    let mut client = sdk.command();
    client.args(["--era", era, "--name", &name, "--folder", bench.files(), "--page", bench.page()]);
    if let Some(key) = bench.key() {
        client.args(["--key", key]);
    }
    match bench.url() {
        Some(url) => drop(client.args(["--url", url])),
        None => drop(client.arg("--").args(bench.command())),
    }
    let seen = run_to_json(bench, &mut client).await;
    let text = |key: &str| seen[key].as_str().unwrap_or_default();
    assert_eq!(seen["protocolVersion"], if era == "legacy" { "2025-11-25" } else { "2026-07-28" });
    assert_eq!(seen["servers"], json!(SERVERS), "{name}");
    let prompts = ["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"];
    assert_eq!(seen["prompts"], json!(prompts.map(|prompt| format!("everything__{prompt}"))), "{name}");
    assert_eq!(text("sum"), "The sum of 19 and 23 is 42.");
    assert!(text("written").contains(&format!("{name}.txt")), "{seen}");
    check_converted(text("converted"));
    assert!(text("page").contains("Page Title: Page of the test"), "{seen}");
    assert_eq!(text("document"), "# Everything Server - Features");
    assert_eq!(text("prompt"), "What's weather in Oslo?");
    assert_eq!(seen["unknown"], -32602);
    check_progress(&seen, sdk);
    assert!(text("elicited").contains(&format!("Name: {name}")), "{seen}");
    assert!(text("sampled").contains(&format!("{name} says hello")), "{seen}");
    assert_eq!((&seen["cancelled"], text("again")), (&json!(true), "Echo: still here"), "{seen}");
    assert_eq!(seen["updated"], true, "{seen}");
    bench.check_traces(&name, text("graph"));
}

/// Over pipes the TypeScript SDK loses progress that comes in one piece with the answer.
fn check_progress(seen: &Value, sdk: Sdk) {
    let progress: Vec<f64> =
        seen["progress"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let mut sorted = progress.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let least = if sdk == Sdk::Typescript { 3 } else { 4 };
    assert!(sorted.len() >= least && sorted.iter().all(|step| (1.0..=4.0).contains(step)), "{progress:?}");
}

fn check_converted(text: &str) {
    let converted: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(converted["time_difference"], "-3.5h", "{text}");
    assert!(
        converted["target"]["datetime"].as_str().unwrap_or_default().contains("T08:30:00+05:30"),
        "{text}"
    );
}

/// A call of one tool of each server: the tool, and its arguments.
fn one_of_each(bench: &GatewayBench, name: &str) -> [(&'static str, Value); 6] {
    let path = format!("{}/{name}.txt", bench.files());
    let zones =
        json!({ "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata" });
    [
        ("everything__get-sum", json!({ "a": 19, "b": 23 })),
        ("filesystem__write_file", json!({ "path": path, "content": format!("by {name}") })),
        ("memory__create_entities", json!({ "entities": [entity(name)] })),
        ("memory__read_graph", json!({})),
        ("time__convert_time", zones),
        ("playwright__browser_navigate", json!({ "url": bench.page() })),
    ]
}

/// Checks the texts of [`one_of_each`], in its order.
fn check_one_of_each(bench: &GatewayBench, name: &str, texts: &[String]) {
    let [sum, written, created, graph, converted, page] = texts else { panic!("{texts:?}") };
    assert_eq!(sum, "The sum of 19 and 23 is 42.");
    assert!(written.contains(&format!("{name}.txt")) && created.contains(name), "{texts:?}");
    check_converted(converted);
    assert!(page.contains("Page Title: Page of the test"), "{page}");
    bench.check_traces(name, graph);
}

fn check_tools(tools: &Value) {
    let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    let mut servers: Vec<&str> = names.filter_map(|name| name.split("__").next()).collect();
    servers.dedup();
    assert_eq!(servers, SERVERS);
}

/// The texts of a result.
fn texts(result: &Value) -> String {
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|each| each["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn inspector_http() -> Result<(), Failed> {
    block_on(async {
        let bench = GatewayBench::start(Over::Http).await;
        for era in ["legacy", "modern"] {
            inspect(&bench, era).await;
        }
        bench.stop().await;
    })
}

/// Every request starts a gateway with all its servers, so one era.
fn inspector_pipes() -> Result<(), Failed> {
    block_on(async {
        let bench = GatewayBench::start(Over::Pipes).await;
        inspect(&bench, "modern").await;
        bench.stop().await;
    })
}

/// The Inspector's command line: lists, calls, a resource, a prompt, an unknown tool.
async fn inspect(bench: &GatewayBench, era: &str) {
    let inspector = |arguments: &[&str]| {
        let mut command = Command::new(place("SWITCHBOARD_INTEROP_CURRENT_NODE_PROGRAM"));
        command.arg(place("SWITCHBOARD_INTEROP_CURRENT_NODE").join("node_modules/.bin/mcp-inspector"));
        command.args(["--cli", "--protocol-era", era, "--format", "json", "--quiet"]);
        // Its limit is meant for people who wait.
        command.args(["--connect-timeout", "120000"]).args(arguments);
        if let Some(key) = bench.key() {
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
        }
        match bench.url() {
            Some(url) => drop(command.args(["--server-url", url, "--transport", "http"])),
            None => drop(
                bench
                    .environment()
                    .iter()
                    .fold(&mut command, |command, (name, value)| {
                        command.arg("-e").arg(format!("{name}={value}"))
                    })
                    .arg("--")
                    .args(bench.command()),
            ),
        }
        command
    };
    let name = format!("inspector-{era}");
    let listed = run_to_json(bench, &mut inspector(&["--method", "tools/list"])).await;
    check_tools(&listed["result"]["tools"]);
    let mut results = Vec::new();
    for (tool, arguments) in one_of_each(bench, &name) {
        let arguments = arguments.to_string();
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
        results.push(texts(&run_to_json(bench, &mut inspector(&call)).await["result"]));
    }
    check_one_of_each(bench, &name, &results);
    let uri = "memory://knowledge-graph";
    let read = run_to_json(bench, &mut inspector(&["--method", "resources/read", "--uri", uri])).await;
    let graph = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    bench.check_graph(&name, graph);
    let get =
        ["--method", "prompts/get", "--prompt-name", "everything__args-prompt", "--prompt-args", "city=Oslo"];
    let prompt = run_to_json(bench, &mut inspector(&get)).await;
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "What's weather in Oslo?", "{prompt}");
}

/// mcporter: lists, calls, a resource.
fn mcporter(over: Over) -> Result<(), Failed> {
    block_on(async move {
        let bench = GatewayBench::start(over).await;
        port(&bench).await;
        bench.stop().await;
    })
}

async fn port(bench: &GatewayBench) {
    let server = match bench.url() {
        Some(url) => json!({
            "baseUrl": url,
            "headers": { "Authorization": format!("Bearer {}", bench.key().unwrap_or("none")) },
        }),
        None => {
            let (program, arguments) =
                bench.command().split_first().map(|(one, rest)| (one.clone(), rest.to_vec())).unwrap();
            let environment: serde_json::Map<_, _> =
                bench.environment().iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
            json!({ "command": program, "args": arguments, "env": environment })
        }
    };
    let config = bench.write("mcporter.json", &json!({ "mcpServers": { "gateway": server }, "imports": [] }));
    let mcporter = |arguments: &[&str]| {
        let mut command = Command::new(place("SWITCHBOARD_INTEROP_CURRENT_NODE_PROGRAM"));
        command.arg(place("SWITCHBOARD_INTEROP_CURRENT_NODE").join("node_modules/.bin/mcporter"));
        command.args(arguments).args(["--config", &config]).env("MCPORTER_LIST_TIMEOUT", "120000");
        // No daemon that outlives the test.
        command.env("MCPORTER_DISABLE_KEEPALIVE", "*");
        command
    };
    let listed = run_to_json(bench, &mut mcporter(&["list", "gateway", "--json"])).await;
    check_tools(&listed["tools"]);
    let mut results = Vec::new();
    for (tool, arguments) in one_of_each(bench, "mcporter") {
        let (selector, arguments) = (format!("gateway.{tool}"), arguments.to_string());
        let call = ["call", &selector, "--args", &arguments, "--output", "text", "--timeout", "120000"];
        results.push(run_to_text(bench, &mut mcporter(&call)).await.trim_end().to_owned());
    }
    check_one_of_each(bench, "mcporter", &results);
    let read = ["resource", "gateway", "memory://knowledge-graph", "--json"];
    let read = run_to_text(bench, &mut mcporter(&read)).await;
    bench.check_graph("mcporter", &read);
}

/// Five clients on one gateway at the same time, each with a key of its own.
fn all_at_once() -> Result<(), Failed> {
    block_on(async {
        let bench = GatewayBench::start(Over::HttpWithKeys).await;
        tokio::join!(
            async { use_all(&bench.as_caller("typescript"), Sdk::Typescript, "modern").await },
            async { use_all(&bench.as_caller("python"), Sdk::Python, "legacy").await },
            async { use_all(&bench.as_caller("rmcp"), Sdk::Rmcp, "modern").await },
            async { inspect(&bench.as_caller("inspector"), "modern").await },
            async { port(&bench.as_caller("mcporter")).await },
        );
        bench.stop().await;
    })
}
