//! The request log.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_protocol::RpcError;
use switchboard_service::{AccessEvent, AccessEventKind};
use switchboard_session::server::layer::Metrics;
use switchboard_session::server::{HandlerOutcome, IncomingRequest, Next};

use crate::requests::send_request;
use crate::sessions::{ERAS, MODERN, REVISIONS, ask, outcome, session};
use crate::shop::Shop;

type Events = Arc<Mutex<Vec<AccessEvent>>>;

fn shown(events: &Events) -> Vec<String> {
    let logged = std::mem::take(&mut *events.lock());
    let line = |event: &AccessEvent| {
        assert_eq!(event.duration.is_some(), event.kind != AccessEventKind::Request);
        let kind = match event.kind {
            AccessEventKind::Request => "request",
            AccessEventKind::Response => "response",
            AccessEventKind::Error => "error",
        };
        let about = event.name.as_deref().or(event.uri.as_deref()).unwrap_or("-");
        let code = event.code.map_or(String::new(), |code| format!(" {code}"));
        format!("{kind} {} {about}{code}", event.method)
    };
    logged.iter().map(line).collect()
}

#[tokio::test]
async fn requests_and_responses_are_logged_without_payloads() {
    let events = Events::default();
    let seen = Arc::clone(&events);
    let server = Shop::builder().logger(move |event| seen.lock().push(event.clone())).build().unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        events.lock().clear();
        outcome(&session, "echo", json!({"text": "classified"})).await;
        outcome(&session, "fail", json!({"text": "tool"})).await;
        outcome(&session, "fail", json!({"text": "panic"})).await;
        outcome(&session, "echo", json!({"text": 1, "classified": 1})).await;
        let _ = ask(&session, "resources/read", json!({"uri": "text://a?q=classified"})).await;
        let _ = ask(&session, "resources/read", json!({"uri": "none://a"})).await;
        let _ = ask(&session, "prompts/get", json!({"name": "advise", "arguments": {"topic": "classified"}}))
            .await;
        let _ = ask(&session, "prompts/get", json!({"name": "review"})).await;
        let _ = ask(&session, "tools/list", json!({})).await;
        assert!(!format!("{:?}", events.lock()).contains("classified"));
        assert_eq!(
            shown(&events),
            [
                "request tools/call echo",
                "response tools/call echo",
                "request tools/call fail",
                "error tools/call fail",
                "request tools/call fail",
                "error tools/call fail -32603",
                "request tools/call echo",
                "error tools/call echo",
                "request resources/read text://a",
                "response resources/read text://a",
                "request resources/read none://a",
                "error resources/read none://a -32602",
                "request prompts/get advise",
                "response prompts/get advise",
                "request prompts/get review",
                "response prompts/get review",
                "request tools/list -",
                "response tools/list -",
            ],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn d9_requests_that_the_session_answers_are_logged_with_the_client() {
    for revision in REVISIONS {
        let events = Events::default();
        let seen = Arc::clone(&events);
        let server = Shop::builder().logger(move |event| seen.lock().push(event.clone())).build().unwrap();
        let session = session(&server, revision).await;
        let opened = if revision == MODERN { "server/discover" } else { "initialize" };
        let at_first = shown(&events);
        let wanted = [format!("request {opened} -"), format!("response {opened} -")];
        assert!(at_first.windows(2).any(|two| two == wanted), "{revision}: {at_first:?}");
        if revision != MODERN {
            ask(&session, "ping", json!({})).await.unwrap();
            assert_eq!(shown(&events), ["request ping -", "response ping -"], "{revision}");
        }
        let _ = ask(&session, "tools/list", json!({})).await;
        let last = events.lock().pop().unwrap();
        assert_eq!(last.method, "tools/list");
        assert!(last.client.is_some_and(|client| !client.name.is_empty()), "{revision}");
    }
}

#[tokio::test]
async fn d9_the_caller_is_logged() {
    let events = Events::default();
    let seen = Arc::clone(&events);
    let server = Shop::builder().logger(move |event| seen.lock().push(event.clone())).build().unwrap();
    send_request(&server, Some("ada"), json!({"name": "echo", "arguments": {"text": "a"}})).await.1.unwrap();
    let logged: Vec<_> = events.lock().iter().map(|event| event.caller.clone().unwrap().subject).collect();
    assert_eq!(logged, ["ada", "ada"]);
}

#[tokio::test]
async fn payloads_are_logged_on_request() {
    let events = Events::default();
    let seen = Arc::clone(&events);
    let builder = Shop::builder().log_payloads(true).logger(move |event| seen.lock().push(event.clone()));
    let server = builder.build().unwrap();
    let session = session(&server, MODERN).await;
    events.lock().clear();
    outcome(&session, "echo", json!({"text": "classified"})).await;
    let logged = events.lock();
    assert_eq!(logged[0].payload.as_ref().unwrap().as_str(), r#"{"text":"classified"}"#);
    assert!(logged[1].payload.as_ref().unwrap().as_str().contains("classified"));
}

#[tokio::test]
async fn a_layer_of_a_service_is_inside_of_the_log_and_outside_of_the_timeout() {
    let events = Events::default();
    let (seen, metrics) = (Arc::clone(&events), Metrics::new());
    let server = Shop::builder()
        .logger(move |event| seen.lock().push(event.clone()))
        .call_timeout(std::time::Duration::from_millis(30))
        .layer(metrics.clone())
        .layer(|request: IncomingRequest, next: Next| match request.method() {
            "prompts/get" => HandlerOutcome::error(RpcError::invalid_request("not today")),
            _ => next.call(request),
        })
        .build()
        .unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        events.lock().clear();
        outcome(&session, "hang", json!({})).await;
        ask(&session, "prompts/get", json!({"name": "review"})).await.unwrap_err();
        assert_eq!(
            shown(&events),
            [
                "request tools/call hang",
                "error tools/call hang -32603",
                "request prompts/get review",
                "error prompts/get review -32600",
            ],
            "{revision}"
        );
    }
    let (counted, each) = (metrics.snapshot(), ERAS.len() as u64);
    assert_eq!((counted["tools/call"].errors, counted["prompts/get"].errors), (each, each), "{counted:?}");
}
