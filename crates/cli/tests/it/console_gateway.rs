//! `switchboard gateway --console`: a read-only console of a running gateway.

use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard_testkit::RunningCommand;

use crate::commands::SWITCHBOARD;
use crate::console_client::{Console, wait_for};
use crate::home::Home;

const POLICY: &str = r#"
[policy]
default = "allow"
[[policy.rule]]
name = "no-echo"
effect = "deny"
tool = "echo"
[[policy.rule]]
effect = "deny"
tool = "never_called"
[[policy.limit]]
name = "calls"
operation = "call"
tool = "add"
rate = "1/h"
"#;

/// A gateway with a console.
struct ShownGateway {
    console: Console,
    url: String,
}

impl ShownGateway {
    fn start(home: &Home) -> Self {
        let config = format!(
            "audit = \"audit.jsonl\"\n[listen]\nhttp = \"127.0.0.1:0\"\n[servers.one]\ncommand = {SWITCHBOARD:?}\nargs = \
             [\"demo-server\"]\nenv = {{ API_KEY = \"canary-variable\" }}\n[servers.web]\ntype = \"http\"\n\
             url = \"http://127.0.0.1:9/mcp\"\n[views.small]\nservers = [\"one\"]\n{POLICY}"
        );
        std::fs::write(home.at("gateway.toml"), config).unwrap();
        let file = home.at("gateway.toml").display().to_string();
        let mut command = home.command(&["gateway", "--config", &file, "--anonymous", "--console"]);
        command.env_remove("XDG_RUNTIME_DIR");
        let running = RunningCommand::start(command);
        let url = running.err.line_after("listening at ");
        let line = running.err.line_after("the console is at ");
        let page = PathBuf::from(line.rsplit(": ").next().unwrap());
        let text = std::fs::read_to_string(page).unwrap();
        let token = text.split("#token=").nth(1).unwrap().split('"').next().unwrap();
        let token_file = home.at("token");
        std::fs::write(&token_file, token).unwrap();
        let address = line.split(';').next().unwrap().to_owned();
        Self { console: Console::connect(running, address, token_file), url }
    }

    fn run(&self, home: &Home, args: &[&str]) -> i32 {
        home.run(&[args, &["--url", &self.url]].concat()).code
    }
}

#[test]
fn it_shows_the_gateway_and_changes_nothing() {
    let home = Home::new();
    let gateway = ShownGateway::start(&home);
    let console = &gateway.console;
    console.wait_for_state("one", "ready");
    let snapshot = console.get("/api/snapshot").json();
    assert_eq!(
        (&snapshot["console"]["mode"], &snapshot["console"]["readOnly"]),
        (&json!("gateway"), &json!(true))
    );
    assert_eq!(snapshot["firstRun"], json!(null));
    let state = console.get("/api/gateway").json();
    assert_eq!(state["endpoints"], json!([gateway.url]));
    let views: Vec<&str> =
        state["views"].as_array().unwrap().iter().map(|view| view["path"].as_str().unwrap()).collect();
    assert_eq!(views, ["/mcp", "/mcp/small"]);
    for (path, body) in [
        ("/api/servers/one/reconnect", json!({})),
        ("/api/servers/one/enable", json!({})),
        ("/api/servers/one/disable", json!({})),
        ("/api/servers/one/disconnect", json!({})),
        ("/api/servers/one/doctor", json!({})),
        (
            "/api/servers/plan",
            json!({ "type": "url", "name": "x", "url": "https://a.example", "scope": "user" }),
        ),
        ("/api/servers", json!({ "type": "url", "name": "x", "url": "https://a.example", "scope": "user" })),
        ("/api/demo", json!({ "name": "demo" })),
        ("/api/tool/accept", json!({ "server": "one", "name": "add" })),
        ("/api/calls", json!({ "type": "resource", "server": "one", "uri": "x" })),
        ("/api/calls/1/cancel", json!({})),
        ("/api/complete", json!({})),
        ("/api/questions/1", json!({ "type": "decline" })),
        ("/api/tasks/cancel", json!({ "server": "one", "taskId": "1" })),
        ("/api/subscriptions", json!({ "server": "one", "uri": "x" })),
        ("/api/subscriptions/end", json!({ "server": "one", "uri": "x" })),
        ("/api/logins", json!({ "server": "web", "account": null })),
        ("/api/logins/1/cancel", json!({})),
        ("/api/logins/forget", json!({ "address": "a", "issuer": "b", "clientId": "c", "account": "d" })),
    ] {
        let reply = console.post(path, &body);
        assert_eq!((reply.status, reply.code().as_str()), (403, "read_only"), "{path}");
    }
    assert_eq!(console.server("one").unwrap()["state"]["type"], "ready");
    let (code, printed) = gateway.console.end();
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn refusals_limits_and_the_audit_log_are_shown() {
    let home = Home::new();
    let gateway = ShownGateway::start(&home);
    let console = &gateway.console;
    console.wait_for_state("one", "ready");
    assert_ne!(gateway.run(&home, &["call", "one__echo", "text=canary-argument"]), 0);
    assert_eq!(gateway.run(&home, &["call", "one__add", "a=1", "b=2"]), 0);
    assert_ne!(gateway.run(&home, &["call", "one__add", "a=1", "b=2"]), 0, "the limit is reached");
    let policy = wait_for("both refusals", || {
        let policy = console.get("/api/policy").json();
        (policy["denials"].as_array().unwrap().len() >= 2).then_some(policy)
    });
    let outcomes: Vec<(&str, &str)> = policy["denials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|denial| (denial["name"].as_str().unwrap(), denial["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(outcomes, [("add", "rateLimited"), ("echo", "denied")]);
    let unused: Vec<&Value> =
        policy["rules"].as_array().unwrap().iter().map(|rule| &rule["unused"]).collect();
    assert_eq!(unused, [&json!(false), &json!(true)], "{policy}");
    let test = json!({
        "principal": "ada", "issuer": null, "scopes": [], "view": null, "server": "one", "kind": "tool", "name": "echo",
        "argumentsJson": "{}",
    });
    let decided = console.post("/api/policy/test", &test).json();
    assert_eq!((&decided["decision"], &decided["rule"]), (&json!("deny"), &json!(1)), "{decided}");
    let limits = console.get("/api/gateway").json()["limits"].clone();
    let calls = limits.as_array().unwrap().iter().find(|limit| limit["name"] == "calls").unwrap();
    assert_eq!(calls["refused"], 1, "{limits}");
    let found = wait_for("the records", || {
        let page = console.get("/api/audit?q=outcome:rate_limited%20name:add").json();
        (page["records"].as_array().unwrap().len() == 1).then_some(page)
    });
    assert_eq!(found["records"][0]["server"], "one", "{found}");
    let page = console.get("/api/audit?limit=1").json();
    assert!(page["next"].is_string(), "{page}");
    let older =
        console.get(&format!("/api/audit?limit=500&before={}", page["next"].as_str().unwrap())).json();
    assert!(older["records"].as_array().unwrap().len() >= 2, "{older}");
    let mut text = older.to_string() + &policy.to_string();
    for path in ["/api/snapshot", "/api/gateway", "/api/logins"] {
        text += &console.get(path).body;
    }
    assert_eq!(text.find("canary"), None, "{text}");
}

#[test]
fn another_machine_cannot_reach_it() {
    let home = Home::with(json!({ "child": crate::home::demo() }));
    let ran = home.run(&["gateway", "--http", "127.0.0.1:0", "--console", "0.0.0.0:0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("is not a loopback address"), "{}", ran.err);
}
