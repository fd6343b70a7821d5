//! The demo server over HTTP: allowed hosts and shutdown.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use switchboard_testkit::{RunningCommand, STEP_TIMEOUT};

use crate::commands::{run, switchboard};
use crate::servers::HttpDemo;

/// Returns the status of a request with this `Host` header.
fn knock(port: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    stream.set_read_timeout(Some(STEP_TIMEOUT)).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\naccept: */*\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn port(url: &str) -> &str {
    url.trim_end_matches("/mcp").rsplit(':').next().unwrap()
}

#[test]
fn other_machines_need_allow_remote_and_allow_host() {
    for args in
        [&["--http", "0.0.0.0:0"][..], &["--http", "[::]:0"], &["--http", "0.0.0.0:0", "--allow-remote"]]
    {
        let ran = run(&[&["demo-server"], args].concat());
        assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
        assert!(ran.err.contains("--allow-host"), "{args:?} {}", ran.err);
    }
    for args in [&["--sse"][..], &["--allow-remote"], &["--http", "example.com"]] {
        assert_eq!(run(&[&["demo-server"], args].concat()).code, 2, "{args:?}");
    }
    let web = HttpDemo::start_at("0.0.0.0:0", &["--allow-remote", "--allow-host", "box.example"]);
    assert!(web.url.starts_with("http://box.example:"), "{}", web.url);
    web.running.err.wait_for("warning: there is no authentication", 0);
    let port = port(&web.url);
    assert_eq!(knock(port, "evil.example"), "403");
    assert_ne!(knock(port, "box.example"), "403");
    assert_eq!(run(&["call", "echo", "text=x", "--url", &format!("http://127.0.0.1:{port}/mcp")]).out, "x\n");
}

#[test]
fn only_loopback_hosts_are_served_by_default() {
    let web = HttpDemo::start(&[]);
    assert_eq!(knock(port(&web.url), "evil.example"), "403");
    assert_ne!(knock(port(&web.url), "localhost"), "403");
}

#[test]
fn a_port_in_use_is_reported() {
    let web = HttpDemo::start(&[]);
    let ran = run(&["demo-server", "--http", port(&web.url)]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("cannot listen on 127.0.0.1:") && ran.err.contains("hint: port 0"),
        "{}",
        ran.err
    );
}

#[test]
fn it_shuts_down_in_order_while_clients_listen() {
    let web = HttpDemo::start(&["--sse"]);
    let sse = web.sse();
    let listeners: Vec<RunningCommand> = [
        &["--revision", "2026-07-28", "--url", &web.url][..],
        &["--revision", "2025-11-25", "--url", &web.url],
        &["--transport", "sse", "--url", &sse],
    ]
    .into_iter()
    .map(|args| RunningCommand::start(switchboard([&["listen", "--tools"], args].concat())))
    .collect();
    for listener in &listeners {
        listener.err.wait_for("listening for changes", 0);
    }
    let began = Instant::now();
    assert_eq!(web.stop(), Some(0));
    assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
    let [mut modern, legacy, mut sse] = <[RunningCommand; 3]>::try_from(listeners).ok().unwrap();
    assert_eq!(modern.wait().code(), Some(4));
    assert_eq!(sse.wait().code(), Some(4));
    // The session is resumed for a while.
    let mut legacy = legacy;
    legacy.interrupt();
    assert_eq!(legacy.wait().code(), Some(130));
}

#[test]
fn a_second_signal_stops_it_immediately() {
    let mut web = HttpDemo::start(&[]);
    let call = ["call", "countdown", "from=1000", "interval_ms=100", "--trace", "--url", &web.url];
    let mut calling = RunningCommand::start(switchboard(call));
    calling.err.wait_for("notifications/progress", 0);
    web.running.interrupt();
    // It rejects new connections while it shuts down.
    let address = format!("127.0.0.1:{}", port(&web.url));
    let end = Instant::now() + STEP_TIMEOUT;
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < end, "it still listens");
        std::thread::yield_now();
    }
    web.running.interrupt();
    assert_eq!(web.running.wait().code(), Some(130));
    assert_eq!(calling.wait().code(), Some(4));
}
