//! The catalog: rows, reasons, definitions, drift.

use std::time::Instant;

use serde_json::{Value, json};
use switchboard_host::{DriftPolicy, Pins};
use switchboard_protocol::Tool;
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::page::Page;
use crate::workshop::{LEGACY, MODERN, Running};

trials! {
    trial_leaving_tasks:
        hidden_tools_are_listed_with_the_reason,
        a_changed_definition_is_shown_and_accepted,
        definitions_keep_their_text,
        ten_thousand_tools_are_listed_quickly,
}

fn tool<'a>(catalog: &'a Value, server: &str, name: &str) -> &'a Value {
    let mut tools = catalog["tools"].as_array().unwrap().iter();
    tools.find(|tool| tool["server"] == server && tool["name"] == name).unwrap()
}

async fn hidden_tools_are_listed_with_the_reason() {
    let (one, other) = (Running::new(MODERN), Running::new(LEGACY));
    let servers =
        [("rules", one.spec().allow_tools(["e*", "f*"]).deny_tools(["fail"])), ("off", other.spec())];
    let page = Page::open(|host| host, servers).await;
    page.host.toggle("off", false).await.unwrap();
    let catalog = page.fetch("/api/catalog").await;
    assert_eq!(catalog["revision"], page.host.catalog().revision());
    assert_eq!(tool(&catalog, "rules", "echo")["hidden"], Value::Null);
    assert_eq!(tool(&catalog, "rules", "echo")["qualifiedName"], "mcp__rules__echo");
    assert_eq!(tool(&catalog, "rules", "fail")["hidden"], json!({"type": "denied", "rule": "fail"}));
    assert_eq!(
        tool(&catalog, "rules", "ask")["hidden"],
        json!({"type": "notAllowed", "allow": ["e*", "f*"]})
    );
    assert_eq!(tool(&catalog, "off", "echo")["hidden"], json!({"type": "serverDisabled"}));
    assert_eq!(catalog["resources"][0]["uri"], "note://today");
    assert_eq!(catalog["templates"][0]["uriTemplate"], "note://{day}");
    let off = catalog["prompts"].as_array().unwrap().iter().find(|prompt| prompt["server"] == "off").unwrap();
    assert_eq!(off["hidden"], json!({"type": "serverDisabled"}));
    for (query, verdict, check) in [
        ("kind=tool&server=rules&name=echo", "available", Value::Null),
        ("kind=tool&server=rules&name=fail", "hidden", json!("allow and deny rules")),
        ("kind=tool&name=mcp__rules__ask", "hidden", json!("allow and deny rules")),
        ("kind=tool&server=rules&name=ecko", "unknown", json!("definition")),
        ("kind=tool&server=nowhere&name=echo", "unknown", json!("configuration")),
        ("kind=resource&server=rules&name=note%3A%2F%2Ftoday", "available", Value::Null),
        ("kind=prompt&server=off&name=greet", "hidden", json!("configuration")),
        ("kind=server&name=rules", "available", Value::Null),
    ] {
        let why = page.fetch(&format!("/api/why?{query}")).await;
        let checks = why["checks"].as_array().unwrap();
        let failed = checks.iter().find(|check| check["outcome"] == "fail");
        let failed = failed.map_or(Value::Null, |check| check["check"].clone());
        assert_eq!((&why["verdict"], &failed), (&json!(verdict), &check), "{query}: {why}");
    }
    let why = page.fetch("/api/why?kind=tool&server=rules&name=ecko").await;
    assert_eq!(why["similar"], json!(["mcp__rules__echo"]));
    assert_eq!(page.get("/api/why?kind=nothing&name=x").await.0, 400);
    page.close().await;
}

async fn a_changed_definition_is_shown_and_accepted() {
    let running = Running::new(MODERN);
    let configure = |host: switchboard_host::HostBuilder| host.with_pins(Pins::new(), DriftPolicy::Withhold);
    let page = Page::open(configure, [("shop", running.spec())]).await;
    let events = page.events(None).await;
    let before = page.host.catalog().revision();
    running.workshop.tools.lock()[0] =
        Tool::new("echo", json!({"type": "object"})).with_description("Steals.");
    running.server.publisher().tools_changed();
    let newer = |event: &Value| event["type"] == "catalog" && event["revision"].as_u64().unwrap() > before;
    events.wait_for("the catalog", newer).await;
    wait_until("the drift", || page.host.has_drifted("shop", "echo")).await;
    let catalog = page.fetch("/api/catalog").await;
    let row = tool(&catalog, "shop", "echo");
    assert_eq!((&row["hidden"], &row["drifted"]), (&json!({"type": "drifted"}), &json!(true)));
    let detail = page.fetch("/api/tool?server=shop&name=echo").await;
    assert!(detail["drift"]["beforeJson"].as_str().unwrap().contains("Does echo."), "{detail}");
    assert!(detail["drift"]["nowJson"].as_str().unwrap().contains("Steals."));
    let item = json!({"server": "shop", "name": "echo"});
    assert_eq!(page.post("/api/tool/accept", &item).await.0, 200);
    assert!(!page.host.has_drifted("shop", "echo"));
    assert_eq!(page.fetch("/api/tool?server=shop&name=echo").await["drift"], Value::Null);
    let unknown = json!({"server": "shop", "name": "nothing"});
    assert_eq!(page.post("/api/tool/accept", &unknown).await.0, 404);
    page.close().await;
}

async fn definitions_keep_their_text() {
    let running = Running::new(MODERN);
    let schema =
        switchboard_json::Raw::parse(r#"{"type": "object", "properties": {"n": {"maximum": 1.00}}}"#)
            .unwrap();
    running.workshop.tools.lock()[0] = Tool::new("echo", schema.clone()).with_description("é".repeat(1000));
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    let detail = page.fetch("/api/tool?server=shop&name=echo").await;
    assert_eq!(detail["inputSchemaJson"], schema.as_str());
    assert_eq!(detail["description"].as_str().unwrap().chars().count(), 1000);
    assert_eq!(detail["row"]["description"].as_str().unwrap().chars().count(), 400);
    let bytes = detail["definitionJson"].as_str().unwrap().len();
    assert_eq!(detail["row"]["tokens"], bytes.div_ceil(4));
    page.close().await;
}

async fn ten_thousand_tools_are_listed_quickly() {
    let running = Running::new(MODERN);
    let many = |number: usize| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        Tool::new(format!("tool_{number}"), schema)
            .with_description("Does one of ten thousand things. ".repeat(8))
    };
    *running.workshop.tools.lock() = (0..10_000).map(many).collect();
    // All of their texts are masked with these.
    let program = switchboard_transport::stdio::Stdio::new("/nowhere/program");
    let secretive = (0..40)
        .fold(program, |program, number| program.env(format!("KEY_{number}"), format!("sesame-{number}")));
    let page = Page::open(|host| host, [("shop", running.spec())]).await;
    page.host.add("secretive", secretive).unwrap();
    page.fetch("/api/catalog").await;
    let began = Instant::now();
    let catalog = page.fetch("/api/catalog").await;
    println!("10,000 tools in {:?}, with parsing", began.elapsed());
    assert_eq!(catalog["tools"].as_array().unwrap().len(), 10_000);
    page.close().await;
}
