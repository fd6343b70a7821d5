//! Tasks of principals with processes of their own, which give their tasks the same ids: each task is in one session.

use std::time::Duration;

use switchboard::client::Change;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::ServerSpec;
use switchboard::host::config::SharePolicy;
use switchboard::protocol::{ErrorCode, Raw, TaskParams};
use switchboard::server::Caller;
use switchboard::{Client, InProcess, Stdio, json};
use switchboard_session::ClientSession;
use switchboard_testkit::{STEP_TIMEOUT, is_running, trial_leaving_tasks, trials, wait_for_exit, wait_until};

use crate::cells::Side;
use crate::counting_upstream;
use crate::raw_client::RawClient;
use crate::upstream;

trials! {
    trial_leaving_tasks:
        questions_of_equal_ids_reach_their_own_principal,
        states_of_equal_ids_are_announced_to_their_own_principal,
        a_running_task_keeps_its_process_and_ends_with_it,
}

async fn open(idle_timeout: Option<Duration>) -> Gateway {
    let stdio = Stdio::new(std::env::current_exe().unwrap()).env(upstream::PART, counting_upstream::PART);
    let spec = ServerSpec::from(stdio).startup_timeout(STEP_TIMEOUT).share(SharePolicy::PerPrincipal);
    let spec = match idle_timeout {
        Some(timeout) => spec.idle_timeout(timeout),
        None => spec,
    };
    let host = Gateway::host_builder().build();
    host.connect("up", spec).await.unwrap();
    Gateway::new(host, GatewayOptions::default())
}

async fn modern(gateway: &Gateway, name: &str) -> RawClient {
    RawClient::connect(gateway.server(), Some(name)).await.with_tasks()
}

async fn legacy(gateway: &Gateway, name: &str) -> ClientSession {
    let client = Client::new().with_revisions(Side::Legacy.revisions()).with_tasks();
    client.connect(InProcess::new(gateway.server()).with_caller(Caller::new(name))).await.unwrap()
}

fn value(raw: &Raw) -> serde_json::Value {
    raw.decode().unwrap()
}

/// Starts a task and returns its id.
async fn start(client: &RawClient, tool: &str) -> String {
    let created = value(&client.call(tool, json!({})).await.unwrap());
    created["taskId"].as_str().unwrap().to_owned()
}

async fn get(client: &RawClient, id: &str) -> serde_json::Value {
    value(&client.request("tasks/get", &format!(r#""taskId":"{id}""#)).await.unwrap())
}

async fn text(client: &RawClient, tool: &str) -> String {
    let result = value(&client.call(tool, json!({})).await.unwrap());
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn questions_of_equal_ids_reach_their_own_principal() {
    let gateway = open(None).await;
    let mut asked = Vec::new();
    for name in ["ada", "bob"] {
        let client = modern(&gateway, name).await;
        let (pid, id) = (text(&client, "up__pid").await, start(&client, "up__ask").await);
        asked.push((name, client, pid, id));
    }
    let mut keys = Vec::new();
    for (name, client, pid, id) in &asked {
        let task = get(client, id).await;
        let questions = task["inputRequests"].as_object().unwrap();
        assert_eq!(questions.len(), 1, "{name}: {task}");
        let (key, question) = questions.iter().next().unwrap();
        assert_eq!(question["params"]["message"], format!("Which color, {pid}?"), "{name}");
        keys.push(key.clone());
    }
    for ((name, client, _, id), key) in asked.iter().zip(&keys) {
        let answers = json!({ key: { "action": "accept", "content": { "color": name } } });
        let members = format!(r#""taskId":"{id}","inputResponses":{answers}"#);
        client.request("tasks/update", &members).await.unwrap();
    }
    for (name, client, _, id) in &asked {
        let task = loop {
            let task = get(client, id).await;
            if task["status"] == "completed" {
                break task;
            }
        };
        assert_eq!(task["result"]["content"][0]["text"], *name, "{task}");
    }
    gateway.host().close().await;
}

async fn states_of_equal_ids_are_announced_to_their_own_principal() {
    let gateway = open(None).await;
    let (ada, bob) = (legacy(&gateway, "ada").await, legacy(&gateway, "bob").await);
    let mut streams = Vec::new();
    for session in [&ada, &bob] {
        streams.push(session.changes().unwrap());
        let params = Raw::from(json!({ "name": "up__job", "task": TaskParams::new() }));
        session.request_raw("tools/call", params).await.unwrap();
    }
    // Bob's first: what reached Ada by mistake is before her own.
    for (session, changes) in [&ada, &bob].into_iter().zip(&mut streams).rev() {
        let pid = session.call_tool("up__pid", json!({})).await.unwrap().text();
        session.call_tool("up__finish", json!({})).await.unwrap();
        let state = loop {
            if let Change::Task(raw) = changes.next().await.unwrap() {
                break value(&raw);
            }
        };
        assert_eq!(state["statusMessage"], pid, "{state}");
        assert_eq!(state["status"], "completed");
    }
    gateway.host().close().await;
}

async fn a_running_task_keeps_its_process_and_ends_with_it() {
    let gateway = open(Some(Duration::from_millis(50))).await;
    let (ada, bob) = (modern(&gateway, "ada").await, modern(&gateway, "bob").await);
    let id = start(&ada, "up__job").await;
    let own: u32 = get(&ada, &id).await["statusMessage"].as_str().unwrap().parse().unwrap();
    // Both have been idle for as long; she has a task.
    for _ in 0..3 {
        wait_for_exit(text(&bob, "up__pid").await.parse().unwrap()).await;
    }
    assert!(is_running(own));
    assert_eq!(get(&ada, &id).await["status"], "working");
    assert_eq!(text(&ada, "up__finish").await, "finished");
    wait_for_exit(own).await;
    wait_until("the sessions to end", || gateway.status().servers[0].sessions == 0).await;
    let request = format!(r#""taskId":"{id}""#);
    for method in ["tasks/get", "tasks/cancel"] {
        let error = ada.request(method, &request).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{method}");
        assert_eq!(error.message, format!("Unknown task: {id}"), "{method}");
    }
    assert_eq!(gateway.status().servers[0].sessions, 0, "no session was opened for it");
    // Another task with the same id upstream is not this one.
    let next = start(&ada, "up__job").await;
    assert_eq!(get(&ada, &next).await["status"], "working");
    assert_eq!(ada.request("tasks/get", &request).await.unwrap_err().code, ErrorCode::INVALID_PARAMS);
    gateway.host().close().await;
}
