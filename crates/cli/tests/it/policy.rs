//! `switchboard policy`, and a gateway with a policy and an audit log.

use std::fs;

use serde_json::{Value, json};
use switchboard_testkit::RunningCommand;

use crate::commands::run;
use crate::home::{Home, demo};

const POLICY: &str = r#"
default = "deny"
[[rule]]
name = "sums"
effect = "allow"
server = "one"
tool = "add"
arguments = { a = { not_equals = 13 } }
[[rule]]
effect = "allow"
server = "one"
tool = "echo"
scope = "talk"
[[limit]]
name = "sums"
operation = "call"
tool = "add"
rate = "2/day"
"#;

fn write_policy(home: &Home, text: &str) -> String {
    let path = home.at("policy.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_decision_is_told_with_its_rule() {
    let home = Home::with(json!({}));
    let file = write_policy(&home, POLICY);
    let test = |args: &[&str]| run(&[&["policy", "test", "--policy", &file], args].concat());
    let allowed = test(&["one/add", "a:=1", "b:=2"]);
    assert_eq!(
        (allowed.code, allowed.out.as_str()),
        (0, "allowed by rule 1 (`sums`); listed\n"),
        "{}",
        allowed.err
    );
    for arguments in [r#"{"a": 13}"#, r#"{"a": 1.3e1}"#, r#"{"a": "13"}"#, r#"{"a": 1, "a": 13}"#, "{}"] {
        let denied = test(&["one/add", arguments]);
        assert_eq!(
            (denied.code, denied.out.starts_with("denied by ")),
            (1, true),
            "{arguments}: {}",
            denied.out
        );
    }
    let scope = test(&["--as", "ada", "one/echo"]);
    assert_eq!((scope.code, scope.out.as_str()), (1, "scope talk is required by rule 2; listed\n"));
    assert_eq!(test(&["--as", "ada", "--scope", "talk", "one/echo"]).code, 0);
    let json: Value = serde_json::from_str(&test(&["two/add", "--json"]).out).unwrap();
    assert_eq!((&json["decision"], &json["listed"]), (&json!("deny"), &json!(false)));
    assert_eq!(test(&["add"]).code, 2, "a server is required");
}

#[test]
fn a_document_is_checked() {
    let home = Home::with(json!({}));
    let file = write_policy(&home, "default = \"allow\"\n[[rule]]\neffect = \"allow\"\ntool = \"x\"\n");
    let checked = run(&["policy", "check", &file]);
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert!(checked.out.contains("warning: line 2: rule 1 has no effect"), "{}", checked.out);
    let file = write_policy(&home, "default = \"allow\"\n[[rule]]\nefect = \"allow\"\n");
    let broken = run(&["policy", "check", &file]);
    assert_eq!(broken.code, 2);
    assert!(
        broken.err.contains("line 3: rule 1: `efect` is not known here; did you mean `effect`?"),
        "{}",
        broken.err
    );
}

#[test]
fn a_gateway_enforces_the_policy_and_records_every_call() {
    let home = Home::with(json!({ "one": demo(), "two": demo() }));
    let (file, audit) = (write_policy(&home, POLICY), home.at("audit.jsonl"));
    let args = ["gateway", "--http", "127.0.0.1:0", "--policy", &file, "--audit", audit.to_str().unwrap()];
    let mut gateway = RunningCommand::start(home.command(&args));
    let url = gateway.err.line_after("listening at ");
    let client = |args: &[&str]| run(&[args, &["--url", &url]].concat());

    let tools = client(&["tools"]).out;
    assert!(
        tools.contains("one__add") && !tools.contains("two__") && !tools.contains("one__countdown"),
        "{tools}"
    );
    assert!(client(&["call", "one__add", "a=1", "b=2"]).out.contains(":3"));
    let denied = client(&["call", "one__add", "a=13", "b=2"]);
    assert_ne!(denied.code, 0);
    assert!(denied.err.contains("Unknown tool: one__add"), "{}", denied.err);
    assert_ne!(client(&["call", "two__add", "a=1", "b=2"]).code, 0);
    assert_eq!(client(&["call", "one__add", "a=2", "b=2"]).code, 0);
    let limited = client(&["call", "one__add", "a=3", "b=2"]);
    assert!(limited.code != 0 && limited.err.contains("rate limit "), "{}", limited.err);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));

    let lines: Vec<Value> =
        fs::read_to_string(&audit).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<(&str, &str, &str)> = lines
        .iter()
        .filter(|line| line["method"] == "tools/call")
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            assert_eq!(line["address"], "127.0.0.1");
            (text("server"), text("identifier"), text("outcome"))
        })
        .collect();
    let expected = [
        ("one", "add", "ok"),
        ("one", "add", "denied"),
        ("two", "add", "denied"),
        ("one", "add", "ok"),
        ("one", "add", "rate_limited"),
    ];
    assert_eq!(calls, expected);
    assert!(lines.iter().any(|line| line["method"] == "tools/list" && line["outcome"] == "ok"));
}
