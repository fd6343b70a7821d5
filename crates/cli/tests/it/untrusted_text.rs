//! Servers that send escape sequences: the terminal never interprets them.

use serde_json::json;
use switchboard_testkit::PseudoTerminal;

use crate::commands::switchboard;
use crate::home::Home;
use crate::servers::Script;

/// Clears the screen, writes to the clipboard, reverses text, hides text.
const EVIL: &str = r"E = '\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\x7f\u202e\u2066\u200b\ufeff\U000e0041\rX'";

fn server() -> Script {
    Script::server(&format!(
        r#"
{EVIL}
NAME = "evil" + E
def answers(method, params):
    if method == "tools/list":
        return {{"tools": [{{"name": "t" + E, "title": "T" + E, "description": "d" + E + "\nsecond",
                "annotations": {{"destructiveHint": True}},
                "inputSchema": {{"type": "object", "properties": {{"p" + E: {{"type": "s" + E, "description": E}}}}}}}}]}}
    if method == "resources/list":
        return {{"resources": [{{"uri": "u:" + E, "name": "n" + E, "mimeType": E, "description": E}}]}}
    if method == "resources/templates/list":
        return {{"resourceTemplates": [{{"uriTemplate": "u:" + E, "name": E}}]}}
    if method == "prompts/list":
        return {{"prompts": [{{"name": "p" + E, "description": E, "arguments": [{{"name": E, "description": E}}]}}]}}
    if method == "resources/read":
        return {{"contents": [{{"uri": "u:" + E, "text": "t" + E}}, {{"uri": E, "blob": "AAAA", "mimeType": E}}]}}
    if method == "prompts/get":
        return {{"description": E, "messages": [{{"role": "user", "content": {{"type": "text", "text": E}}}}]}}
    if method == "completion/complete":
        return {{"completion": {{"values": ["v" + E]}}}}
    if method == "logging/setLevel":
        send({{"jsonrpc": "2.0", "method": "notifications/message", "params": {{"level": "error", "logger": E, "data": E}}}})
        return {{}}
    if method == "tools/call" and params["name"] == "ask":
        send({{"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {{"message": "m" + E,
              "requestedSchema": {{"type": "object", "properties": {{"f" + E: {{"type": "string", "title": E,
              "description": E, "enum": ["o" + E]}}}}}}}}}})
        sys.stdin.readline()
        return {{"content": []}}
    if method == "tools/call" and params["name"] == "visit":
        send({{"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {{"mode": "url",
              "message": "m" + E, "url": "https://x.example/" + E, "elicitationId": "1"}}}})
        sys.stdin.readline()
        return {{"content": []}}
    if method == "tools/call" and params["name"] == "refuse":
        return {{"error!": {{"code": -32000, "message": "r" + E, "data": {{"d": E}}}}}}
    if method == "tools/call" and params["name"] == "die":
        sys.stderr.write("s" + E + "\n")
        sys.stderr.flush()
        os._exit(1)
    if method == "tools/call":
        token = params.get("_meta", {{}}).get("progressToken")
        send({{"jsonrpc": "2.0", "method": "notifications/progress",
              "params": {{"progressToken": token, "progress": 1, "total": 2, "message": "p" + E}}}})
        return {{"content": [{{"type": "text", "text": "x" + E}}, {{"type": "image", "data": "", "mimeType": E}},
                {{"type": "resource_link", "uri": E, "name": E}}, {{"type": "new" + E, "k": E}},
                {{"type": "resource", "resource": {{"uri": E, "text": E}}}}], "structuredContent": {{"k" + E: E}}}}
"#
    ))
}

/// Asserts that the output has no escape sequence except our own.
fn assert_harmless(shown: &str, ours: &[&str]) {
    let mut text = shown.replace("\r\n", "\n");
    for sequence in ours {
        text = text.replace(sequence, "");
    }
    assert_inert(&text, shown);
    let hidden = text.chars().find(|char| matches!(char, '\u{200b}' | '\u{feff}' | '\u{e0041}'));
    assert_eq!(hidden, None, "{shown:?}");
}

/// Asserts that a result has no control or bidirectional character; other characters are part of its text.
fn assert_inert_result(shown: &str) {
    assert_inert(&shown.replace("\r\n", "\n").replace("\r\u{1b}[K", ""), shown);
}

fn assert_inert(text: &str, shown: &str) {
    for char in text.chars() {
        let is_control = char.is_control() && !matches!(char, '\n' | '\t');
        let is_bidi = matches!(char, '\u{202e}' | '\u{2066}');
        assert!(!is_control && !is_bidi, "{char:?} in {shown:?}");
    }
}

#[test]
fn no_command_passes_escape_sequences_of_a_server_to_the_terminal() {
    let script = server();
    let commands: [&[&str]; 12] = [
        &["tools", "-v"],
        &["resources"],
        &["prompts"],
        &["info"],
        &["complete", "--prompt", "p", "a", "v"],
        &["call", "refuse"],
        &["call", "refuse", "--json"],
        &["call", "die"],
        &["tools", "--json"],
        &["info", "--json"],
        &["tools", "--trace"],
        &["call", "x", "--json"],
    ];
    for args in commands {
        let (_, shown) = script.at_terminal(args).finish();
        assert!(shown.len() > 20, "{args:?}: {shown:?}");
        // The progress line is our own.
        assert_harmless(&shown, &["\r\u{1b}[K"]);
    }
    for args in [&["read", "u:x"][..], &["prompt", "p"], &["call", "x"]] {
        assert_inert_result(&script.at_terminal(args).finish().1);
    }
    let (code, shown) = script.at_terminal(&["call", "x"]).finish();
    assert_eq!(code, 0);
    assert!(shown.contains("x\\x1b[2J\\x1b]52;c;ZXZpbA==\\x07\\x9b31m\\x7f\\u{202e}"), "{shown:?}");
}

#[test]
fn color_never_comes_from_a_server() {
    let script = server();
    let (_, shown) = PseudoTerminal::start(switchboard(script.args_for(&["tools"])), 80).finish();
    assert!(shown.contains("\u{1b}[1m"), "{shown:?}");
    assert_harmless(&shown, &["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[36m", "\r\u{1b}[K"]);
}

#[test]
fn a_question_cannot_contain_escape_sequences() {
    let script = server();
    let mut terminal = script.at_terminal(&["call", "ask"]);
    terminal.expect_text("asks:");
    terminal.expect_text("one of these");
    terminal.enter("1");
    terminal.expect_text("Send this to");
    terminal.enter("");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_harmless(&shown, &["\r\u{1b}[K"]);
    let mut terminal = script.at_terminal(&["call", "visit"]);
    terminal.expect_text("Will you visit it?");
    terminal.enter("");
    let (_, shown) = terminal.finish();
    assert_harmless(&shown, &["\r\u{1b}[K"]);
    assert!(shown.contains("https://x.example/\\x1b[2J"), "{shown}");
}

#[test]
fn s8_a_question_names_the_configured_server_and_warns_of_secrets_and_lookalike_hosts() {
    let script = Script::server(
        r#"
NAME = "github"
def answers(method, params):
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ["login", "visit"]]}
    if method == "tools/call" and params["name"] == "login":
        asked = {"message": "Sign in", "requestedSchema": {"type": "object",
                 "properties": {"user": {"type": "string"}, "apiKey": {"type": "string"}}}}
    elif method == "tools/call":
        asked = {"mode": "url", "message": "Sign in", "url": params["arguments"]["url"], "elicitationId": "1"}
    else:
        return None
    send({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": asked})
    answer = json.loads(sys.stdin.readline())
    return {"content": [{"type": "text", "text": json.dumps(answer.get("error", answer.get("result")))}]}
"#,
    );
    let home = Home::with(json!({"myserver": {"command": "python3", "args": ["-S", script.path()]}}));
    let start = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("NO_COLOR", "1");
        PseudoTerminal::start(command, 120)
    };
    let mut terminal = start(&["call", "myserver/login"]);
    terminal.expect_text("myserver asks:");
    terminal.expect_text("user (");
    terminal.enter("me");
    terminal.expect_text("this looks like a secret");
    terminal.expect_text("apiKey (");
    terminal.enter("");
    terminal.expect_text("Send this to myserver?");
    terminal.enter("n");
    let (_, shown) = terminal.finish();
    assert!(!shown.contains("github") && shown.matches("looks like a secret").count() == 1, "{shown}");
    let mut terminal = start(&["call", "myserver/visit", "url=https://p\u{430}ypal.com/x"]);
    terminal.expect_text("myserver asks you to visit a page:");
    terminal.expect_text("xn--pypal-4ve.com");
    terminal.expect_text("Will you visit it?");
    terminal.enter("");
    assert_eq!(terminal.finish().0, 0);
    for url in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"] {
        let (_, shown) = start(&["call", "myserver/visit", &format!("url={url}")]).finish();
        assert!(shown.contains("neither http nor https") && !shown.contains("Will you visit"), "{shown}");
    }
    // Without a configured name, the typed command is shown.
    let mut terminal = script.at_terminal(&["call", "login"]);
    terminal.expect_text("python3 asks:");
    terminal.enter("me");
    terminal.enter("");
    terminal.expect_text("Send this to python3?");
    terminal.enter("n");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn lists_in_a_pipe_are_sanitized_too() {
    for args in [&["tools", "-v"][..], &["resources"], &["prompts"], &["info"]] {
        assert_harmless(&server().run(args).out, &[]);
    }
}

#[test]
fn text_of_configuration_files_is_sanitized() {
    const EVIL_TEXT: &str = "\u{1b}[2J\u{9b}31m\u{202e}\u{200b}\rX";
    let script = server();
    let path = script.path();
    let entry =
        json!({"command": "python3", "args": ["-S", path], "env": {EVIL_TEXT: EVIL_TEXT}, EVIL_TEXT: 1});
    let home = Home::with(json!({"evil": {"command": "python3", "args": ["-S", path]}}));
    let odd = format!("odd{EVIL_TEXT}");
    home.write("project/.mcp.json", &json!({"mcpServers": {
        &odd: entry, "args": {"command": EVIL_TEXT, "args": [EVIL_TEXT]}, "url": {"url": EVIL_TEXT}, "bad": {EVIL_TEXT: []},
    }}));
    home.write(
        ".cursor/mcp.json",
        &json!({"mcpServers": {&odd: {"command": EVIL_TEXT}, "x": {"command": [EVIL_TEXT]}}}),
    );
    let commands: [&[&str]; 20] = [
        &["list"],
        &["list", "--json"],
        &["get", &odd],
        &["get", "args"],
        &["status"],
        &["status", "--json"],
        &["tools", "-v"],
        &["tools", "--json"],
        &["resources"],
        &["prompts"],
        &["info", "--server", "evil"],
        &["call", "evil/refuse", "--yes"],
        &["why", EVIL_TEXT],
        &["why", &format!("evil/t{EVIL_TEXT}")],
        &["doctor", "evil"],
        &["doctor", &odd],
        &["doctor", "bad"],
        &["import"],
        &["import", "--json"],
        &["reconnect", &odd],
    ];
    for args in commands {
        let mut command = home.command(args);
        command.env("NO_COLOR", "1");
        let (_, shown) = PseudoTerminal::start(command, 120).finish();
        assert!(shown.len() > 20, "{args:?}: {shown:?}");
        assert_harmless(&shown, &["\r\u{1b}[K"]);
    }
    let mut command = home.command(&["approve", "--all"]);
    command.env("NO_COLOR", "1");
    let mut terminal = PseudoTerminal::start(command, 120);
    for _ in 0..3 {
        terminal.expect_text("be started? [y/N]");
        terminal.enter("n");
    }
    assert_harmless(&terminal.finish().1, &["\r\u{1b}[K"]);
    let mut command = home.command(&[
        "call",
        "evil/t\u{1b}[2J\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\rX",
    ]);
    command.env("NO_COLOR", "1");
    let mut terminal = PseudoTerminal::start(command, 120);
    terminal.expect_text("Call it? [y/N/always]");
    terminal.enter("y");
    assert_inert_result(&terminal.finish().1);
}
