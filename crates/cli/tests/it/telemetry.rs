//! OpenTelemetry export: spans of calls, metrics, and no arguments or results.

use std::collections::BTreeMap;

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
    assert!(counters.contains("mcp.client.operation.duration"), "{counters}");
    assert!(counters.contains("mcp.client.session.duration"), "{counters}");
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

/// Returns the attributes of the data points of a histogram, each with the number of its values.
fn histogram_points(sent: &str, name: &str) -> Vec<(BTreeMap<String, String>, u64)> {
    let bodies = serde_json::Deserializer::from_str(sent).into_iter::<Value>().map(Result::unwrap);
    let mut points = Vec::new();
    for body in bodies {
        let metrics = body["resourceMetrics"].as_array().unwrap().iter().flat_map(|resource| {
            let scopes = resource["scopeMetrics"].as_array().unwrap();
            scopes.iter().flat_map(|scope| scope["metrics"].as_array().unwrap())
        });
        for metric in metrics.filter(|metric| metric["name"] == name) {
            assert_eq!(metric["unit"], "s");
            for point in metric["histogram"]["dataPoints"].as_array().unwrap() {
                assert_eq!(point["explicitBounds"].as_array().map(Vec::len), Some(14), "{point:#}");
                let attribute = |attribute: &Value| {
                    let value = &attribute["value"];
                    let text = value["stringValue"].as_str().map(str::to_owned);
                    (attribute["key"].as_str().unwrap().to_owned(), text.unwrap_or_else(|| value.to_string()))
                };
                let attributes = point["attributes"].as_array().unwrap().iter().map(attribute).collect();
                let count = &point["count"];
                points.push((attributes, count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap()));
            }
        }
    }
    points
}

#[test]
fn requests_and_sessions_are_measured_by_the_conventions() {
    let collector =
        HttpScript::in_background(|_| http_response("200 OK", &["content-type: application/json"], "{}"));
    let home = Home::with(json!({"filesystem": demo()}));
    let mut command = home.command(&["gateway", "--http", "127.0.0.1:0"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        // Once, at the end: each export has the counts from the start.
        .env("OTEL_METRIC_EXPORT_INTERVAL", "600000");
    let mut gateway = RunningCommand::start(command);
    let url = gateway.err.line_after("listening at ");
    let call = |tool: &str, revision: &str| {
        run(&["call", tool, "text=a-secret-word", "--url", &url, "--revision", revision])
    };
    for revision in ["2025-11-25", "2026-07-28"] {
        assert_eq!(call("filesystem__echo", revision).code, 0);
    }
    assert_ne!(call("filesystem__fail", "2026-07-28").code, 0);
    assert_ne!(call("no_such_tool", "2026-07-28").code, 0);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));
    let sent = sent_to(&collector, "/v1/metrics");
    assert!(!sent.contains("a-secret-word") && !sent.contains("no_such_tool"), "{sent}");
    let count = |metric: &str, expected: &[(&str, &str)]| {
        let points = histogram_points(&sent, metric);
        let is_expected = |attributes: &BTreeMap<String, String>| {
            expected.iter().all(|(key, value)| match *value {
                "" => !attributes.contains_key(*key),
                value => attributes.get(*key).is_some_and(|found| found == value),
            })
        };
        let matching: Vec<u64> = points
            .iter()
            .filter(|(attributes, _)| is_expected(attributes))
            .map(|(_, count)| *count)
            .collect();
        assert!(!matching.is_empty(), "{metric} {expected:?}: {points:#?}");
        matching.iter().sum::<u64>()
    };
    let echo = |revision, transport| {
        [
            ("mcp.method.name", "tools/call"),
            ("gen_ai.operation.name", "execute_tool"),
            ("mcp.protocol.version", revision),
            ("network.transport", transport),
            ("error.type", ""),
        ]
    };
    for revision in ["2025-11-25", "2026-07-28"] {
        let of_http = [("gen_ai.tool.name", "filesystem__echo"), ("network.protocol.version", "1.1")];
        let server = [&echo(revision, "tcp")[..], &of_http].concat();
        assert_eq!(count("mcp.server.operation.duration", &server), 1);
    }
    let client = [&echo("2026-07-28", "pipe")[..], &[("gen_ai.tool.name", "echo")]].concat();
    assert_eq!(count("mcp.client.operation.duration", &client), 2);
    let failed = [("gen_ai.tool.name", "filesystem__fail"), ("error.type", "tool_error")];
    assert_eq!(count("mcp.server.operation.duration", &failed), 1);
    let unknown =
        [("gen_ai.tool.name", "_OTHER"), ("rpc.response.status_code", "-32602"), ("error.type", "-32602")];
    assert_eq!(count("mcp.server.operation.duration", &unknown), 1);
    let lists =
        [("mcp.method.name", "tools/list"), ("gen_ai.operation.name", ""), ("network.protocol.name", "http")];
    assert!(count("mcp.server.operation.duration", &lists) > 0);
    // A modern client over HTTP has no session.
    let session =
        [("mcp.protocol.version", "2025-11-25"), ("network.transport", "tcp"), ("mcp.method.name", "")];
    assert_eq!(count("mcp.server.session.duration", &session), 1);
    assert_eq!(histogram_points(&sent, "mcp.server.session.duration").len(), 1);
    let servers = [("mcp.protocol.version", "2026-07-28"), ("network.transport", "pipe"), ("error.type", "")];
    assert!(count("mcp.client.session.duration", &servers) > 0);
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
