//! The metrics of a gateway, scraped over HTTP.

use std::sync::Arc;

use switchboard::gateway::GatewayOptions;
use switchboard::gateway::audit::{AuditLog, AuditOptions};
use switchboard::gateway::limits::RateLimiter;
use switchboard::gateway::metrics::{GatewayMetrics, MetricsEndpoint};
use switchboard::gateway::policy::Policy;
use switchboard::json;
use switchboard::server::HttpListener;
use switchboard_testkit::{STEP_TIMEOUT, trial_leaving_tasks, trials};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use crate::access::MemorySink;
use crate::cells::{Cell, Reach, Side};
use crate::openmetrics::Scrape;
use crate::person::Person;
use crate::raw_client::{RawClient, answer};

trials! {
    trial_leaving_tasks:
        a_scrape_counts_what_happened,
        a_scrape_tells_the_state_of_servers,
        names_of_clients_add_no_series,
        metrics_are_for_the_operator_only,
        a_list_is_encoded_once_also_when_it_is_recorded,
}

const DOCUMENT: &str = r#"
default = "allow"
[[rule]]
name = "no \"echo\"\\"
effect = "deny"
tool = "echo"
[[rule]]
effect = "deny"
tool = "toggle"
unless_scope = "admin"
[[limit]]
name = "metered"
operation = "call"
tool = "meta"
rate = "2/day"
"#;

const MODERN: Cell = Cell { client: Side::Modern, upstream: Side::Modern, reach: Reach::InProcess };

/// Serves metrics on loopback.
async fn serve(metrics: &Arc<GatewayMetrics>, tasks: &mut JoinSet<()>) -> String {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    tasks.spawn(listener.serve(MetricsEndpoint::new(Arc::clone(metrics))));
    address
}

/// Sends one request; returns the head, with names of headers in lower case, and the body.
async fn http(address: &str, method: &str, path: &str, host: &str) -> (String, String) {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

async fn scrape(address: &str) -> Scrape {
    let (head, body) = http(address, "GET", "/metrics", address).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    Scrape::parse(&body)
}

async fn a_scrape_counts_what_happened() {
    let (metrics, mut tasks) = (Arc::new(GatewayMetrics::new()), JoinSet::new());
    let log = AuditLog::start(MemorySink::default(), AuditOptions::default());
    let options = GatewayOptions::default()
        .with_policy(Policy::parse(DOCUMENT).unwrap())
        .with_limits(RateLimiter::parse(DOCUMENT).unwrap())
        .with_audit(log.clone())
        .with_metrics(Arc::clone(&metrics));
    // The question of a legacy server parks its call.
    let bench = Cell { upstream: Side::Legacy, ..MODERN }.open_with(options).await;
    let address = serve(&metrics, &mut tasks).await;
    let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
    for _ in 0..3 {
        client.request("tools/list", "").await.unwrap();
    }
    for _ in 0..4 {
        let _ = client.request("tools/call", r#""name":"up__meta""#).await;
    }
    for _ in 0..5 {
        client.request("tools/call", r#""name":"up__echo""#).await.unwrap_err();
    }
    client.request("tools/call", r#""name":"up__toggle""#).await.unwrap_err();
    client.request("tools/call", r#""name":"up__none""#).await.unwrap_err();
    client.request("resources/read", r#""uri":"page://7""#).await.unwrap();
    let (key, state) = client.question("up__ask", json!({})).await.unwrap();
    assert_eq!(scrape(&address).await.value("mcp_gateway_parked_calls"), 1.0);
    client.call("up__ask", answer(&key, &state, "red")).await.unwrap();

    let scrape = scrape(&address).await;
    for (series, value) in [
        (r#"requests_total{method="tools/list",server="",outcome="ok"}"#, 3.0),
        (r#"requests_total{method="tools/call",server="up",outcome="ok"}"#, 3.0),
        (r#"requests_total{method="tools/call",server="up",outcome="rate_limited"}"#, 2.0),
        (r#"requests_total{method="tools/call",server="up",outcome="denied"}"#, 5.0),
        (r#"requests_total{method="tools/call",server="up",outcome="missing_scope"}"#, 1.0),
        (r#"requests_total{method="tools/call",server="up",outcome="input_required"}"#, 1.0),
        (r#"requests_total{method="tools/call",server="_other",outcome="unknown"}"#, 1.0),
        (r#"requests_total{method="resources/read",server="up",outcome="ok"}"#, 1.0),
        (r#"request_duration_seconds_count{method="tools/call",server="up"}"#, 12.0),
        (r#"tool_calls_total{server="up",tool="meta",outcome="ok"}"#, 2.0),
        (r#"tool_calls_total{server="up",tool="ask",outcome="ok"}"#, 1.0),
        (r#"denials_total{rule="no \"echo\"\\",reason="rule"}"#, 5.0),
        (r#"denials_total{rule="rule 2",reason="missing_scope"}"#, 1.0),
        (r#"rate_limited_total{limit="metered"}"#, 2.0),
        (r#"list_pages_total{source="built"}"#, 3.0),
        (r#"parked_calls"#, 0.0),
        (r#"audit_records_total{result="dropped"}"#, 0.0),
        (r#"audit_failing"#, 0.0),
    ] {
        assert_eq!(scrape.value(&format!("mcp_gateway_{series}")), value, "{series}");
    }
    bench.close().await;
    log.close(STEP_TIMEOUT).await.unwrap();
    // Every request is in both.
    assert_eq!(scrape.sum("mcp_gateway_requests_total"), log.counts().written as f64);
}

async fn a_scrape_tells_the_state_of_servers() {
    for (cell, era, processes) in [
        (Cell { upstream: Side::Legacy, reach: Reach::Child, ..MODERN }, "legacy", 1.0),
        (Cell { upstream: Side::Modern, reach: Reach::InProcess, ..MODERN }, "modern", 0.0),
    ] {
        let (metrics, mut tasks) = (Arc::new(GatewayMetrics::new()), JoinSet::new());
        let bench = cell.open_with(GatewayOptions::default().with_metrics(Arc::clone(&metrics))).await;
        let address = serve(&metrics, &mut tasks).await;
        let session = bench.client(&Person::new("ada")).await;
        let waiting = tokio::spawn(session.call_tool("up__wait", json!({})).into_future());
        bench.counted("runs of wait", 1).await;
        let first = scrape(&address).await;
        let revision = if era == "legacy" { "2025-11-25" } else { "2026-07-28" };
        let era = format!(r#"mcp_gateway_upstream_era{{server="up",era="{era}",revision="{revision}"}}"#);
        assert_eq!(first.value(&era), 1.0, "{era}");
        assert_eq!(first.value(r#"mcp_gateway_upstream_state{server="up",state="connected"}"#), 1.0);
        assert_eq!(first.value(r#"mcp_gateway_upstream_processes{server="up"}"#), processes);
        assert_eq!(first.value(r#"mcp_gateway_upstream_running_calls{server="up"}"#), 1.0);
        assert_eq!(first.value(r#"mcp_gateway_upstream_queued_calls{server="up"}"#), 0.0);
        waiting.abort();
        let _ = waiting.await;
        bench.counted("ended waits", 1).await;
        let ended = r#"mcp_gateway_tool_calls_total{server="up",tool="wait",outcome="cancelled"}"#;
        assert_eq!(scrape(&address).await.value(ended), 1.0);
        bench.close().await;
        assert_eq!(scrape(&address).await.sum("mcp_gateway_upstream_state"), 0.0, "no server is left");
    }
}

async fn names_of_clients_add_no_series() {
    let metrics = Arc::new(GatewayMetrics::new());
    let bench = MODERN.open_with(GatewayOptions::default().with_metrics(Arc::clone(&metrics))).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    let attempt = async |number: u64| {
        // Neither a name, nor a URI, nor a principal, nor a method of a client is a label.
        let name = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let members = [
            ("tools/call", format!(r#""name":"up__{name:x}""#)),
            ("prompts/get", format!(r#""name":"{name:x}""#)),
            ("resources/read", format!(r#""uri":"page://{name:x}""#)),
            (
                "completion/complete",
                format!(
                    r#""ref":{{"type":"ref/prompt","name":"{name:x}"}},"argument":{{"name":"a","value":"b"}}"#
                ),
            ),
        ];
        let (method, members) = &members[usize::try_from(number % 4).unwrap()];
        let _ = client.request(method, members).await;
    };
    for number in 0..8 {
        attempt(number).await;
    }
    let before = Scrape::parse(&metrics.encode());
    for number in 8..10_008 {
        attempt(number).await;
    }
    let after = Scrape::parse(&metrics.encode());
    assert_eq!(after.len(), before.len(), "no series was added");
    assert_eq!(after.sum("mcp_gateway_requests_total"), 10_008.0, "and every request was counted");
    assert_eq!(
        after.value(r#"mcp_gateway_requests_total{method="tools/call",server="_other",outcome="unknown"}"#),
        2_502.0
    );
    bench.close().await;
}

async fn metrics_are_for_the_operator_only() {
    let (metrics, mut tasks) = (Arc::new(GatewayMetrics::new()), JoinSet::new());
    let bench = MODERN.open_with(GatewayOptions::default().with_metrics(Arc::clone(&metrics))).await;
    let address = serve(&metrics, &mut tasks).await;
    let port = address.rsplit_once(':').unwrap().1;
    for (method, path, host, status) in [
        ("GET", "/metrics", "localhost".to_owned(), "200"),
        ("GET", "/metrics", format!("[::1]:{port}"), "200"),
        ("GET", "/metrics", format!("evil.example:{port}"), "403"),
        ("GET", "/metrics", "127.0.0.1.evil.example".to_owned(), "403"),
        ("POST", "/metrics", address.clone(), "405"),
        ("GET", "/mcp", address.clone(), "404"),
    ] {
        let (head, _) = http(&address, method, path, &host).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path} {host}: {head}");
    }
    bench.close().await;
}

async fn a_list_is_encoded_once_also_when_it_is_recorded() {
    let metrics = Arc::new(GatewayMetrics::new());
    let log = AuditLog::start(MemorySink::default(), AuditOptions::default());
    let options = GatewayOptions::default().with_metrics(Arc::clone(&metrics)).with_audit(log.clone());
    let bench = MODERN.open_with(options).await;
    let client = RawClient::connect(bench.gateway.server(), None).await;
    let first = client.request("tools/list", "").await.unwrap();
    for _ in 0..9 {
        assert_eq!(client.request("tools/list", "").await.unwrap(), first);
    }
    let scrape = Scrape::parse(&metrics.encode());
    assert_eq!(scrape.value(r#"mcp_gateway_list_pages_total{source="built"}"#), 1.0);
    assert_eq!(scrape.value(r#"mcp_gateway_list_pages_total{source="cache"}"#), 9.0);
    bench.close().await;
    log.close(STEP_TIMEOUT).await.unwrap();
    assert_eq!(log.counts().written, 10);
}
