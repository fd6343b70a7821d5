//! Servers: what is shown of them, and what changes them.

use serde_json::{Value, json};
use switchboard_host::ServerSpec;
use switchboard_host::StatusKind;
use switchboard_testkit::{is_running, trial_leaving_tasks, trials, wait_until};

use crate::page::{Events, Page};
use crate::workshop::{LEGACY, MODERN, Running, child};

trials! {
    trial_leaving_tasks:
        servers_of_both_eras_and_transports_are_described,
        a_server_is_disabled_enabled_reconnected_and_stopped,
        stderr_is_kept_and_followed,
        a_failed_server_says_why,
        values_of_variables_are_masked_in_what_servers_say,
}

fn find<'a>(servers: &'a Value, name: &str) -> &'a Value {
    servers.as_array().unwrap().iter().find(|server| server["name"] == name).unwrap()
}

async fn server_state(events: &Events, name: &str, state: &str) -> Value {
    let fits = |event: &Value| {
        event["type"] == "server"
            && event["server"]["name"] == name
            && event["server"]["state"]["type"] == state
    };
    events.wait_for(state, fits).await["server"].clone()
}

async fn servers_of_both_eras_and_transports_are_described() {
    let (modern, legacy) = (Running::new(MODERN), Running::new(LEGACY));
    let secret = "5ecret-value";
    let program = child("legacy").env("API_KEY", secret);
    let servers = [
        ("modern", modern.spec()),
        ("legacy", legacy.spec().deny_tools(["fail", "nothing_*"])),
        ("program", ServerSpec::from(program)),
    ];
    let page = Page::open(|host| host, servers).await;
    let snapshot = page.fetch("/api/snapshot").await;
    assert!(!snapshot.to_string().contains(secret), "no value of a variable is shown");
    let (modern, legacy, program) = (
        find(&snapshot["servers"], "modern"),
        find(&snapshot["servers"], "legacy"),
        find(&snapshot["servers"], "program"),
    );
    assert_eq!(
        (&modern["session"]["era"], &modern["session"]["revision"]),
        (&json!("modern"), &json!("2026-07-28"))
    );
    assert_eq!(
        (&modern["state"]["type"], &modern["transport"]["type"]),
        (&json!("ready"), &json!("inProcess"))
    );
    assert_eq!(modern["session"]["serverName"], "workshop");
    assert_eq!(modern["session"]["instructions"], "Use with care.");
    assert!(modern["session"]["connectedAtMs"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(legacy["session"]["era"], "legacy");
    assert_eq!((&legacy["counts"]["tools"], &legacy["counts"]["hiddenTools"]), (&json!(14), &json!(1)));
    assert_eq!((&legacy["counts"]["resources"], &legacy["counts"]["prompts"]), (&json!(1), &json!(1)));
    assert_eq!(legacy["unmatchedRules"], json!(["nothing_*"]));
    assert!(modern["tokens"].as_u64() > legacy["tokens"].as_u64(), "hidden tools cost no tokens");
    assert_eq!(program["transport"]["type"], "stdio");
    let pid = u32::try_from(program["transport"]["pid"].as_u64().unwrap()).unwrap();
    assert!(is_running(pid));
    let names: Vec<&str> =
        program["identity"]["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(program["identity"]["type"] == "environment" && names.contains(&"API_KEY"), "{program}");
    page.close().await;
}

async fn a_server_is_disabled_enabled_reconnected_and_stopped() {
    let page = Page::open(|host| host, [("shop", child("modern"))]).await;
    let events = page.events(None).await;
    let pid = page.host.child("shop").unwrap().unwrap().pid().unwrap();
    assert_eq!(page.post("/api/servers/shop/disable", &json!({})).await.0, 202);
    let disabled = server_state(&events, "shop", "disabled").await;
    assert_eq!((&disabled["enabled"], &disabled["counts"]["tools"]), (&json!(false), &json!(0)));
    assert!(page.host.server_tools().is_empty());
    let why = page.fetch("/api/why?kind=tool&server=shop&name=echo").await;
    assert_eq!((&why["verdict"], &why["checks"][0]["outcome"]), (&json!("hidden"), &json!("fail")), "{why}");
    assert_eq!(page.post("/api/servers/shop/enable", &json!({})).await.0, 202);
    wait_until("the tools", || !page.host.server_tools().is_empty()).await;
    assert_eq!(page.post("/api/servers/shop/reconnect", &json!({})).await.0, 202);
    wait_until("another process", || {
        let child = page.host.child("shop").unwrap();
        child.and_then(|child| child.pid()).is_some_and(|now| now != pid)
    })
    .await;
    assert_eq!(page.post("/api/servers/shop/disconnect", &json!({})).await.0, 202);
    let is_stopped =
        |event: &Value| event["type"] == "server" && event["server"]["state"]["type"] == "stopped";
    events.wait_for("the end", is_stopped).await;
    assert_eq!(page.host.servers().len(), 1, "it can be reconnected");
    for action in ["reconnect", "enable", "disable", "disconnect"] {
        let (status, error) = page.post(&format!("/api/servers/nobody/{action}"), &json!({})).await;
        assert_eq!((status, &error["code"]), (404, &json!("unknown_server")));
    }
    page.close().await;
}

async fn stderr_is_kept_and_followed() {
    let page = Page::open(|host| host, [("shop", child("chatty"))]).await;
    let events = page.events(None).await;
    let event = events.wait_for("lines", |event| event["type"] == "stderr").await;
    assert!(event["lines"].as_array().unwrap().len() <= 200, "an event is bounded");
    let tail = page.fetch("/api/servers/shop/stderr").await;
    let lines = tail["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 500);
    assert_eq!(lines.last().unwrap()["text"], "line 600");
    assert_eq!(tail["dropped"], 100);
    assert_eq!(page.get("/api/servers/nowhere/stderr").await.0, 404);
    page.close().await;
}

async fn values_of_variables_are_masked_in_what_servers_say() {
    let secret = "pa\"ss-5ecret";
    for part in ["modern", "legacy"] {
        let page = Page::open(|host| host, [("shop", child(part).env("API_KEY", secret))]).await;
        let events = page.events(None).await;
        let arguments = json!({ "text": secret, "token": "kept" }).to_string();
        let call = page.call("shop", "tell", &arguments).await;
        let question = events.question(0).await;
        assert_eq!(question["body"]["message"], "Is it •••?", "{question}");
        let number = question["question"].as_u64().unwrap();
        assert_eq!(
            page.post(&format!("/api/questions/{number}"), &json!({ "type": "decline" })).await.0,
            200
        );
        assert_eq!(page.outcome(&events, call).await["type"], "ok");
        let result = page.fetch(&format!("/api/calls/{call}/result?full=1")).await;
        let text: Value = serde_json::from_str(result["resultJson"].as_str().unwrap()).unwrap();
        // Only the value is a secret, not every member that is named like one.
        assert_eq!(text["content"][0]["text"], r#"{"text":"•••","token":"kept"}"#, "{result}");
        let large = json!({ "text": format!("{}{secret}", "x".repeat(1 << 20)) }).to_string();
        let call = page.call("shop", "echo", &large).await;
        assert_eq!(page.outcome(&events, call).await["type"], "ok");
        let result = page.fetch(&format!("/api/calls/{call}/result?full=1")).await.to_string();
        assert!(result.contains("x•••") && !result.contains("5ecret"));
        let failing = page.call("shop", "refuse", &arguments).await;
        let outcome = page.outcome(&events, failing).await;
        assert!(outcome["message"].as_str().unwrap().contains("not with •••"), "{outcome}");
        events.wait_for("stderr", |event| event["type"] == "stderr").await;
        let stderr = page.fetch("/api/servers/shop/stderr").await;
        assert_eq!(stderr["lines"][0]["text"], "told •••", "{stderr}");
        let detail = page.fetch("/api/tool?server=shop&name=echo").await;
        assert_eq!(
            (&detail["description"], &detail["row"]["title"]),
            (&json!("Signs in with •••."), &json!("As •••"))
        );
        let completion = json!({
            "server": "shop", "reference": { "type": "prompt", "name": "greet" },
            "argument": "name", "value": secret, "context": {},
        });
        let (status, completed) = page.post("/api/complete", &completion).await;
        assert_eq!((status, &completed["values"]), (200, &json!(["•••da"])), "{completed}");
        let written = |value: &Value| value.to_string().contains("5ecret");
        // The request is the user's own.
        let of_server = events.all().into_iter().map(|(_, mut event)| {
            if event["type"] == "call" {
                event["call"]["request"] = Value::Null;
            }
            event
        });
        assert!(!of_server.into_iter().any(|event| written(&event)));
        for path in [
            "/api/catalog",
            "/api/tool?server=shop&name=echo",
            "/api/tool?server=shop&name=typed",
            "/api/traffic",
            "/api/why?kind=server&name=shop",
        ] {
            assert!(!written(&page.fetch(path).await), "{path}");
        }
        let catalog = page.fetch("/api/catalog").await;
        let cut = catalog["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "typed").unwrap();
        assert!(cut["description"].as_str().unwrap().ends_with("x•••"), "{cut}");
        page.close().await;
    }
}

async fn a_failed_server_says_why() {
    let running = Running::new(MODERN);
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let events = page.events(None).await;
    page.host.add("broken", switchboard_transport::stdio::Stdio::new("/nowhere/program")).unwrap();
    let failed = server_state(&events, "broken", "failed").await;
    assert!(failed["state"]["error"].as_str().unwrap().contains("/nowhere/program"), "{failed}");
    assert!(failed["state"]["nextStep"].as_str().unwrap().contains("reconnect"));
    assert_eq!(page.host.server_status("broken").unwrap().status, StatusKind::Failed);
    let why = page.fetch("/api/why?kind=server&name=broken").await;
    assert_eq!(why["verdict"], "notReady", "{why}");
    page.close().await;
}
