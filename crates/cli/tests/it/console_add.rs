//! Adding servers in the console: URLs, programs with and without leave, demo servers.

use serde_json::json;

use crate::console_client::Console;
use crate::home::{Home, demo};

#[test]
fn a_url_is_added_after_a_plan() {
    let home = Home::with(json!({ "child": demo() }));
    let console = Console::start(&home, &[]);
    // Nothing listens on the discard port.
    let request = json!({ "type": "url", "name": "web", "url": "http://127.0.0.1:9/mcp", "scope": "user" });
    let plan = console.post("/api/servers/plan", &request).json();
    assert_eq!(plan["type"], "apply");
    assert!(plan["path"].as_str().unwrap().ends_with("config/switchboard/mcp.json"), "{plan}");
    assert!(plan["entryJson"].as_str().unwrap().contains("http://127.0.0.1:9/mcp"), "{plan}");
    assert_eq!(home.servers("config/switchboard/mcp.json").get("web"), None, "a plan changes nothing");
    assert_eq!(console.post("/api/servers", &request).status, 201);
    assert_eq!(home.servers("config/switchboard/mcp.json")["web"]["url"], "http://127.0.0.1:9/mcp");
    crate::console_client::wait_for("the server", || console.server("web"));
    let again = console.post("/api/servers", &request);
    assert_eq!((again.status, again.code().as_str()), (409, "exists"), "{again:?}");
    for (name, url, scope) in
        [("-x", "https://a.example", "user"), ("x", "no url", "user"), ("x", "https://a.example", "managed")]
    {
        let request = json!({ "type": "url", "name": name, "url": url, "scope": scope });
        let refused = console.post("/api/servers/plan", &request);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_server"),
            "{request} {refused:?}"
        );
    }
}

#[test]
fn a_program_is_a_command_to_paste_unless_editing_is_allowed() {
    let home = Home::with(json!({ "child": demo() }));
    let request = json!({
        "type": "program", "name": "mine", "command": [crate::commands::SWITCHBOARD, "demo-server"], "scope": "user",
    });
    let console = Console::start(&home, &[]);
    let plan = console.post("/api/servers/plan", &request).json();
    assert_eq!(plan["type"], "command");
    let command = format!("switchboard add mine -s user -- {} demo-server", crate::commands::SWITCHBOARD);
    assert_eq!(plan["command"], command);
    let refused = console.post("/api/servers", &request);
    assert_eq!((refused.status, refused.code().as_str()), (403, "config_edit_off"), "{refused:?}");
    assert_eq!(home.servers("config/switchboard/mcp.json").get("mine"), None);
    drop(console);

    let console = Console::start(&home, &["--allow-config-edit"]);
    assert_eq!(console.post("/api/servers/plan", &request).json()["type"], "apply");
    assert_eq!(console.post("/api/servers", &request).status, 201);
    console.wait_for_state("mine", "ready");
}

#[test]
fn the_first_run_offers_demo_servers_and_the_import() {
    let home = Home::new();
    home.write(".cursor/mcp.json", &json!({ "mcpServers": { "a": demo(), "b": demo() } }));
    let console = Console::start(&home, &[]);
    let first = console.get("/api/snapshot").json()["firstRun"].clone();
    assert_eq!(first["importCommand"], "switchboard import");
    let source = &first["importSources"][0];
    assert_eq!((&source["servers"], &source["command"]), (&json!(2), &json!("switchboard import cursor")));
    let names: Vec<&str> =
        first["demoServers"].as_array().unwrap().iter().map(|demo| demo["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["demo", "demo-http", "demo-inside"]);
    for name in names {
        assert_eq!(console.post("/api/demo", &json!({ "name": name })).status, 201);
        let server = console.wait_for_state(name, "ready");
        assert!(server["counts"]["tools"].as_u64().unwrap() >= 10, "{server}");
        assert_eq!(server["scope"], json!(null));
    }
    assert_eq!(console.get("/api/snapshot").json()["firstRun"], json!(null));
    let again = console.post("/api/demo", &json!({ "name": "demo" }));
    assert_eq!((again.status, again.code().as_str()), (409, "exists"));
    assert_eq!(console.post("/api/demo", &json!({ "name": "other" })).code(), "unknown_demo");
}
