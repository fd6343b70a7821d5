//! OpenTelemetry export: spans of calls, metrics, and no arguments or results.

use serde_json::json;
use switchboard_testkit::{HttpScript, http_response, run_command};

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
    assert!(spans.contains(r#""mcp.filesystem.echo""#), "{spans}");
    assert!(spans.contains("gen_ai.tool.name"), "{spans}");
    let counters = sent_to(&collector, "/v1/metrics");
    assert!(counters.contains("mcp.host.calls") && counters.contains("mcp.host.latency.p99"), "{counters}");
    assert!(!spans.contains("a-secret-word") && !counters.contains("a-secret-word"));
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
