//! Servers that are remembered: added, changed, approved and imported, in files that keep what is not ours.

use serde_json::json;

use crate::home::{Home, demo, is_private};
use crate::stage::{SWITCHBOARD, Terminal};

#[test]
fn a_server_is_added_listed_shown_and_removed() {
    let home = Home::new();
    let added = home.done(&[
        "add",
        "everything",
        "-s",
        "user",
        "-e",
        "TOKEN=hunter2",
        "-e",
        "HOST=${HOST_NAME:-x}",
        "--",
        "npx",
        "-y",
        "server@1.2.3",
    ]);
    assert!(added.out.contains("added everything (user): npx -y server@1.2.3"), "{}", added.out);
    let file = "config/switchboard/mcp.json";
    assert_eq!(
        home.servers(file)["everything"],
        json!({"type": "stdio", "command": "npx", "args": ["-y", "server@1.2.3"],
            "env": {"HOST": "${HOST_NAME:-x}", "TOKEN": "hunter2"}})
    );
    assert!(is_private(&home.at(file)));
    let listed = home.done(&["list"]);
    assert!(listed.out.contains("everything  user   enabled  stdio"), "{}", listed.out);
    let shown = home.done(&["get", "everything"]);
    assert!(shown.out.contains("${HOST_NAME} is not set"), "{}", shown.out);
    let json = home.done(&["get", "everything", "--json"]);
    assert_eq!(json.json()["config"]["env"]["HOST"], "${HOST_NAME:-••••}");
    for ran in [&added, &listed, &shown, &json, &home.done(&["list", "--json"])] {
        assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{} {}", ran.out, ran.err);
    }
    home.done(&["remove", "everything"]);
    assert_eq!(home.servers(file), json!({}));
    assert_eq!(home.run(&["get", "everything"]).code, 1);
}

#[test]
fn a_server_at_an_address_is_added_with_its_headers_and_binding() {
    let home = Home::new();
    home.done(&[
        "add",
        "far",
        "-t",
        "sse",
        "--url",
        "https://example.com/sse",
        "-H",
        "Authorization: Bearer ${TOKEN}",
    ]);
    let listed = home.done(&["list", "--json"]).json();
    assert_eq!((&listed[0]["scope"], &listed[0]["config"]["type"]), (&json!("local"), &json!("sse")));
    assert_eq!(listed[0]["config"]["headers"]["Authorization"], "Bearer ${TOKEN}");
    assert_eq!(listed[0]["state"], "broken", "the variable is not set: {listed}");
    home.done(&["add", "near", "http://127.0.0.1:9/mcp"]);
    assert_eq!(home.done(&["get", "near", "--json"]).json()["config"]["url"], "http://127.0.0.1:9/mcp");
}

#[test]
fn a_server_is_added_as_json_and_replaced_only_when_told() {
    let home = Home::new();
    home.done(&["add", "a", "--entry", r#"{"command":"one","denyTools":["delete_*"],"theirs":1}"#]);
    let again = home.run(&["add", "a", "--", "two"]);
    assert_eq!(again.code, 1, "{}", again.err);
    assert!(again.err.contains("--replace"), "{}", again.err);
    home.done(&["add", "a", "--replace", "--", "two"]);
    assert!(home.done(&["list"]).out.contains("two"));
}

#[test]
fn what_cannot_be_a_server_is_a_usage_error() {
    let home = Home::new();
    let cases: [&[&str]; 9] = [
        &["add", "a"],
        &["add", "a", "npx"],
        &["add", "a", "-H", "X: hunter2", "--", "x"],
        &["add", "", "--", "x"],
        &["add", "a", "--url", "example.com"],
        &["add", "a", "--url", "http://example.com/mcp"],
        &["add", "a", "-t", "http", "--", "x"],
        &["add", "a", "--entry", "{}"],
        &["add", "a", "--url", "https://example.com", "-H", "hunter2"],
    ];
    for args in cases {
        let ran = home.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}

#[test]
fn enabling_and_disabling_changes_one_field_and_keeps_the_rest() {
    let home = Home::new();
    let before = "{\n  \"other\": [1,   2],\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\", \"theirs\": {}}\n  }\n}\n";
    std::fs::write(home.at("config/switchboard/mcp.json"), before).unwrap();
    home.done(&["disable", "a"]);
    let disabled = home.read("config/switchboard/mcp.json");
    assert!(disabled.contains("[1,   2]") && disabled.contains("\"disabled\": true"), "{disabled}");
    assert!(home.done(&["list"]).out.contains("disabled"));
    home.done(&["enable", "a"]);
    assert_eq!(home.read("config/switchboard/mcp.json"), before);
}

#[test]
fn a_projects_server_waits_until_exactly_it_is_approved() {
    let home = Home::new();
    home.write("project/.mcp.json", &json!({"mcpServers": {"shared": demo()}}));
    let waiting = home.done(&["status", "--json"]).json();
    assert_eq!((&waiting[0]["status"], &waiting[0]["scope"]), (&json!("pending"), &json!("project")));
    // Shown to whoever looks, and not approved by looking.
    let looked = home.done(&["approve"]);
    assert!(looked.out.contains(&format!("command {SWITCHBOARD}\n    arg demo-server\n")), "{}", looked.out);
    assert_eq!(home.run(&["approve", "shared"]).code, 1, "nobody is there to ask");
    assert_eq!(home.done(&["list", "--json"]).json()[0]["state"], "unapproved");
    home.done(&["approve", "shared", "--yes"]);
    assert_eq!(home.done(&["list", "--json"]).json()[0]["state"], "enabled");
    assert!(is_private(&home.at("state/switchboard/approvals.json")));
    let other = json!({"command": SWITCHBOARD, "args": ["demo-server", "--http", "127.0.0.1:0"]});
    home.write("project/.mcp.json", &json!({"mcpServers": {"shared": other}}));
    assert_eq!(home.done(&["list", "--json"]).json()[0]["state"], "changed");
    let shown = home.done(&["approve"]);
    assert!(shown.out.contains("has changed since you approved it (- before, + now)"), "{}", shown.out);
    assert!(
        shown.out.contains("    arg demo-server\n  + arg --http\n  + arg 127.0.0.1:0\n"),
        "{}",
        shown.out
    );
}

#[test]
fn s2_an_approval_shows_everything_that_would_run() {
    let home = Home::new();
    let entry = json!({"command": "node", "args": ["a.js"], "env": {"NODE_OPTIONS": "--require=./sly.js", "B": "${B}"}});
    home.write("project/.mcp.json", &json!({"mcpServers": {"shared": entry}}));
    let shown = home.done(&["approve"]).out;
    assert!(shown.contains("this makes the program load other code"), "{shown}");
    assert!(
        shown.contains("env NODE_OPTIONS=--require=./sly.js") && shown.contains("${B} is not set"),
        "{shown}"
    );
    // What the first trial found hidden.
    let entry = |library: &str| json!({"command": "sh", "args": ["-c", "token=x; touch owned"], "env": {"PATH": ".bin:/bin", "LD_PRELOAD": library}});
    home.write("project/.mcp.json", &json!({"mcpServers": {"shared": entry("./evil.so")}}));
    let shown = home.done(&["approve", "shared", "--yes"]).out;
    for line in
        ["arg \"token=x; touch owned\"", "env PATH=.bin:/bin", "env LD_PRELOAD=./evil.so", "look: env.PATH"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    home.write("project/.mcp.json", &json!({"mcpServers": {"shared": entry("./worse.so")}}));
    let shown = home.done(&["approve"]).out;
    let diff = "  - env LD_PRELOAD=./evil.so\n  + env LD_PRELOAD=./worse.so\n";
    assert!(shown.contains(diff), "{shown}");
}

#[test]
fn s2_an_import_shows_the_screen_of_an_approval() {
    let home = Home::new();
    let sly = json!({"command": "npx", "args": ["x@1"], "env": {"PATH": ".bin:/usr/bin"}});
    home.write("project/.cursor/mcp.json", &json!({"mcpServers": {"sly": sly}}));
    let mut command = home.command(&["import", "cursor"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command, 200);
    terminal.see("env PATH=.bin:/usr/bin");
    terminal.see("look: env.PATH: this decides which programs are run");
    terminal.see("Take them over?");
    terminal.enter("n");
    assert_eq!(terminal.end().0, 1);
}

#[test]
fn approval_is_asked_for_at_a_terminal() {
    let home = Home::new();
    home.write("project/.mcp.json", &json!({"mcpServers": {"one": demo(), "two": demo()}}));
    let mut command = home.command(&["approve", "--all"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command, 200);
    terminal.see("May one be started? [y/N]");
    terminal.enter("y");
    terminal.see("approved one");
    terminal.see("May two be started? [y/N]");
    terminal.enter("");
    terminal.see("two stays as it is");
    assert_eq!(terminal.end().0, 0);
    let states = home.done(&["list", "--json"]).json();
    assert_eq!((&states[0]["state"], &states[1]["state"]), (&json!("enabled"), &json!("unapproved")));
}

#[test]
fn what_a_user_adds_to_a_project_is_approved_and_found_from_below() {
    let home = Home::new();
    home.done(&["add", "shared", "-s", "project", "--", SWITCHBOARD, "demo-server"]);
    assert!(home.at("project/.mcp.json").is_file());
    std::fs::create_dir_all(home.at("project/src/deep")).unwrap();
    let mut below = home.command(&["list", "--json"]);
    below.current_dir(home.at("project/src/deep"));
    let ran = crate::stage::run_command(below, "");
    assert_eq!(ran.json()[0]["state"], "enabled", "{}", ran.out);
}

#[test]
fn the_strongest_scope_counts_and_the_others_are_named() {
    let home = Home::with(json!({"a": {"command": "users"}}));
    home.done(&["add", "a", "-s", "local", "--", "locals"]);
    let shown = home.done(&["get", "a"]).out;
    assert!(
        shown.contains("locals") && shown.contains("hides a server of the same name in the scope user"),
        "{shown}"
    );
    let removed = home.done(&["remove", "a"]).out;
    assert!(removed.contains("in the scope user is used now"), "{removed}");
}

#[test]
fn servers_of_other_programs_are_shown_and_taken_over() {
    let home = Home::with(json!({"there": {"command": "x"}}));
    home.write(
        ".cursor/mcp.json",
        &json!({"mcpServers": {
            "weather": {"command": "weather", "env": {"KEY": "${env:WEATHER_KEY}", "SECRET": "hunter2"}},
            "there": {"command": "y"},
            "broken": {"command": 7},
        }}),
    );
    let looked = home.done(&["import"]);
    assert!(
        looked.out.contains("+ weather (user) would run or reach:\n    type stdio\n    command weather\n"),
        "{}",
        looked.out
    );
    assert!(looked.out.contains("- there: there is one of this name already"), "{}", looked.out);
    assert!(looked.out.contains("- broken:"), "{}", looked.out);
    assert!(looked.err.contains("nothing was changed"), "{}", looked.err);
    home.done(&["import", "cursor", "--dry-run"]);
    assert!(home.servers("config/switchboard/mcp.json").get("weather").is_none());
    let taken = home.done(&["import", "cursor", "--json"]);
    assert!(!taken.out.contains("hunter2"), "{}", taken.out);
    assert_eq!(home.servers("config/switchboard/mcp.json")["weather"]["env"]["KEY"], "${WEATHER_KEY}");
    let unknown = home.run(&["import", "emacs"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
}

#[test]
fn values_other_programs_ask_for_are_named() {
    let home = Home::new();
    home.write(
        ".config/Code/User/mcp.json",
        &json!({"inputs": [{"id": "key", "type": "promptString", "description": "API key", "password": true}],
            "servers": {"api": {"command": "api", "env": {"KEY": "${input:key}"}}}}),
    );
    let ran = home.done(&["import", "vscode"]);
    assert!(ran.out.contains("needs ${") && ran.out.contains("API key"), "{}", ran.out);
    assert_eq!(home.done(&["list", "--json"]).json()[0]["state"], "broken", "until the variable is set");
}

#[test]
fn servers_of_another_project_are_left_there() {
    let home = Home::new();
    home.write("elsewhere/.vscode/mcp.json", &json!({"servers": {"api": {"command": "api"}}}));
    let file = home.at("elsewhere/.vscode/mcp.json");
    let ran = home.done(&["import", "--file", file.to_str().unwrap()]);
    assert!(ran.out.contains("for another project"), "{}", ran.out);
    assert_eq!(home.done(&["list", "--json"]).json(), json!([]));
    let wanted = ["import", "--file", file.to_str().unwrap(), "-s", "user"];
    assert_eq!(home.run(&wanted).code, 1, "it is a project's file, so somebody has to agree");
    home.done(&[&wanted[..], &["--yes"]].concat());
    assert_eq!(home.done(&["list", "--json"]).json()[0]["scope"], "user");
}

#[test]
fn a_projects_own_files_are_taken_over_only_when_somebody_agrees() {
    let home = Home::new();
    home.write("project/.cursor/mcp.json", &json!({"mcpServers": {"sly": {"command": "sly"}}}));
    let ran = home.run(&["import", "cursor"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("--yes"), "{}", ran.err);
    assert_eq!(home.done(&["list", "--json"]).json(), json!([]));
    home.done(&["import", "cursor", "--yes"]);
    assert_eq!(home.done(&["list", "--json"]).json()[0]["scope"], "local");
}

#[test]
fn a_broken_file_is_named_and_harms_no_other() {
    let home = Home::with(json!({"good": demo()}));
    std::fs::write(home.at("project/.mcp.json"), "{\n  \"mcpServers\": {,}\n}").unwrap();
    let ran = home.done(&["list"]);
    assert!(ran.err.contains(".mcp.json:2:"), "{}", ran.err);
    assert!(ran.out.contains("good"), "{}", ran.out);
}
