//! Diagnosis of servers that do not connect: the failed step, its exit code and the next step.

use serde_json::{Value, json};
use switchboard_testkit::{ReservedPort, RunningCommand};

use crate::commands::run;
use crate::home::{Home, demo, script};
use crate::servers::{FakeHttpServer, HttpDemo};

/// Returns the steps of a report with their success.
fn steps(report: &Value) -> Vec<(&str, bool)> {
    report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["step"].as_str().unwrap(), step["ok"].as_bool().unwrap()))
        .collect()
}

#[test]
fn a_program_that_connects_passes_every_step() {
    let mut entry = demo();
    entry["env"] = json!({"TOKEN": "hunter2", "PLACE": "${PLACE:-here}"});
    let home = Home::with(json!({"good": entry}));
    let ran = home.run_ok(&["doctor", "good"]);
    for line in ["✓ entry", "✓ approval", "✓ variables", "✓ program", "✓ start", "✓ handshake", "✓ tools"]
    {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains("passes") && ran.out.contains("TOKEN"), "{}", ran.out);
    assert!(ran.out.trim_end().ends_with("good connects"), "{}", ran.out);
    assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{}", ran.out);
    let report = home.run_ok(&["doctor", "good", "--json"]).json();
    assert_eq!((&report["ok"], &report["next"]), (&json!(true), &Value::Null));
    assert!(steps(&report).iter().all(|(_, ok)| *ok), "{report}");
}

#[test]
fn a_server_at_a_url_passes_its_own_steps() {
    let web = HttpDemo::start(&[]);
    let home = Home::with(json!({"web": {"url": web.url}}));
    let report = home.run_ok(&["doctor", "web", "--json"]).json();
    let names: Vec<&str> = steps(&report).into_iter().map(|(step, _)| step).collect();
    assert_eq!(names, ["entry", "approval", "address", "name", "connection", "handshake", "tools"]);
}

#[test]
fn the_failed_step_is_the_last_and_has_a_next_step() {
    let refused = ReservedPort::new();
    let port = refused.address().port();
    let locked = FakeHttpServer::start("401 Unauthorized\r\nwww-authenticate: Bearer", "");
    let lost = FakeHttpServer::start("404 Not Found\r\ncontent-type: text/plain", "nothing here");
    let web = HttpDemo::start(&[]);
    let home = Home::with(json!({
        "plain": {"url": web.url.replace("http://", "https://")},
        "missing": {"command": "no-such-program-anywhere"},
        "unset": {"command": "sh", "args": ["${NOT_SET_ANYWHERE}"]},
        "off": {"command": "sh", "disabled": true},
        "dies": script("echo no such color >&2; exit 3"),
        "mute": script("cat > /dev/null"),
        "gone": {"url": format!("http://127.0.0.1:{port}/mcp")},
        "locked": {"url": locked.url},
        "lost": {"url": lost.url},
        "broken": {"command": 7},
        "nowhere": {"command": "sh", "cwd": "/no/such/place"},
        "inside": {"type": "sdk", "name": "x"},
    }));
    home.write("project/.mcp.json", &json!({"mcpServers": {"theirs": demo()}}));
    let cases = [
        ("missing", 4, "program", "install it"),
        ("unset", 1, "variables", "export NOT_SET_ANYWHERE="),
        ("off", 1, "enabled", "switchboard enable off"),
        ("dies", 4, "handshake", "stderr"),
        ("mute", 4, "handshake", "startupTimeout"),
        ("gone", 4, "connection", "start the server"),
        ("plain", 4, "tls", "certificate"),
        ("locked", 3, "login", "Authorization"),
        ("lost", 4, "http", "check the URL path"),
        ("broken", 1, "entry", "correct its entry"),
        ("nowhere", 4, "program", "cwd"),
        ("inside", 1, "reach", "application"),
        ("theirs", 1, "approval", "switchboard approve theirs"),
        ("nobody", 1, "entry", "configured servers"),
    ];
    for (name, code, step, next) in cases {
        // Only an unresponsive server runs into the timeout.
        let patience: &[&str] = if name == "mute" { &["--timeout", "1"] } else { &[] };
        let ran = home.run(&[&["doctor", name, "--json"], patience].concat());
        assert_eq!(ran.code, code, "{name}: {} {}", ran.out, ran.err);
        let report = ran.json();
        assert_eq!(steps(&report).last(), Some(&(step, false)), "{name}: {report}");
        assert!(report["next"].as_str().unwrap().contains(next), "{name}: {report}");
        assert!(steps(&report).iter().rev().skip(1).all(|(_, ok)| *ok), "{name}: {report}");
    }
    let output = home.run(&["doctor", "dies"]);
    assert!(output.out.contains("✓ start") && output.out.contains("✗ handshake"), "{}", output.out);
    assert!(output.out.contains("│ no such color"), "{}", output.out);
    assert!(output.out.trim_end().lines().last().unwrap().starts_with("next: "), "{}", output.out);
    assert_eq!(output.err, "", "what is wrong was said once");
}

#[test]
fn a_header_helper_is_a_step_of_its_own() {
    let web = HttpDemo::start(&[]);
    let home = Home::with(json!({
        "good": {"url": web.url, "headersHelper": "echo '{\"X-Team\": \"hunter2\"}'"},
        "bad": {"url": web.url, "headersHelper": "echo no vault >&2; exit 3"},
    }));
    let ran = home.run_ok(&["doctor", "good", "--json"]);
    let report = ran.json();
    let said = report["steps"].as_array().unwrap().iter().find(|step| step["step"] == "headers").unwrap();
    assert_eq!(said["said"], "its helper prints x-team");
    assert!(!ran.out.contains("hunter2"), "{report}");
    let report = home.run(&["doctor", "bad", "--json"]).json();
    assert_eq!(steps(&report).last(), Some(&("headers", false)), "{report}");
    assert!(report["steps"].to_string().contains("no vault"), "{report}");
}

#[test]
fn ctrl_c_ends_the_diagnosis() {
    let home = Home::new();
    let fifo = home.at("started");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let sleeper = script(&format!("echo $$ > {}; exec sleep 600", fifo.display()));
    home.write("config/switchboard/mcp.json", &json!({"mcpServers": {"sleeper": sleeper}}));
    let mut running = RunningCommand::start(home.command(&["doctor", "sleeper"]));
    let child: i32 = std::fs::read_to_string(&fifo).unwrap().trim().parse().unwrap();
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    assert!(switchboard_testkit::exits_in_time(rustix::process::Pid::from_raw(child).unwrap()));
}

/// Returns the last step of a report about a server given on the command line, its message and the next step.
fn diagnosed(args: &[&str]) -> (String, String, String) {
    let ran = run(&[&["doctor", "--json"], args].concat());
    let report = ran.json();
    let last = report["steps"].as_array().unwrap().last().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&last["step"]), text(&last["said"]), text(&report["next"]))
}

#[test]
fn c9_any_server_is_examined_and_the_cause_is_found() {
    let failing = FakeHttpServer::start("500 Internal Server Error", "boom");
    let (step, said, next) = diagnosed(&[&failing.url]);
    assert_eq!(step, "http");
    assert!(
        said.contains("500 Internal Server Error: boom") && next.contains("read its log"),
        "{said} {next}"
    );
    let moved = FakeHttpServer::start("302 Found\r\nlocation: https://login.example/", "");
    let (_, said, next) = diagnosed(&["--url", &moved.url]);
    assert!(said.contains("login.example") && next.contains("redirects to"), "{said} {next}");
    let folder = tempfile::tempdir().unwrap();
    let (step, said, next) = diagnosed(&["--", folder.path().to_str().unwrap()]);
    assert_eq!(step, "program");
    assert!(said.contains("is a directory") && !next.contains("chmod"), "{said} {next}");
    let (step, said, next) = diagnosed(&["--", "sh", "-c", "echo Listening on port 3000; exit 0"]);
    assert_eq!(step, "handshake");
    assert!(said.contains("\"Listening on port 3000\"") && next.contains("stderr"), "{said} {next}");
    let port = ReservedPort::new();
    let free = port.address();
    let (step, said, _) = diagnosed(&[&format!("http://{free}/mcp")]);
    assert_eq!(step, "connection");
    assert!(said.contains(&free.to_string()), "{said}");
    let (step, _, next) = diagnosed(&["https://no-such-host.invalid/mcp"]);
    assert_eq!(step, "name");
    assert!(next.contains("spelling") && !next.contains("certificate"), "{next}");
    let plain = FakeHttpServer::start("200 OK", "");
    let (step, said, next) = diagnosed(&[&plain.url.replace("http://", "https://")]);
    assert_eq!(step, "tls");
    assert!(said.contains("no secure connection") && next.contains("https"), "{said} {next}");
    let good = run(&["doctor", "--", crate::commands::SWITCHBOARD, "demo-server"]);
    assert_eq!(good.code, 0, "{}", good.out);
    assert!(good.out.contains("✓ tools"), "{}", good.out);
}
