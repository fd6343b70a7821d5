//! The tasks extension on the wire, message by message.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::link::Exchange;
use switchboard_session::server::{AnswerOutcome, Caller, ReplyChannel, Server};

use crate::tasks::stage;

struct Nowhere;

impl ReplyChannel for Nowhere {
    fn note(&self, method: &str, _: Option<&Raw>) {
        panic!("{method}: a task says nothing beside its state");
    }

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        None
    }
}

async fn ask(server: &Arc<Server>, method: &str, mut params: Value) -> Result<Value, RpcError> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} },
        },
    });
    let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.to_string().into()) else {
        panic!("{frame} is no request")
    };
    let says = server.classify(&request);
    let outcome = match server.answer(&Arc::default(), request, says, Arc::new(Nowhere)) {
        AnswerOutcome::Later(response) => response.await,
        AnswerOutcome::Now(outcome) => outcome,
        AnswerOutcome::Refused(error) => Err(error),
    };
    Ok(outcome?.decode().unwrap())
}

async fn create(server: &Arc<Server>, tool: &str) -> Value {
    let created = ask(server, "tools/call", json!({ "name": tool, "task": { "ttl": 1 } })).await.unwrap();
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    created
}

async fn get(server: &Arc<Server>, id: &Value) -> Value {
    ask(server, "tasks/get", json!({ "taskId": id })).await.unwrap()
}

async fn settles(server: &Arc<Server>, id: &Value, status: &str) -> Value {
    loop {
        let task = get(server, id).await;
        if task["status"] == status {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_task_has_the_wire_format_of_the_extension() {
    let server = stage().server;
    let created = create(&server, "slow").await;
    for (member, is_right) in [
        ("taskId", created["taskId"].as_str().is_some_and(|id| id.len() == 64)),
        // The `task` parameter of the other protocol is ignored here.
        ("ttlMs", created["ttlMs"] == 3_600_000),
        ("pollIntervalMs", created["pollIntervalMs"] == 20),
        ("createdAt", created["createdAt"].as_str().is_some_and(|at| at.ends_with('Z'))),
        ("ttl", created.get("ttl").is_none()),
        ("task", created.get("task").is_none()),
        ("requestState", created.get("requestState").is_none()),
        ("inputRequests", created.get("inputRequests").is_none()),
    ] {
        assert!(is_right, "{member}: {created}");
    }
    let id = &created["taskId"];
    let working = get(&server, id).await;
    assert_eq!((&working["resultType"], &working["status"]), (&json!("complete"), &json!("working")));
    let done = settles(&server, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "slow");
    assert!(done.get("error").is_none() && done.get("requestState").is_none());
    assert!(!done.to_string().contains("related-task"), "{done}");
}

#[tokio::test]
async fn protocol_errors_fail_a_task_and_tool_errors_complete_it() {
    let server = stage().server;
    let id = create(&server, "oops").await["taskId"].clone();
    assert_eq!(settles(&server, &id, "completed").await["result"]["isError"], true);
    let id = create(&server, "broken").await["taskId"].clone();
    let failed = settles(&server, &id, "failed").await;
    assert_eq!((&failed["error"]["code"], &failed["statusMessage"]), (&json!(-32603), &json!("broken")));
    assert!(failed.get("result").is_none());
}

#[tokio::test]
async fn each_response_resolves_its_request_and_unknown_keys_are_ignored() {
    let server = stage().server;
    let id = create(&server, "both").await["taskId"].clone();
    let asks = settles(&server, &id, "input_required").await;
    assert_eq!(keys(&asks["inputRequests"]), ["first", "last"]);
    assert_eq!(asks["inputRequests"]["first"]["method"], "elicitation/create");
    let update = async |key: &str, name: &str| {
        let answer = json!({ key: { "action": "accept", "content": { "name": name } } });
        let done = ask(&server, "tasks/update", json!({ "taskId": id, "inputResponses": answer })).await;
        assert_eq!(done.unwrap()["resultType"], "complete");
    };
    update("other", "x").await;
    update("last", "Lovelace").await;
    let asks = get(&server, &id).await;
    assert_eq!((&asks["status"], keys(&asks["inputRequests"])), (&json!("input_required"), vec!["first"]));
    update("last", "again").await;
    update("first", "Ada").await;
    let done = settles(&server, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "hello Ada Lovelace");
    update("first", "too late").await;
}

#[tokio::test]
async fn input_rounds_finish_before_a_task_begins() {
    let server = stage().server;
    let asked = ask(&server, "tools/call", json!({ "name": "later" })).await.unwrap();
    assert_eq!(
        (&asked["resultType"], keys(&asked["inputRequests"])),
        (&json!("input_required"), vec!["user"])
    );
    assert!(asked.get("taskId").is_none());
    let answer = json!({ "user": { "action": "accept", "content": { "name": "Alice" } } });
    let again = json!({ "name": "later", "requestState": asked["requestState"], "inputResponses": answer });
    let created = ask(&server, "tools/call", again).await.unwrap();
    assert_eq!(created["resultType"], "task", "{created}");
    let id = &created["taskId"];
    assert_eq!(keys(&settles(&server, id, "input_required").await["inputRequests"]), ["more"]);
    let answer = json!({ "more": { "action": "accept", "content": { "name": "Bob" } } });
    ask(&server, "tasks/update", json!({ "taskId": id, "inputResponses": answer })).await.unwrap();
    let done = settles(&server, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Alice true Bob");
}

#[tokio::test]
async fn cancellation_is_acknowledged_and_core_methods_are_unknown() {
    let server = stage().server;
    let id = create(&server, "forever").await["taskId"].clone();
    for _ in 0..2 {
        let done = ask(&server, "tasks/cancel", json!({ "taskId": id })).await.unwrap();
        assert_eq!((&done["resultType"], done.get("status")), (&json!("complete"), None));
        assert_eq!(get(&server, &id).await["status"], "cancelled");
    }
    for method in ["tasks/result", "tasks/list"] {
        assert_eq!(ask(&server, method, json!({ "taskId": id })).await.unwrap_err().code.0, -32601);
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "unknown", "inputResponses": {} });
        assert_eq!(ask(&server, method, params).await.unwrap_err().code.0, -32602, "{method}");
    }
}
