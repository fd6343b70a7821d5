//! Errors of commands: exit code, message and hint.

use crate::commands::{demo, run};
use crate::servers::Script;

#[test]
fn a_usage_error_exits_with_2_and_starts_nothing() {
    let cases: [&[&str]; 12] = [
        &["tools"],
        &["tools", "--nope"],
        &["nope"],
        &["call", "echo", "text", "--", "/nonexistent"],
        &["call", "echo", "n:=nope", "--", "/nonexistent"],
        &["call", "echo", "--args", "[1]", "--", "/nonexistent"],
        &["call", "echo", "--args", "@/nonexistent/args.json", "--", "/nonexistent"],
        &["call", "echo", "--answers", "/nonexistent/answers.json", "--", "/nonexistent"],
        &["complete", "language", "f", "--", "/nonexistent"],
        &["tools", "--revision", "2025-01-01", "--", "/nonexistent"],
        &["tools", "--timeout", "0", "--", "/nonexistent"],
        &["prompt", "p", "noequals", "--", "/nonexistent"],
    ];
    for args in cases {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{args:?} {}", ran.err);
        let json = run(&[&args[..1], &["--json"], &args[1..]].concat());
        assert_eq!(json.code, 2, "{args:?}");
        if args[0] != "nope" {
            assert_eq!(json.error()["kind"], "usage", "{args:?}");
        }
    }
    assert!(run(&["tools", "--revision", "2025", "--", "x"]).err.contains("2025-06-18"));
}

#[test]
fn a_value_of_the_wrong_type_exits_with_2() {
    let ran = demo(&["call", "add", "a=one", "b=2"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.err, "error: `a` must be a number; got \"one\"\nhint: a:=JSON sends any JSON as it is\n");
}

#[test]
fn an_error_response_exits_with_1() {
    let unknown = demo(&["call", "ehco"]);
    assert_eq!(unknown.code, 1);
    assert_eq!(
        unknown.err,
        "error: the server refused: Unknown tool: ehco (code -32602)\nhint: did you mean `echo`?\n"
    );
    assert_eq!(demo(&["read", "demo://nope"]).code, 1);
    assert_eq!(demo(&["prompt", "nope"]).code, 1);
    assert_eq!(demo(&["listen", "--resource", "demo://nope"]).code, 1);
}

#[test]
fn a_tool_error_exits_with_5() {
    let ran = demo(&["call", "fail", "reason=out of olives"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, "out of olives\n"));
    assert_eq!(ran.err, "error: tool `fail` reported an error\n");
    let wrong = demo(&["call", "add", "a=1"]);
    assert_eq!(wrong.code, 5);
    assert!(wrong.out.contains("missing field `b`"), "{}", wrong.out);
}

#[test]
fn a_missing_program_exits_with_4_and_lists_the_searched_paths() {
    let ran = run(&["tools", "--env", "PATH=/some/where", "--", "no-such-server"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.starts_with("error: the program \"no-such-server\" was not found"), "{}", ran.err);
    assert!(ran.err.contains("/some/where"), "{}", ran.err);
    assert!(ran.err.contains("\nhint: check the spelling"), "{}", ran.err);
    let json = run(&["tools", "--json", "--", "no-such-server"]);
    assert_eq!((json.code, &json.error()["kind"]), (4, &serde_json::json!("not_started")));
}

#[test]
fn a_server_that_exits_is_4_with_its_stderr() {
    let ran = run(&["tools", "--", "sh", "-c", "echo 'no licence found' >&2; exit 3"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.starts_with("error: the server exited with code 3\n"), "{}", ran.err);
    assert!(ran.err.contains("│ no licence found\n"), "{}", ran.err);
    let json = run(&["tools", "--json", "--", "sh", "-c", "echo 'no licence found' >&2; exit 3"]);
    assert_eq!(json.error()["kind"], "exited");
    assert!(json.error()["stderr"].as_str().unwrap().contains("no licence found"));
}

#[test]
fn a_server_that_exits_during_a_call_or_listen_is_4() {
    let script = Script::server(
        "def answers(method, params):\n    if method in ('tools/call', 'resources/subscribe'):\n        sys.stderr.write('out of memory\\n')\n        sys.stderr.flush()\n        os._exit(7)\n",
    );
    let ran = script.run(&["call", "any"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("exited with code 7") && ran.err.contains("out of memory"), "{}", ran.err);
    let ran = script.run(&["listen", "--resource", "any:thing"]);
    assert_eq!(ran.code, 4);
    let later = Script::server(
        "def answers(method, params):\n    if method == 'resources/subscribe':\n        signal.setitimer(signal.ITIMER_REAL, 0.1)\n        return {}\n",
    );
    let ran = later.run(&["listen", "--resource", "any:thing"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("killed by signal 14"), "{}", ran.err);
}

#[test]
fn an_unresponsive_server_exits_with_4_after_the_timeout() {
    let ran = run(&["tools", "--timeout", "0.5", "--", "sleep", "600"]);
    assert_eq!(ran.code, 4);
    assert!(ran.err.contains("no answer within 500ms (while starting)"), "{}", ran.err);
    let slow = demo(&["call", "countdown", "from=1", "interval_ms=60000", "--timeout", "5"]);
    assert_eq!(slow.code, 4, "{}", slow.err);
    assert!(slow.err.contains("--timeout SECS waits longer"), "{}", slow.err);
}

#[test]
fn a_protocol_violation_exits_with_4() {
    let script = Script::server("def answers(method, params):\n    return {'tools': 7, 'content': 'x'}\n");
    for args in [&["tools"][..], &["tools", "--json"], &["call", "x"]] {
        let ran = script.run(args);
        assert_eq!(ran.code, 4, "{args:?} {}", ran.err);
    }
}

#[test]
fn an_unsupported_revision_exits_with_4() {
    let script = Script::server("def answers(method, params):\n    return None\n");
    let ran = script.run(&["tools", "--revision", "2026-07-28"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("hint: leave out --revision"), "{}", ran.err);
}

#[test]
fn invalid_list_entries_are_reported_and_ignored() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/list':\n        return {'tools': [{'name': 'good', 'inputSchema': {'type': 'object'}}, {'name': 'bad'}, {'name': 'good', 'inputSchema': {'type': 'object'}}]}\n",
    );
    let ran = script.run(&["tools"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1 tool\n\ngood()\n"));
    assert!(
        ran.err.contains("warning: bad is not valid and ignored") && ran.err.contains("more than once"),
        "{}",
        ran.err
    );
}

#[test]
fn an_endless_list_is_truncated() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/list':\n        return {'tools': [], 'nextCursor': 'again'}\n",
    );
    for args in [&["tools"][..], &["tools", "--json"]] {
        let ran = script.run(args);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert!(ran.err.contains("truncated"), "{}", ran.err);
    }
}

#[test]
fn without_a_terminal_questions_are_refused() {
    let modern = demo(&["call", "order_pizza"]);
    assert_eq!(modern.code, 1);
    assert!(modern.err.starts_with("error: the server asks for input (size,"), "{}", modern.err);
    assert!(modern.err.contains("hint: run it at a terminal, or pass --answers"), "{}", modern.err);
    let legacy = demo(&["call", "order_pizza", "--revision", "2025-11-25"]);
    assert_eq!(legacy.code, 1);
    assert!(legacy.err.contains("there is no terminal to answer at"), "{}", legacy.err);
}

#[test]
fn invalid_answers_exit_with_1_and_name_the_field() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let missing = demo(&["call", "order_pizza", "--answers", "{}", "--revision", revision]);
        assert_eq!(missing.code, 1, "{revision}: {}", missing.err);
        assert!(missing.err.contains("asks for `size`"), "{revision}: {}", missing.err);
        let wrong = demo(&["call", "order_pizza", "--answers", r#"{"size":"huge"}"#, "--revision", revision]);
        assert_eq!(wrong.code, 1);
        assert!(wrong.err.contains("--answers: `size` is not valid"), "{revision}: {}", wrong.err);
    }
}
