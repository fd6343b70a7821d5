//! `switchboard console`: start, token and key, servers, diagnosis, rules, end.

use serde_json::{Value, json};
use switchboard_testkit::{is_running, processes_with_argument, unique_seconds};

use crate::console_client::{Console, wait_for};
use crate::home::{Home, demo, is_private, script};

#[test]
fn the_token_is_in_a_private_file_that_is_removed_after_use() {
    let home = Home::with(json!({ "child": demo() }));
    let console = Console::start(&home, &[]);
    assert!(console.address.starts_with("http://127.0.0.1:"), "{}", console.address);
    wait_for("the removal of the token file", || (!console.token_file.exists()).then_some(()));
    assert!(is_private(console.token_file.parent().unwrap()));
    // Each token works once.
    let second = console.post("/api/token", &json!({})).json()["token"].as_str().unwrap().to_owned();
    assert_eq!(console.post("/api/key", &json!({ "token": second })).status, 200);
    let again = console.post("/api/key", &json!({ "token": second }));
    assert_eq!((again.status, again.code().as_str()), (401, "token_invalid"));
    let argv = std::fs::read(format!("/proc/{}/cmdline", console.command.child.id())).unwrap();
    assert!(!String::from_utf8_lossy(&argv).contains(&second));
    let (code, printed) = console.end();
    assert_eq!(code, Some(0), "{printed}");
    assert!(!printed.contains(&second), "{printed}");
}

#[test]
fn without_a_terminal_the_address_is_in_a_file_and_not_in_the_output() {
    let home = Home::with(json!({ "child": demo() }));
    let mut command = crate::login_steps::without_browser(&home, &["console"]);
    command.env_remove("XDG_RUNTIME_DIR");
    let running = switchboard_testkit::RunningCommand::start(command);
    let line = running.err.line_after("the console is at ");
    let path = std::path::PathBuf::from(line.rsplit(": ").next().unwrap());
    assert!(is_private(&path), "{line}");
    let page = std::fs::read_to_string(&path).unwrap();
    let token = page.split("#token=").nth(1).unwrap().split('"').next().unwrap();
    let address = line.split(';').next().unwrap().to_owned();
    let token_file = home.at("token");
    std::fs::write(&token_file, token).unwrap();
    let console = Console::connect(running, address, token_file);
    wait_for("the removal of the page", || (!path.exists()).then_some(()));
    let (code, printed) = console.end();
    assert_eq!(code, Some(0), "{printed}");
    assert!(!printed.contains(token), "{printed}");
}

#[test]
fn requests_of_other_pages_are_rejected() {
    let home = Home::new();
    let console = Console::start(&home, &[]);
    let with = |headers: &[(&str, &str)]| console.request("GET", "/api/snapshot", None, headers);
    assert_eq!(with(&[]).status, 200);
    for (headers, status, code) in [
        (&[("authorization", "Bearer wrong")][..], 401, "key_expired"),
        (&[("host", "evil.example")], 421, "host_rejected"),
        (&[("origin", "http://127.0.0.1:1")], 403, "origin_rejected"),
        (&[("sec-fetch-site", "cross-site")], 403, "origin_rejected"),
    ] {
        let reply = with(headers);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{headers:?} {reply:?}");
    }
    let plain = console.request("POST", "/api/demo", Some("{}"), &[("content-type", "text/plain")]);
    assert_eq!((plain.status, plain.code().as_str()), (415, "content_type"));
    assert_eq!(console.get("/api/nothing").status, 404);
}

#[test]
fn servers_are_shown_and_reconnected_and_switched_off() {
    let home = Home::with(json!({ "child": demo() }));
    let console = Console::start(&home, &[]);
    let server = console.wait_for_state("child", "ready");
    assert_eq!(server["scope"], "user");
    assert_eq!(server["identity"]["type"], "process");
    let pid = |server: &Value| u32::try_from(server["transport"]["pid"].as_u64().unwrap()).unwrap();
    let before = pid(&server);
    assert!(is_running(before));
    assert_eq!(console.post("/api/servers/child/reconnect", &json!({})).status, 202);
    wait_for("the end of the process", || (!is_running(before)).then_some(()));
    let after = wait_for("another process", || {
        let server = console.server("child")?;
        (server["state"]["type"] == "ready").then(|| pid(&server)).filter(|pid| *pid != before)
    });
    assert_eq!(console.post("/api/servers/child/disable", &json!({})).status, 202);
    wait_for("its tools are gone", || console.server("child").filter(|server| server["enabled"] == false));
    assert_eq!(console.post("/api/servers/child/disconnect", &json!({})).status, 202);
    wait_for("the end of the process", || (!is_running(after)).then_some(()));
    let unknown = console.post("/api/servers/nobody/reconnect", &json!({}));
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "unknown_server"));
}

#[test]
fn changed_files_are_applied() {
    let home = Home::with(json!({ "child": demo() }));
    let console = Console::start(&home, &[]);
    console.wait_for_state("child", "ready");
    home.write("config/switchboard/mcp.json", &json!({ "mcpServers": { "other": demo() } }));
    console.wait_for_state("other", "ready");
    assert_eq!(console.server("child"), None);
}

#[test]
fn a_server_of_the_command_line_is_shown_alone() {
    let home = Home::with(json!({ "child": demo() }));
    let console = Console::start(&home, &["--", crate::commands::SWITCHBOARD, "demo-server"]);
    console.wait_for_state("switchboard", "ready");
    assert_eq!(console.server("child"), None);
    let recording = home.at("session.talk").display().to_string();
    let one = Console::start(&home, &["child", "--record", &recording]);
    one.wait_for_state("child", "ready");
    assert_eq!(one.end().0, Some(0));
    assert!(home.read("session.talk").contains("tools/list"));
    assert_eq!(home.run(&["console", "nobody"]).code, 1);
}

#[test]
fn a_project_server_waits_for_approval() {
    let home = Home::new();
    let seconds = unique_seconds();
    home.write(
        "project/.mcp.json",
        &json!({ "mcpServers": { "shared": { "command": "sleep", "args": [seconds] } } }),
    );
    let console = Console::start(&home, &[]);
    let server = console.wait_for_state("shared", "awaitingApproval");
    assert_eq!(server["state"]["command"], "switchboard approve shared");
    console.post("/api/servers/shared/enable", &json!({}));
    console.post("/api/servers/shared/reconnect", &json!({}));
    let events = console.events_until(0, |event| event["type"] == "server");
    assert!(!events.is_empty());
    assert_eq!(processes_with_argument(&seconds), Vec::<u32>::new(), "it was not started");
}

#[test]
fn the_doctor_reports_each_step() {
    let home = Home::with(json!({ "child": demo(), "dies": script("echo bad color >&2; exit 3") }));
    let console = Console::start(&home, &[]);
    console.wait_for_state("child", "ready");
    let examine = |name: &str| {
        let run = console.post(&format!("/api/servers/{name}/doctor"), &json!({})).json()["run"].clone();
        let is_last = |event: &Value| event["type"] == "doctorDone" && event["run"] == run;
        let events = console.events_until(0, is_last);
        let steps = events.iter().filter(|event| event["type"] == "doctorStep" && event["run"] == run);
        let steps: Vec<Value> = steps.map(|event| event["step"].clone()).collect();
        (steps, events.last().unwrap()["outcome"].clone())
    };
    let (steps, outcome) = examine("child");
    let names: Vec<&str> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(names, ["entry", "approval", "program", "environment", "start", "handshake", "tools"]);
    assert_eq!(outcome, json!({ "ok": true, "nextStep": null }));
    let (steps, outcome) = examine("dies");
    let last = steps.last().unwrap();
    assert_eq!((&last["ok"], outcome["ok"].as_bool()), (&json!(false), Some(false)));
    assert!(last["stderr"].as_str().unwrap().contains("bad color"), "{last}");
    assert!(outcome["nextStep"].is_string(), "{outcome}");
    assert_eq!(console.post("/api/servers/nobody/doctor", &json!({})).status, 404);
}

#[test]
fn the_rules_decide_about_a_test() {
    let home = Home::new();
    home.write(
        "config/switchboard/mcp.json",
        &json!({
            "mcpServers": { "child": demo() },
            "permissions": { "deny": ["child/echo"], "ask": ["child/add"], "allow": ["nobody/*"] },
        }),
    );
    let console = Console::start(&home, &[]);
    console.wait_for_state("child", "ready");
    let policy = console.get("/api/policy").json();
    let rules = policy["rules"].as_array().unwrap();
    let unused: Vec<bool> = rules.iter().map(|rule| rule["unused"].as_bool().unwrap()).collect();
    assert_eq!((rules.len(), unused.iter().filter(|unused| **unused).count()), (3, 1), "{policy}");
    for (name, decision) in [("echo", "deny"), ("add", "ask"), ("countdown", "allow")] {
        let test = json!({
            "principal": null, "issuer": null, "scopes": [], "view": null, "server": "child", "kind": "tool", "name": name,
            "argumentsJson": null,
        });
        let decided = console.post("/api/policy/test", &test).json();
        assert_eq!(decided["decision"], decision, "{name}: {decided}");
        assert!(decided["sentence"].is_string(), "{decided}");
    }
    let other = json!({
        "principal": null, "issuer": null, "scopes": [], "view": null, "server": "child", "kind": "prompt", "name": "x",
        "argumentsJson": null,
    });
    assert_eq!(console.post("/api/policy/test", &other).code(), "invalid_arguments");
    assert_eq!(console.get("/api/gateway").status, 404);
    assert_eq!(console.get("/api/audit").status, 404);
}

#[test]
fn sigterm_leaves_no_process() {
    let home =
        Home::with(json!({ "child": demo(), "web": { "type": "http", "url": "http://127.0.0.1:9/mcp" } }));
    let console = Console::start(&home, &[]);
    let server = console.wait_for_state("child", "ready");
    assert_eq!(console.post("/api/demo", &json!({ "name": "demo" })).status, 201);
    let demo = console.wait_for_state("demo", "ready");
    let pids =
        [&server, &demo].map(|server| u32::try_from(server["transport"]["pid"].as_u64().unwrap()).unwrap());
    assert!(pids.iter().all(|pid| is_running(*pid)));
    let (code, printed) = console.end();
    assert_eq!(code, Some(0), "{printed}");
    for pid in pids {
        wait_for("the end of the server", || (!is_running(pid)).then_some(()));
    }
}
