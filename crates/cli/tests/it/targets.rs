//! Selection of servers and tools, their options, and errors about missing ones.

use serde_json::{Value, json};

use crate::commands::{SWITCHBOARD, run, switchboard};
use crate::home::{Home, demo};
use crate::servers::{FakeHttpServer, HttpDemo, Script};

#[test]
fn c8_a_missing_tool_is_reported_for_the_named_server() {
    let home = Home::with(json!({"mem": demo(), "other": {"command": "/nonexistent/x"}}));
    let ran = home.run_ok(&["why", "mem/nope"]);
    assert!(ran.out.contains("mem has no tool \"nope\""), "{}", ran.out);
    assert!(!ran.out.contains("other"), "{}", ran.out);
    let near = home.run(&["call", "mem/ehco", "text=a"]);
    assert_eq!(near.code, 1);
    assert!(near.err.contains("did you mean mem/echo?"), "{}", near.err);
    let far = home.run(&["call", "mem/nope"]);
    assert!(
        far.err.contains("mem has no tool \"nope\"") && far.err.contains("switchboard tools mem"),
        "{}",
        far.err
    );
    assert!(!far.err.contains("did you mean"), "{}", far.err);
}

#[test]
fn c8_info_as_json_has_the_revision_and_the_instructions_of_a_configured_server() {
    let home = Home::with(json!({"mem": demo()}));
    let direct = run(&["info", "--json", "--", SWITCHBOARD, "demo-server"]).json();
    let info = home.run_ok(&["info", "mem", "--json"]).json();
    assert_eq!(info["protocolVersion"], "2026-07-28");
    assert_eq!(info["instructions"], direct["instructions"]);
    assert_eq!(
        info["serverInfo"]["name"],
        home.run_ok(&["info", "--server", "mem", "--json"]).json()["serverInfo"]["name"]
    );
}

#[test]
fn c8_a_disabled_server_with_an_unset_variable_is_not_broken() {
    let home = Home::with(
        json!({"off": {"command": "x", "args": ["${NOT_SET_ANYWHERE}"], "disabled": true}, "on": demo()}),
    );
    let listed = home.run_ok(&["list", "--json"]).json();
    assert_eq!(listed[0]["state"], "disabled", "{listed}");
    let tools = home.run_ok(&["tools", "--brief"]);
    assert_eq!(tools.err, "", "it is not warned about");
    assert_eq!(home.run_ok(&["status", "--json"]).json()[0]["status"], "disabled");
}

#[test]
fn c8_a_server_that_refuses_log_messages_is_still_used() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/list':\n        return {'tools': []}\n",
    );
    let ran = script.run(&["tools", "-v"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("refused to send log messages"), "{}", ran.err);
}

#[test]
fn c10_options_for_a_server_work_for_a_configured_one() {
    let web = HttpDemo::start(&[]);
    let home = Home::with(json!({
        "one": demo(), "web": {"url": web.url, "headers": {"X-Key": "hunter2hunter2"}},
        "env": {"command": "sh", "args": ["-c", format!("echo $PLACE $PWD >&2; exec {SWITCHBOARD} demo-server")]},
    }));
    for server in ["one", "web"] {
        let traced = home.run_ok(&["tools", server, "--trace"]);
        assert!(traced.err.contains(&format!("{server} → ")), "{}", traced.err);
        assert!(traced.err.contains("tools/list") && !traced.err.contains("hunter2"), "{}", traced.err);
        let info = home.run_ok(&["info", server, "--revision", "2025-06-18", "--json"]).json();
        assert_eq!(info["protocolVersion"], "2025-06-18", "{info}");
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let script =
        format!("test \"$PLACE $PWD\" = \"here {}\" && exec {SWITCHBOARD} demo-server", place.display());
    home.write(
        "config/switchboard/mcp.json",
        &json!({"mcpServers": {"env": {"command": "sh", "args": ["-c", script]}}}),
    );
    assert_eq!(home.run(&["tools", "env"]).code, 4, "without the variable it exits");
    home.run_ok(&["tools", "env", "--env", "PLACE=here", "--cwd", place.to_str().unwrap()]);
}

#[test]
fn c10_a_message_that_is_too_large_names_the_flag_that_helps() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/call':\n        return {'content': [{'type': 'text', 'text': 'x' * 100000}]}\n    if method == 'tools/list':\n        return {'tools': [{'name': 'big', 'inputSchema': {'type': 'object'}, 'annotations': {'readOnlyHint': True}}]}\n",
    );
    let ran = script.run(&["call", "big", "--max-message", "64K"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("larger than the limit of 64.0 KiB"), "{}", ran.err);
    assert!(ran.err.contains("hint: accept larger messages: --max-message"), "{}", ran.err);
    let path = script.path().to_str().unwrap().to_owned();
    let home = Home::with(json!({"it": {"command": "python3", "args": ["-S", path]}}));
    let ran = home.run(&["call", "it/big", "--yes", "--max-message", "64K"]);
    assert!(ran.code != 0 && ran.err.contains("--max-message"), "{}", ran.err);
    assert_eq!(home.run_ok(&["call", "it/big", "--yes", "--max-message", "1M"]).out.len(), 100_001);
}

#[test]
fn c10_missing_arguments_are_named_in_json_too() {
    let ran = run(&["call", "--json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.error()["message"].as_str().unwrap().contains("<TOOL>"), "{}", ran.err);
}

#[test]
fn c13_errors_are_below_the_table_and_narrow_terminals_get_labels() {
    let long = "no such color, ".repeat(12);
    let home = Home::with(json!({
        "good": demo(),
        "dies": {"command": "sh", "args": ["dies.sh"]},
        "unset": {"command": "sh", "args": ["${NOT_SET_ANYWHERE}"]},
    }));
    std::fs::write(home.at("project/dies.sh"), format!("echo '{long}' >&2; exit 3")).unwrap();
    for command in ["status", "list"] {
        let mut wide = home.command(&[command]);
        let out = wide.env("COLUMNS", "100").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let (table, below) = text.split_once("\n\n").unwrap_or_else(|| panic!("{text}"));
        assert_eq!(table.lines().count(), 4, "{text}");
        assert!(below.contains("NOT_SET_ANYWHERE") && below.contains("next: "), "{text}");
        let mut narrow = home.command(&[command]);
        let out = narrow.env("COLUMNS", "40").output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("\n    scope: "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}

#[test]
fn c13_a_package_without_a_version_is_warned_about_when_it_is_added() {
    let home = Home::new();
    let added = home.run_ok(&["add", "every", "--", "npx", "-y", "@modelcontextprotocol/server-everything"]);
    assert!(added.err.contains("has no version"), "{}", added.err);
    assert!(!home.run_ok(&["list"]).err.contains("has no version"));
}

#[test]
fn c13_the_programs_of_import_are_named_alike_in_help_and_error() {
    let help = run(&["import", "--help"]).out;
    let error = run(&["import", "emacs"]).err;
    let names = error.split_once("expected one of ").unwrap().1.split_once(';').unwrap().0;
    for name in names.split(", ") {
        assert!(help.contains(name), "{name}: {help}");
    }
}

#[test]
fn c14_tools_are_searched_shown_in_full_and_listed_briefly() {
    let home = Home::with(json!({"mem": demo()}));
    let found = home.run_ok(&["tools", "say"]);
    assert!(found.out.contains("echo(") && !found.out.contains("weather("), "{}", found.out);
    let one = home.run_ok(&["tools", "mem/add"]);
    for part in
        ["add(a: number, b: number)", "input schema:", "output schema:", "switchboard call mem/add a=… b=…"]
    {
        assert!(one.out.contains(part), "{part}: {}", one.out);
    }
    assert_eq!(home.run_ok(&["tools", "mem/add", "--json"]).json()["tools"].as_array().unwrap().len(), 1);
    let brief = home.run_ok(&["tools", "--brief"]).out;
    assert!(
        brief.lines().any(|line| line.starts_with("mem/echo [read-only]  Says the same again.")),
        "{brief}"
    );
    let unknown = home.run(&["tools", "xyzzy"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("no tool matches \"xyzzy\""), "{}", unknown.err);
    let direct = run(&["tools", "add", "--", SWITCHBOARD, "demo-server"]);
    assert!(direct.out.contains("input schema:"), "{}", direct.out);
}

#[test]
fn c14_a_url_needs_no_option_and_takes_headers() {
    let web = HttpDemo::start(&[]);
    for command in ["tools", "info", "resources", "prompts"] {
        let ran = run(&[command, &web.url]);
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
    }
    let fake = FakeHttpServer::start("401 Unauthorized", "");
    run(&["tools", &fake.url, "-H", "X-Key: abc"]);
    assert!(fake.requests().to_lowercase().contains("x-key: abc"), "{}", fake.requests());
    let ran = run(&["tools", "-e", "A=1", "--", SWITCHBOARD, "demo-server"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn c14_help_completions_and_manual_pages() {
    assert!(run(&["help", "call"]).out.contains("switchboard call"), "help CMD");
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert!(script.code == 0 && script.out.contains("switchboard"), "{shell}");
    }
    let page = run(&["man"]);
    assert!(page.out.contains(".TH switchboard"), "{}", &page.out[..200.min(page.out.len())]);
    let folder = tempfile::tempdir().unwrap();
    run(&["man", "--dir", folder.path().to_str().unwrap()]);
    assert!(folder.path().join("switchboard-call.1").is_file());
}

#[test]
fn c14_changes_are_reported_as_json() {
    let home = Home::new();
    let added =
        home.run_ok(&["add", "web", "https://example.com/mcp", "--bearer-env", "TOKEN", "--json"]).json();
    assert_eq!((&added["name"], &added["scope"]), (&json!("web"), &json!("local")));
    assert_eq!(home.run_ok(&["disable", "web", "--json"]).json()["state"], "disabled");
    assert_ne!(home.run_ok(&["enable", "web", "--json"]).json()["state"], "disabled");
    let removed: Value = home.run_ok(&["remove", "web", "--json"]).json();
    assert_eq!(removed["removed"], true);
    home.run_ok(&["add", "web", "https://example.com/mcp", "--bearer-env", "TOKEN"]);
    let file = walk(&home.at("state"));
    assert!(file.contains("Bearer ${TOKEN}"), "{file}");
    home.run_ok(&["add", "inline", r#"{"command": "x"}"#]);
    assert_eq!(home.run_ok(&["get", "inline", "--json"]).json()["config"]["command"], "x");
}

#[test]
fn c14_approvals_are_reported_as_json() {
    let home = Home::new();
    home.write("project/.mcp.json", &json!({"mcpServers": {"theirs": demo()}}));
    let waiting = home.run_ok(&["approve", "--json"]).json();
    assert_eq!((&waiting[0]["name"], &waiting[0]["approved"]), (&json!("theirs"), &json!(false)));
    let approved = home.run_ok(&["approve", "theirs", "--yes", "--json"]).json();
    assert_eq!(approved[0]["approved"], true, "{approved}");
    let forgotten = home.run_ok(&["forget", "theirs", "--json"]).json();
    assert_eq!((&forgotten["name"], &forgotten["forgotten"]), (&json!("theirs"), &json!(true)));
    assert_eq!(home.run(&["forget", "nobody", "--json"]).error()["kind"], "not_configured");
}

/// Returns the text of all files below a folder.
fn walk(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text += &if path.is_dir() { walk(&path) } else { std::fs::read_to_string(&path).unwrap_or_default() };
    }
    text
}

#[test]
fn c14_windsurf_is_imported() {
    let home = Home::new();
    home.write(
        ".codeium/windsurf/mcp_config.json",
        &json!({"mcpServers": {"docs": {"serverUrl": "https://example.com/mcp", "headers": {"X": "${env:KEY}"}, "disabledTools": ["rm"]}}}),
    );
    let taken = home.run_ok(&["import", "windsurf", "--json"]).json();
    assert_eq!(taken[0]["name"], "docs", "{taken}");
    let config = &home.servers("config/switchboard/mcp.json")["docs"];
    assert_eq!(config["url"], "https://example.com/mcp");
    assert_eq!((&config["headers"]["X"], &config["denyTools"]), (&json!("${KEY}"), &json!(["rm"])));
}

#[test]
fn c16_messages_name_the_failure_and_the_value() {
    let web = FakeHttpServer::start("200 OK\r\ncontent-type: text/html", "<html>");
    let ran = web.run(&["tools"]);
    assert!(ran.err.contains("got a web page (200 text/html), not MCP; check the URL path"), "{}", ran.err);
    let ran = run(&["call", "add", "hello", "--", SWITCHBOARD, "demo-server"]);
    assert!(ran.err.contains("expected key=value, got \"hello\" (or use --args JSON)"), "{}", ran.err);
    let ran = run(&["call", "add", "a=x", "b=1", "--", SWITCHBOARD, "demo-server"]);
    assert!(ran.err.contains("`a` must be a number; got \"x\""), "{}", ran.err);
    let mut help = switchboard(["call", "--help"]);
    let out = help.env("COLUMNS", "80").output().unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains("--structured"), "help is there");
}
