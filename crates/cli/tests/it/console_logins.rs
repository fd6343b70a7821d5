//! Logins in the console: steps, identity, forgetting; and no secret in any response.

use serde_json::{Value, json};
use switchboard_testkit::ProtectedServer;

use crate::console_client::{Console, wait_for};
use crate::home::{Home, demo};
use crate::login_steps::get;

/// Starts a login and returns its number and the first step that the user sees.
fn start_login(console: &Console, server: &str) -> (u64, Value) {
    let started = console.post("/api/logins", &json!({ "server": server, "account": null }));
    assert_eq!(started.status, 200, "{started:?}");
    let attempt = started.json()["attempt"].as_u64().unwrap();
    (attempt, wait_for_step(console, attempt, |step| step != "starting"))
}

/// Waits until an attempt has a step, and returns it.
fn wait_for_step(console: &Console, attempt: u64, is_it: impl Fn(&str) -> bool) -> Value {
    wait_for("a step of the login", || {
        let snapshot = console.get("/api/snapshot").json();
        let attempts = snapshot["loginAttempts"].as_array().unwrap();
        let step = &attempts.iter().find(|other| other["attempt"] == attempt)?["step"];
        is_it(step["type"].as_str().unwrap()).then(|| step.clone())
    })
}

/// Logs in as a browser would.
fn log_in(console: &Console, server: &str) {
    let (attempt, step) = start_login(console, server);
    assert_eq!(step["type"], "openUrl", "{step}");
    let head = get(step["url"].as_str().unwrap());
    let callback = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned();
    assert!(get(&callback).starts_with("HTTP/1.1 200 OK"));
    let done = wait_for_step(console, attempt, |step| step == "done" || step == "failed");
    assert_eq!(done, json!({ "type": "done", "account": "default" }));
}

#[test]
fn a_login_connects_the_server_and_forgetting_it_ends_that() {
    let protected = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": protected.url() }, "child": demo() }));
    let console = Console::start(&home, &[]);
    let server = console.wait_for_state("notes", "needsAuth");
    assert_eq!(server["identity"]["type"], "none");
    log_in(&console, "notes");
    console.wait_for_state("notes", "ready");
    let identity = wait_for("the identity", || {
        Some(console.server("notes")?["identity"].clone()).filter(|identity| identity["type"] == "oauth")
    });
    assert_eq!((&identity["account"], &identity["issuer"]), (&json!("default"), &json!(protected.issuer())));
    let row = console.get("/api/logins").json()["logins"][0].clone();
    assert_eq!((&row["servers"], &row["state"]["type"]), (&json!(["notes"]), &json!("active")), "{row}");
    let forget = json!({
        "address": row["address"], "issuer": row["issuer"], "clientId": row["clientId"], "account": "other",
    });
    assert_eq!(console.post("/api/logins/forget", &forget).code(), "unknown_login");
    let forget = json!({
        "address": row["address"], "issuer": row["issuer"], "clientId": row["clientId"], "account": row["account"],
    });
    assert_eq!(console.post("/api/logins/forget", &forget).status, 200);
    assert_eq!(console.get("/api/logins").json()["logins"], json!([]));
    assert!(!protected.revocations().is_empty(), "its tokens are revoked");
    assert!(home.run_ok(&["accounts", "--json"]).json().as_array().unwrap().is_empty());
    console.wait_for_state("notes", "needsAuth");
}

#[test]
fn an_attempt_is_cancelled_and_only_one_runs_per_server() {
    let protected = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": protected.url() }, "child": demo() }));
    let console = Console::start(&home, &[]);
    console.wait_for_state("notes", "needsAuth");
    let (attempt, step) = start_login(&console, "notes");
    assert_eq!(step["type"], "openUrl");
    let second = console.post("/api/logins", &json!({ "server": "notes", "account": null }));
    assert_eq!((second.status, second.code().as_str()), (409, "already_running"));
    assert_eq!(console.post(&format!("/api/logins/{attempt}/cancel"), &json!({})).status, 200);
    assert_eq!(wait_for_step(&console, attempt, |step| step != "openUrl")["type"], "cancelled");
    assert_eq!(console.post(&format!("/api/logins/{attempt}/cancel"), &json!({})).status, 404);
    assert_eq!(console.post("/api/logins", &json!({ "server": "nobody", "account": null })).status, 404);
    // A program gets its credentials from its environment.
    let (_, step) = start_login(&console, "child");
    assert_eq!(step["type"], "failed", "{step}");
    log_in(&console, "notes");
}

#[test]
fn a_device_code_is_shown_if_the_browser_is_elsewhere() {
    let protected = ProtectedServer::start(3600);
    protected.support_device(&["authorization_pending"]);
    let home = Home::with(json!({ "notes": { "type": "http", "url": protected.url() } }));
    let console = Console::start(&home, &[]);
    console.wait_for_state("notes", "needsAuth");
    let (attempt, step) = start_login(&console, "notes");
    assert_eq!((&step["type"], &step["userCode"]), (&json!("deviceCode"), &json!("WDJB-MJHT")), "{step}");
    wait_for_step(&console, attempt, |step| step == "done");
    console.wait_for_state("notes", "ready");
}

#[test]
fn no_response_has_a_secret() {
    let protected = ProtectedServer::start(3600);
    let mut child = demo();
    child["env"] = json!({ "API_KEY": "canary-variable" });
    let home = Home::with(json!({
        "notes": { "type": "http", "url": protected.url() },
        "child": child,
        "web": {
            "type": "http", "url": "http://127.0.0.1:9/mcp?token=canary-query",
            "headers": { "Authorization": "Bearer canary-header" },
        },
    }));
    let console = Console::start(&home, &[]);
    console.wait_for_state("notes", "needsAuth");
    log_in(&console, "notes");
    console.wait_for_state("notes", "ready");
    console.wait_for_state("child", "ready");
    for server in ["notes", "child", "web"] {
        let run = console.post(&format!("/api/servers/{server}/doctor"), &json!({})).json()["run"].clone();
        console.events_until(0, |event| event["type"] == "doctorDone" && event["run"] == run);
    }
    let mut text = String::new();
    for path in [
        "/api/snapshot",
        "/api/catalog",
        "/api/logins",
        "/api/policy",
        "/api/traffic?after=0&limit=2000",
        "/api/servers/child/stderr",
        "/api/why?kind=server&name=notes",
        "/api/why?kind=server&name=web",
        "/api/tool?server=notes&name=take_note",
    ] {
        let reply = console.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        text += &format!("{path}: {}\n", reply.body);
    }
    let last = console.get("/api/snapshot").json()["sequence"].as_u64().unwrap();
    assert_eq!(console.post("/api/servers/child/reconnect", &json!({})).status, 202);
    let events =
        console.events_until(0, |event| event["type"] == "server" && event["server"]["name"] == "child");
    assert!(last > 0);
    text += &serde_json::to_string(&events).unwrap();
    let (_, printed) = console.end();
    text += &printed;
    assert!(text.contains("API_KEY") && text.contains("Authorization"), "names are shown: {text}");
    assert_eq!(text.find("canary"), None, "{text}");
}
