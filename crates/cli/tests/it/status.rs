//! Status of configured servers: `status`, `--watch`, `reconnect`, `why` and `ps`.

use serde_json::{Value, json};
use switchboard_testkit::{PseudoTerminal, RunningCommand};

use crate::home::{Home, demo, script};
use crate::servers::{FakeHttpServer, HttpDemo};

fn of<'a>(statuses: &'a Value, name: &str) -> &'a Value {
    statuses.as_array().unwrap().iter().find(|status| status["name"] == name).unwrap()
}

#[test]
fn status_shows_every_server_with_its_status_and_next_step() {
    let web = HttpDemo::start(&[]);
    let locked = FakeHttpServer::start("401 Unauthorized\r\nwww-authenticate: Bearer scope=\"read\"", "");
    let home = Home::with(json!({
        "child": demo(),
        "web": {"url": web.url},
        "off": {"command": "x", "disabled": true},
        "missing": {"command": "no-such-program-anywhere"},
        "dies": script("echo bad color >&2; exit 3"),
        "unset": {"command": "x", "args": ["${NOT_SET_ANYWHERE}"]},
        "locked": {"url": locked.url, "headers": {"X-Key": "hunter2"}},
    }));
    let ran = home.run_ok(&["status", "--json"]);
    let all = ran.json();
    let words = |name| of(&all, name)["status"].as_str().unwrap().to_owned();
    for (name, word) in [
        ("child", "connected"),
        ("web", "connected"),
        ("off", "disabled"),
        ("missing", "failed"),
        ("dies", "failed"),
        ("unset", "failed"),
        ("locked", "needs-auth"),
    ] {
        assert_eq!(words(name), word, "{name}: {all}");
    }
    assert_eq!(of(&all, "child")["serverInfo"]["name"], "switchboard-demo");
    assert_eq!(of(&all, "child")["tools"].as_array().unwrap().len(), 10);
    assert!(of(&all, "unset")["error"].as_str().unwrap().contains("NOT_SET_ANYWHERE"));
    assert!(!ran.out.contains("hunter2"), "{}", ran.out);
    let table = home.run_ok(&["status"]).out;
    for line in [
        "✔ connected",
        "⊘ disabled",
        "✘ failed",
        "! needs-auth",
        "switchboard enable off",
        "switchboard doctor missing",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
}

#[test]
fn without_servers_a_hint_is_printed() {
    let home = Home::new();
    let ran = home.run_ok(&["status"]);
    assert!(ran.err.contains("switchboard add"), "{}", ran.err);
    assert_eq!(home.run_ok(&["status", "--json"]).json(), json!([]));
}

#[test]
fn watch_prints_each_change_and_follows_the_files() {
    let home = Home::with(json!({"child": demo()}));
    let mut running = RunningCommand::start(home.command(&["status", "--watch"]));
    let at = running.out.wait_for("child connected, 10 tools", 0);
    home.write("config/switchboard/mcp.json", &json!({"mcpServers": {"other": demo()}}));
    running.out.wait_for("other connected, 10 tools", at);
    running.out.wait_for("child removed", at);
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
}

#[test]
fn watch_with_json_prints_one_object_per_line() {
    let home = Home::with(json!({"child": demo()}));
    let mut running = RunningCommand::start(home.command(&["status", "--watch", "--json"]));
    let at = running.out.wait_for(r#""status":"connected""#, 0);
    home.write("config/switchboard/mcp.json", &json!({"mcpServers": {}}));
    running.out.wait_for(r#"{"name":"child","removed":true}"#, at);
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    for line in running.out.all().lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["name"], "child");
    }
}

#[test]
fn watch_on_a_terminal_redraws_the_table() {
    let home = Home::with(json!({"child": demo()}));
    let mut command = home.command(&["status", "--watch"]);
    command.env("NO_COLOR", "1").env_remove("COLUMNS");
    let mut terminal = PseudoTerminal::start(command, 120);
    terminal.expect_text("connected");
    home.write("config/switchboard/mcp.json", &json!({"mcpServers": {"other": demo()}}));
    // Moves the cursor to the start of the table and redraws it.
    terminal.expect_text("\u{1b}[2A\u{1b}[J");
    terminal.expect_text("other");
    terminal.interrupt();
    assert_eq!(terminal.finish().0, 130);
}

#[test]
fn reconnect_prints_the_status() {
    let home = Home::with(json!({"child": demo(), "dies": script("echo bad color >&2; exit 3")}));
    let ran = home.run_ok(&["reconnect", "child"]);
    assert!(ran.out.contains("child connected, 10 tools, switchboard-demo"), "{}", ran.out);
    let ran = home.run(&["reconnect", "dies"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("bad color") && ran.err.contains("switchboard doctor dies"), "{}", ran.err);
    assert_eq!(home.run(&["reconnect", "nobody"]).code, 1);
}

#[test]
fn why_explains_a_missing_tool() {
    let mut careful = demo();
    careful["denyTools"] = json!(["e*"]);
    let home =
        Home::with(json!({"open": demo(), "careful": careful, "off": {"command": "x", "disabled": true}}));
    for (tool, said) in [
        ("open/add", "mcp__open__add is available"),
        ("careful/echo", "the rule \"e*\" denies it"),
        ("mcp__careful__echo", "the rule \"e*\" denies it"),
        ("no_such_tool", "\"off\" is disabled"),
        ("mcp__open__ecko", "did you mean mcp__open__echo?"),
        ("open", "open is a server: "),
    ] {
        let ran = home.run_ok(&["why", tool]);
        assert!(ran.out.contains(said), "{tool}: {}", ran.out);
    }
    let output = home.run_ok(&["why", "open/add", "--json"]).json();
    assert_eq!((&output["shown"], &output["server"]), (&json!(true), &json!("open")));
}

#[test]
fn ps_lists_running_servers() {
    let home = Home::with(json!({"child": {"command": demo()["command"], "args": ["demo-server"]}}));
    let mut running = RunningCommand::start(home.command(&["status", "--watch"]));
    running.out.wait_for("child connected", 0);
    let host = running.child.id();
    let all = home.run_ok(&["ps", "--json"]).json();
    let ours = all.as_array().unwrap().iter().find(|process| process["host"] == host).unwrap();
    assert_eq!(ours["servers"], json!(["child"]));
    assert!(ours["pid"].as_u64().unwrap() > 1 && ours["uptimeSecs"].is_u64(), "{ours}");
    assert!(home.run_ok(&["ps"]).out.contains("child"));
    running.interrupt();
    running.wait();
    let all = home.run_ok(&["ps", "--json"]).json();
    assert!(!all.as_array().unwrap().iter().any(|process| process["host"] == host), "{all}");
}
