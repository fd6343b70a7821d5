//! Output with `--json`: the JSON of the protocol as the server wrote it.

use serde_json::json;

use crate::commands::demo;
use crate::servers::Script;

#[test]
fn lists_are_complete_results_of_the_protocol() {
    let tools = demo(&["tools", "--json"]).json();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 10);
    assert_eq!(tools["tools"][0]["inputSchema"]["required"], json!(["text"]));
    let resources = demo(&["resources", "--json"]).json();
    assert_eq!(resources["resources"].as_array().unwrap().len(), 7);
    assert_eq!(resources["resourceTemplates"][0]["uriTemplate"], "demo://city/{name}");
    assert_eq!(resources.get("nextCursor"), None);
    let prompts = demo(&["prompts", "--json"]).json();
    assert_eq!(
        prompts["prompts"][0]["arguments"][0],
        json!({"name": "language", "description": "Into which language", "required": true})
    );
}

#[test]
fn results_are_unchanged() {
    let modern = demo(&["info", "--json", "--revision", "2026-07-28"]).json();
    assert_eq!(modern["supportedVersions"][0], "2026-07-28");
    let legacy = demo(&["info", "--json", "--revision", "2025-06-18"]).json();
    assert_eq!(
        (&legacy["protocolVersion"], &legacy["serverInfo"]["name"]),
        (&json!("2025-06-18"), &json!("switchboard-demo"))
    );
    let call = demo(&["call", "add", "a=1", "b=2", "--json"]).json();
    assert_eq!(call["structuredContent"], json!({"sum": 3}));
    let read = demo(&["read", "demo://notes/1", "--json"]).json();
    assert_eq!(
        read["contents"],
        json!([{"uri": "demo://notes/1", "mimeType": "text/plain", "text": "Buy olives."}])
    );
    let prompt = demo(&["prompt", "introduce", "--json"]).json();
    assert_eq!(prompt["messages"][0]["role"], "user");
    let complete = demo(&["complete", "--prompt", "translate", "language", "ja", "--json"]).json();
    assert_eq!(complete["completion"]["values"], json!(["japanese"]));
}

#[test]
fn numbers_escapes_and_order_are_preserved() {
    let script = Script::server(
        "def answers(method, params):\n    if method == 'tools/call':\n        sys.stdout.write('{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[], \"x-new\": 1.50, \"n\":123456789012345678901234567890}}\\n')\n        sys.stdout.flush()\n        time.sleep(60)\n",
    );
    let ran = script.run(&["call", "any", "--json", "--revision", "2025-11-25"]);
    assert_eq!(
        ran.out, "{\"content\":[], \"x-new\": 1.50, \"n\":123456789012345678901234567890}\n",
        "{}",
        ran.err
    );
}

#[test]
fn changes_are_notifications_one_per_line() {
    let ran = demo(&["listen", "--resource", "demo://clock", "--count", "1", "--json"]);
    assert_eq!(
        ran.json(),
        json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "demo://clock"}})
    );
}

#[test]
fn an_error_is_one_object_on_stderr() {
    let ran = demo(&["call", "ehco", "--json"]);
    let error = ran.error();
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert_eq!((&error["kind"], &error["code"]), (&json!("remote"), &json!(-32602)));
    assert_eq!(error["hint"], "did you mean `echo`?");
    let failed = demo(&["call", "fail", "reason=because", "--json"]);
    assert_eq!(failed.code, 5);
    assert_eq!(failed.json()["isError"], true);
    assert_eq!(failed.error()["kind"], "tool");
    assert!(failed.error()["message"].as_str().unwrap().ends_with(": because"));
}
