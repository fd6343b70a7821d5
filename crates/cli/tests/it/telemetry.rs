//! OpenTelemetry export: spans of calls, metrics, and no arguments or results.

use serde_json::{Value, json};
use switchboard_testkit::{HttpScript, RunningCommand, http_response, run_command};

use crate::commands::run;
use crate::home::{Home, demo};

/// Returns the bodies of all requests to a path.
fn sent_to(collector: &HttpScript, path: &str) -> String {
    let requests = collector.log.requests();
    let sent = requests.iter().filter(|request| request.split(' ').nth(1) == Some(path));
    sent.filter_map(|request| Some(request.split_once("\r\n\r\n")?.1)).collect()
}

#[test]
fn a_collector_receives_spans_and_metrics_without_arguments_or_results() {
    let collector =
        HttpScript::in_background(|_| http_response("200 OK", &["content-type: application/json"], "{}"));
    let home = Home::with(json!({"filesystem": demo()}));
    let mut command = home.command(&["call", "filesystem/echo", "text=a-secret-word", "--yes"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    let ran = run_command(command, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let spans = sent_to(&collector, "/v1/traces");
    assert!(spans.contains(r#""tools/call echo""#), "{spans}");
    assert!(spans.contains("gen_ai.tool.name"), "{spans}");
    let counters = sent_to(&collector, "/v1/metrics");
    assert!(counters.contains("mcp.host.calls") && counters.contains("mcp.host.latency.p99"), "{counters}");
    assert!(!spans.contains("a-secret-word") && !counters.contains("a-secret-word"));
}

#[test]
fn the_spans_of_a_gateway_are_of_one_trace() {
    let collector =
        HttpScript::in_background(|_| http_response("200 OK", &["content-type: application/json"], "{}"));
    let home = Home::with(json!({"filesystem": demo()}));
    let mut command = home.command(&["gateway", "--http", "127.0.0.1:0"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    let mut gateway = RunningCommand::start(command);
    let url = gateway.err.line_after("listening at ");
    let called = run(&["call", "filesystem__echo", "text=a-secret-word", "--url", &url]);
    assert_eq!(called.code, 0, "{}", called.err);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));
    let sent = sent_to(&collector, "/v1/traces");
    let spans = span_objects(&sent);
    let named = |name: &str| {
        let found = spans.iter().find(|span| span["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {sent}")).clone()
    };
    let (server, client) = (named("tools/call filesystem__echo"), named("tools/call echo"));
    assert_eq!((&server["kind"], &client["kind"]), (&json!(2), &json!(3)), "server and client");
    assert_eq!(server["traceId"], client["traceId"]);
    assert_eq!(client["parentSpanId"], server["spanId"]);
    assert!(!sent.contains("a-secret-word"));
}

/// Returns the spans in the bodies of exports.
fn span_objects(sent: &str) -> Vec<Value> {
    let bodies = serde_json::Deserializer::from_str(sent).into_iter::<Value>().map(Result::unwrap);
    let mut spans = Vec::new();
    for body in bodies {
        for resource in body["resourceSpans"].as_array().unwrap() {
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    }
    spans
}

#[test]
fn an_unreachable_collector_is_reported_and_fails_nothing() {
    let home = Home::with(json!({"filesystem": demo()}));
    let mut command = home.command(&["call", "filesystem/echo", "text=a", "--yes"]);
    // Nothing listens there.
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let ran = run_command(command, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("telemetry was not sent"), "{}", ran.err);
}
