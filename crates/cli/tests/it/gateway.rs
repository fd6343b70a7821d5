//! `switchboard gateway`: all configured servers behind one endpoint, on stdin and stdout and over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use serde_json::json;
use switchboard_testkit::{RunningCommand, STEP_TIMEOUT};

use crate::commands::{SWITCHBOARD, run};
use crate::home::{Home, demo};

/// A running gateway over HTTP.
struct HttpGateway {
    running: RunningCommand,
    url: String,
}

impl HttpGateway {
    fn start(home: &Home, args: &[&str]) -> Self {
        let args = [&["gateway", "--http", "127.0.0.1:0"], args].concat();
        let running = RunningCommand::start(home.command(&args));
        let url = running.err.line_after("listening at ");
        Self { running, url }
    }

    fn run(&self, args: &[&str]) -> switchboard_testkit::CommandOutput {
        run(&[args, &["--url", &self.url]].concat())
    }

    /// Returns the status and the body of a plain request.
    fn get(&self, path: &str) -> (String, String) {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(STEP_TIMEOUT)).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        (status, answer.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned())
    }
}

fn two_servers() -> Home {
    let mut denied = demo();
    denied["denyTools"] = json!(["echo"]);
    let mut disabled = demo();
    disabled["disabled"] = json!(true);
    Home::with(json!({ "one": demo(), "two": denied, "off": disabled }))
}

#[test]
fn all_configured_servers_are_served_over_http_in_both_eras() {
    let home = two_servers();
    let mut gateway = HttpGateway::start(&home, &[]);
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let tools = gateway.run(&["tools", "--revision", revision]);
        assert_eq!(tools.code, 0, "{revision}: {}", tools.err);
        for name in ["one__add", "two__add", "one__echo"] {
            assert!(tools.out.contains(name), "{revision} {name}: {}", tools.out);
        }
        assert!(
            !tools.out.contains("two__echo") && !tools.out.contains("off__"),
            "{revision}: {}",
            tools.out
        );
        let sum = gateway.run(&["call", "one__add", "a=19", "b=23", "--revision", revision]);
        assert_eq!((sum.code, sum.out.contains("42")), (0, true), "{revision}: {} {}", sum.out, sum.err);
    }
    let denied = gateway.run(&["call", "two__echo", "text=x"]);
    assert_ne!(denied.code, 0, "a denied tool cannot be called");
    assert_eq!(gateway.get("/healthz"), ("200".into(), "ok\n".into()));
    assert_eq!(gateway.get("/readyz"), ("200".into(), "ready\n".into()));
    assert_eq!(gateway.get("/elsewhere").0, "404");
    gateway.running.err.wait_for("off is disabled", 0);
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(0), "it drains and ends");
}

#[test]
fn a_question_of_a_server_is_answered_through_the_gateway() {
    let home = two_servers();
    let gateway = HttpGateway::start(&home, &["--prefix", "conflict"]);
    for revision in ["2025-11-25", "2026-07-28"] {
        let ordered = gateway.run(&[
            "call",
            "one__order_pizza",
            "--answers",
            r#"{"size":"large","toppings":["olives"]}"#,
            "--revision",
            revision,
        ]);
        assert_eq!(ordered.code, 0, "{revision}: {}", ordered.err);
        assert!(ordered.out.contains("large pizza with olives"), "{revision}: {}", ordered.out);
    }
}

#[test]
fn it_is_a_server_of_another_client_on_stdin_and_stdout() {
    let home = two_servers();
    let config = format!("XDG_CONFIG_HOME={}", home.at("config").display());
    let state = format!("XDG_STATE_HOME={}", home.at("state").display());
    for args in [&["--stdio"][..], &[]] {
        let gateway = [&[SWITCHBOARD, "gateway"], args].concat();
        let options = ["--env", &config, "--env", &state, "--"];
        let called = run(&[&["call", "one__add", "a=1", "b=2"], &options[..], &gateway].concat());
        assert_eq!((called.code, called.out.contains('3')), (0, true), "{} {}", called.out, called.err);
    }
}

#[test]
fn without_servers_or_with_a_remote_address_it_does_not_start() {
    let home = Home::with(json!({}));
    let ran = home.run(&["gateway", "--stdio"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("no servers are configured") && ran.err.contains("switchboard add"),
        "{}",
        ran.err
    );
    let home = two_servers();
    let ran = home.run(&["gateway", "--http", "0.0.0.0:0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--allow-remote"), "{}", ran.err);
    assert_eq!(run(&["gateway", "--stdio", "--http", "127.0.0.1:0"]).code, 2);
}

#[test]
fn credentials_of_servers_are_not_lent_to_every_program_on_the_machine() {
    let mut server = demo();
    server["env"] = json!({ "TOKEN": "s3cret" });
    let home = Home::with(json!({ "one": server }));
    let refused = home.run(&["gateway", "--http", "127.0.0.1:0"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("one has credentials") && refused.err.contains("--api-keys"),
        "{}",
        refused.err
    );
    assert!(!refused.err.contains("s3cret"), "{}", refused.err);

    let keys = home.at("keys.json").display().to_string();
    let created = home.run(&["key", "create", "laptop", "--file", &keys]);
    assert_eq!(created.code, 0, "{}", created.err);
    let key = created.out.split_whitespace().find(|word| word.starts_with("sbk_")).unwrap().to_owned();
    let gateway = HttpGateway::start(&home, &["--api-keys", &keys]);
    let call = ["call", "one__add", "a=19", "b=23"];
    assert_eq!(gateway.run(&call).code, 3, "a key is required");
    let header = format!("Authorization: Bearer {key}");
    let called = gateway.run(&[&call[..], &["-H", &header]].concat());
    assert_eq!((called.code, called.out.contains("42")), (0, true), "{} {}", called.out, called.err);

    let anonymous = HttpGateway::start(&home, &["--anonymous"]);
    assert_eq!(anonymous.run(&call).code, 0, "anonymous use was allowed explicitly");
}

#[test]
fn a_token_store_that_cannot_be_read_does_not_count_as_empty() {
    let home = two_servers();
    let directory = home.at("state/switchboard/auth");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).unwrap();
    std::fs::write(directory.join("grants.json"), "damaged").unwrap();
    std::fs::set_permissions(directory.join("grants.json"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let refused = home.run(&["gateway", "--http", "127.0.0.1:0"]);
    assert_ne!(refused.code, 0, "{}", refused.err);
    assert!(refused.err.contains("grants.json") && !refused.err.contains("listening"), "{}", refused.err);
}
