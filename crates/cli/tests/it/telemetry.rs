//! OpenTelemetry export: spans of calls, metrics, and no arguments or results.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::fixtures::run_command;
use crate::home::{Home, demo};

/// A collector on loopback that records path and body of each request.
struct Collector {
    url: String,
    sent: Arc<Mutex<Vec<(String, String)>>>,
}

impl Collector {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let sent: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let keeps = Arc::clone(&sent);
        // The thread ends with the test program.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let keeps = Arc::clone(&keeps);
                std::thread::spawn(move || take(stream, &keeps));
            }
        });
        Self { url, sent }
    }

    /// Returns everything that was sent to a path.
    fn sent_to(&self, path: &str) -> String {
        let sent = self.sent.lock().unwrap();
        sent.iter().filter(|(at, _)| at == path).map(|(_, body)| body.as_str()).collect()
    }
}

/// Reads requests from one connection until it closes.
fn take(stream: TcpStream, keeps: &Mutex<Vec<(String, String)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            if header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        keeps.lock().unwrap().push((path, String::from_utf8_lossy(&body).into_owned()));
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        writer.write_all(answer.as_bytes()).unwrap();
    }
}

#[test]
fn a_collector_receives_spans_and_metrics_without_arguments_or_results() {
    let collector = Collector::open();
    let home = Home::with(json!({"filesystem": demo()}));
    let mut command = home.command(&["call", "filesystem/echo", "text=a-secret-word", "--yes"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    let ran = run_command(command, "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let spans = collector.sent_to("/v1/traces");
    assert!(spans.contains(r#""mcp.filesystem.echo""#), "{spans}");
    assert!(spans.contains("gen_ai.tool.name"), "{spans}");
    let counters = collector.sent_to("/v1/metrics");
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
