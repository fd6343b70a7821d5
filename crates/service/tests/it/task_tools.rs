//! Tools that may run as tasks, by their design.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_design::TaskRule;
use switchboard_protocol::TaskParams;
use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_service::ServiceBuilder;
use switchboard_service::task::{TaskLimits, Tasks};
use switchboard_session::{CallError, Client};

use crate::sessions::{ERAS, MODERN, NEWEST_LEGACY, connect, outcome, session};
use crate::shop::Shop;

/// The sample service; `echo` may run as a task, `own` always does.
fn builder() -> ServiceBuilder {
    let mut shop = Shop::new();
    let design = Arc::make_mut(&mut shop.design);
    for tool in &mut design.tools {
        match tool.name.as_str() {
            "echo" => tool.task = TaskRule::Allowed,
            "own" => tool.task = TaskRule::Required,
            _ => {}
        }
    }
    let limits = TaskLimits::default().with_poll_interval(Duration::from_millis(10));
    ServiceBuilder::new(Arc::new(shop)).tasks(Tasks::new(limits))
}

#[tokio::test]
async fn a_tool_runs_as_a_task_if_design_and_caller_agree() {
    let server = builder().build().unwrap();
    assert!(server.capabilities().has_extension(TASKS_EXTENSION));
    let client = Client::new().with_tasks();
    for revision in ERAS {
        let session = connect(&client, &server, revision).await;
        for tool in ["echo", "own"] {
            let call = session.call_tool(tool, json!({"text": "long"}));
            let call = if revision == MODERN { call } else { call.as_task(TaskParams::new()) };
            assert_eq!(call.await.unwrap().text(), "long", "{tool} {revision}");
        }
        // Invalid arguments are reported at once, without a task.
        let call = session.call_tool("echo", json!({"text": 1}));
        let call = if revision == MODERN { call } else { call.as_task(TaskParams::new()) };
        match call.await {
            Ok(result) => assert!(result.is_error && result.text().contains("`text`"), "{revision}"),
            // A 2025-11-25 client requested a task and got a result.
            Err(CallError::Protocol { .. }) => assert_eq!(revision, NEWEST_LEGACY),
            Err(other) => panic!("{revision}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn clients_without_tasks_call_directly_or_get_an_error() {
    let server = builder().build().unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        assert_eq!(outcome(&session, "echo", json!({"text": "at once"})).await.1, "at once", "{revision}");
        let (code, _) = outcome(&session, "own", json!({"text": "x"})).await;
        assert_eq!(code, if revision == MODERN { "-32021" } else { "-32601" }, "{revision}");
    }
}

#[tokio::test]
async fn a_design_without_tasks_declares_none() {
    let server = Shop::builder().build().unwrap();
    assert!(!server.capabilities().has_extension(TASKS_EXTENSION));
    assert!(server.capabilities().tasks.is_none());
}
