//! Tasks in both protocols, and subscriptions to resources.

use serde_json::{Value, json};
use switchboard_session::RevisionPolicy;
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::page::{Events, Page, tool_call};
use crate::workshop::{LEGACY, MODERN, Running};

trials! {
    trial_leaving_tasks:
        a_task_is_followed_to_its_result_in_both_protocols,
        a_cancelled_task_is_cancelled_on_the_server,
        updates_of_a_subscribed_resource_are_counted,
}

/// Starts a call that becomes a task.
async fn start(page: &Page, revisions: RevisionPolicy, tool: &str) -> u64 {
    let mut request = tool_call("shop", tool, "{}");
    request["asTask"] = json!(revisions == LEGACY);
    let (status, started) = page.post("/api/calls", &request).await;
    assert_eq!(status, 202, "{started}");
    started["call"].as_u64().unwrap()
}

async fn status(events: &Events, status: &str) -> Value {
    let fits = |event: &Value| event["type"] == "task" && event["task"]["status"] == status;
    events.wait_for(status, fits).await["task"].clone()
}

async fn a_task_is_followed_to_its_result_in_both_protocols() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let call = start(&page, revisions, "job").await;
        let task = status(&events, "working").await;
        assert_eq!((&task["server"], &task["call"]), (&json!("shop"), &json!(call)));
        assert!(task["createdAtMs"].as_u64().unwrap() > 1_700_000_000_000, "{task}");
        assert_eq!(page.outcome(&events, call).await["type"], "ok", "{revisions:?}");
        assert_eq!(status(&events, "completed").await["taskId"], task["taskId"]);
        let result = page.fetch(&format!("/api/calls/{call}/result")).await;
        assert!(result["resultJson"].as_str().unwrap().contains("done"), "{result}");
        page.close().await;
    }
}

async fn a_cancelled_task_is_cancelled_on_the_server() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let call = start(&page, revisions, "long_job").await;
        let task = status(&events, "working").await;
        let state = |event: &Value| event["call"]["state"]["type"] == "task";
        events.wait_for("the state of the call", state).await;
        let cancel = json!({"server": "shop", "taskId": task["taskId"]});
        let (code, body) = page.post("/api/tasks/cancel", &cancel).await;
        assert_eq!(code, 202, "{body}");
        wait_until("the end on the server", || running.dropped() == 1).await;
        status(&events, "cancelled").await;
        let outcome = page.outcome(&events, call).await;
        assert_ne!(outcome["type"], "ok", "{outcome}");
        let unknown = json!({"server": "shop", "taskId": "nothing"});
        assert_eq!(page.post("/api/tasks/cancel", &unknown).await.1["code"], "unknown_task");
        page.close().await;
    }
}

async fn updates_of_a_subscribed_resource_are_counted() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let note = json!({"server": "shop", "uri": "note://today"});
        assert_eq!(page.post("/api/subscriptions", &note).await.0, 200);
        assert_eq!(page.post("/api/subscriptions", &note).await.0, 200, "a second time changes nothing");
        for _ in 0..50 {
            running.server.publisher().resource_updated("note://today");
        }
        running.server.publisher().resource_updated("note://other");
        let counted =
            |event: &Value| event["type"] == "subscription" && event["subscription"]["updates"] == 50;
        events.wait_for("the updates", counted).await;
        let published = events.of_type("subscription").len();
        assert!(published <= 10, "updates at once are one event: {published}");
        assert_eq!(page.post("/api/subscriptions/end", &note).await.0, 200);
        events.wait_for("the end", |event| event["type"] == "unsubscribed").await;
        assert_eq!(page.fetch("/api/snapshot").await["subscriptions"], json!([]));
        assert_eq!(page.post("/api/subscriptions/end", &note).await.0, 404);
        page.close().await;
    }
}
