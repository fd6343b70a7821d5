//! Questions of servers: declared capabilities, tasks, pages to visit.

use serde_json::json;
use switchboard_testkit::PseudoTerminal;

use crate::commands::run;
use crate::home::Home;
use crate::servers::Script;

const TASKS: &str = r#"
polls = 0
def base_capabilities():
    return {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}

def answers(method, params):
    global polls
    if method == "tools/list":
        return {"tools": [{"name": "research", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}]}
    if method == "tools/call":
        if "task" not in params:
            return {"error!": {"code": -32601, "message": "this tool runs as a task"}}
        return {"task": {"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None, "pollInterval": 20}}
    if method == "tasks/get":
        polls += 1
        status = "working" if polls < 20 else "completed"
        return {"taskId": "t1", "status": status, "statusMessage": "reading page %d" % (polls // 10), "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None, "pollInterval": 20}
    if method == "tasks/result":
        return {"content": [{"type": "text", "text": "found it"}]}

old_base = base
def base(method):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": NAME, "version": "1"}, "capabilities": base_capabilities()}
    return old_base(method)
"#;

const PAGE: &str = r#"
visits = 0
def answers(method, params):
    global visits
    if method == "tools/list":
        return {"tools": [{"name": "secret", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    if method == "tools/call":
        visits += 1
        if visits == 1:
            return {"error!": {"code": -32042, "message": "visit first", "data": {"elicitations": [
                {"mode": "url", "elicitationId": "e1", "url": "https://login.example.com/go", "message": "Please log in."}]}}}
        return {"content": [{"type": "text", "text": "open sesame"}]}
"#;

/// A server that returns the capabilities the client declared.
const DECLARED: &str = r#"
declared = {}
def answers(method, params):
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "declared " + ",".join(sorted(declared))}]}
    if method == "tools/list":
        return {"tools": [{"name": "declared", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}

loads = json.loads
def watch(line):
    message = loads(line)
    if message.get("method") == "initialize":
        declared.update(message["params"]["capabilities"])
        declared.update({"elicitation." + mode: 1 for mode in message["params"]["capabilities"].get("elicitation", {})})
    return message
json.loads = watch
"#;

#[test]
fn c4_a_task_only_tool_is_called_as_a_task() {
    let script = Script::server(TASKS);
    let ran = script.run(&["call", "research"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "found it\n"), "{}", ran.err);
    let mut terminal = script.at_terminal(&["call", "research"]);
    terminal.expect_text("task working: reading page 1");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.ends_with("found it\r\n"), "{shown:?}");

    let path = script.path().to_str().unwrap().to_owned();
    let home = Home::with(json!({"slow": {"command": "python3", "args": ["-S", path]}}));
    assert_eq!(home.run_ok(&["call", "slow/research", "--yes"]).out, "found it\n");
}

#[test]
fn c4_a_required_page_is_shown_and_the_call_retried() {
    let script = Script::server(PAGE);
    let mut terminal = script.at_terminal(&["call", "secret"]);
    terminal.expect_text("asks you to visit a page");
    terminal.expect_text("Please log in.");
    terminal.expect_text("https://login.example.com/go");
    terminal.expect_text("Will you visit it?");
    terminal.enter("y");
    terminal.expect_text("Press Enter when you are done");
    terminal.enter("");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("open sesame"), "{shown}");

    let mut terminal = script.at_terminal(&["call", "secret"]);
    terminal.expect_text("Will you visit it?");
    terminal.enter("n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 1);
    assert!(shown.contains("Not called."), "{shown}");

    let ran = script.run(&["call", "secret"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("https://login.example.com/go"), "{}", ran.err);
    assert!(ran.err.contains("run the command again"), "{}", ran.err);

    let path = script.path().to_str().unwrap().to_owned();
    let home = Home::with(json!({"vault": {"command": "python3", "args": ["-S", path]}}));
    let mut terminal = PseudoTerminal::start(home.command(&["call", "vault/secret", "--yes"]), 80);
    terminal.expect_text("vault");
    terminal.expect_text("Will you visit it?");
    terminal.enter("y");
    terminal.expect_text("Press Enter");
    terminal.enter("");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("open sesame"), "{shown}");
}

#[test]
fn c7_the_same_capabilities_are_declared_with_and_without_a_terminal() {
    let script = Script::server(DECLARED);
    let expected = "declared elicitation,elicitation.form,elicitation.url";
    let piped = script.run(&["call", "declared"]);
    assert!(piped.out.contains(expected), "{} {}", piped.out, piped.err);
    let (_, shown) = script.at_terminal(&["call", "declared"]).finish();
    assert!(shown.contains(expected), "{shown}");
    let path = script.path().to_str().unwrap().to_owned();
    let home = Home::with(json!({"it": {"command": "python3", "args": ["-S", path]}}));
    let hosted = home.run_ok(&["call", "it/declared", "--yes"]);
    assert!(hosted.out.contains(expected), "{} {}", hosted.out, hosted.err);
}

#[test]
fn c7_a_question_without_a_terminal_is_refused_with_its_fields() {
    let ran = run(&crate::commands::on_demo(&["call", "order_pizza"]));
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("the server asks for input (size, count"), "{}", ran.err);
    assert!(ran.err.contains("--answers"), "{}", ran.err);
}

#[test]
fn c11_a_spinner_shows_the_last_line_of_stderr_while_a_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let script = format!(
        "echo downloading package 7 >&2; while [ ! -e {} ]; do sleep 0.05; done; exec {} demo-server",
        gate.display(),
        crate::commands::SWITCHBOARD
    );
    let mut terminal =
        PseudoTerminal::start(crate::commands::switchboard(["tools", "--", "sh", "-c", &script]), 80);
    terminal.expect_text("starting sh…  downloading package 7");
    std::fs::write(&gate, "").unwrap();
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");

    std::fs::remove_file(&gate).unwrap();
    let home = Home::with(json!({"slow": {"command": "sh", "args": ["-c", script]}}));
    let mut terminal = PseudoTerminal::start(home.command(&["tools", "slow"]), 80);
    terminal.expect_text("starting slow…  downloading package 7");
    std::fs::write(&gate, "").unwrap();
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
}
