//! Elicitation from inside a method, with the same code in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_protocol::{ElicitAction, ElicitParams, ElicitResult};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{AnswerOutcome, Caller};
use switchboard_session::{Client, StateKeys};

use crate::requests::{RecordingChannel, begin_text, send_request};
use crate::sessions::{ERAS, MODERN, NEWEST_LEGACY, REVISIONS, connect, outcome, session};
use crate::shop::{Consent, Shop};

/// Accepts the first `yes` requests and declines the rest.
struct Agrees {
    yes: usize,
    requests: Arc<AtomicUsize>,
}

impl ClientHandler for Agrees {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let result = if number < self.yes {
            serde_json::from_value(json!({"action": "accept", "content": {"ok": true}})).unwrap()
        } else {
            ElicitResult::new(ElicitAction::Decline)
        };
        Box::pin(async move { Ok(result) })
    }
}

fn client(yes: usize) -> (Client, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    (Client::new().with_answers(Agrees { yes, requests: Arc::clone(&requests) }), requests)
}

#[tokio::test]
async fn sequential_requests_are_sent_once_and_a_step_runs_once() {
    for revision in REVISIONS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (client, requests) = client(9);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "go"})).await;
        assert_eq!(answer, ("fine".to_owned(), "42 true true".to_owned()), "{revision}");
        assert_eq!(requests.load(Ordering::SeqCst), 2, "{revision}");
        assert_eq!(counts.steps.load(Ordering::SeqCst), 1, "{revision}");
        let runs = if revision == MODERN { 3 } else { 1 };
        assert_eq!(counts.runs.load(Ordering::SeqCst), runs, "{revision}");
    }
}

#[tokio::test]
async fn concurrent_requests_are_one_round() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (client, requests) = client(9);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "both"})).await;
        assert_eq!(answer, ("fine".to_owned(), "true true".to_owned()), "{revision}");
        assert_eq!(requests.load(Ordering::SeqCst), 2, "{revision}");
        let runs = if revision == MODERN { 2 } else { 1 };
        assert_eq!(counts.runs.load(Ordering::SeqCst), runs, "{revision}");
    }
}

#[tokio::test]
async fn a_declined_elicitation_is_reported_to_the_model() {
    for revision in ERAS {
        let server = Shop::builder().build().unwrap();
        let (client, requests) = client(1);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "go"})).await;
        assert_eq!(answer, ("failed".to_owned(), "The user declined.".to_owned()), "{revision}");
        assert_eq!(requests.load(Ordering::SeqCst), 2, "{revision}");
    }
}

#[tokio::test]
async fn v6_without_elicitation_the_model_gets_no_developer_text() {
    let server = Shop::builder().build().unwrap();
    let legacy = session(&server, NEWEST_LEGACY).await;
    let (how, text) = outcome(&legacy, "agree", json!({"text": "go"})).await;
    assert_eq!(how, "failed");
    assert_eq!(text, "This needs the capability elicitation, which the client does not have.");
    let modern = session(&server, MODERN).await;
    let (how, text) = outcome(&modern, "agree", json!({"text": "go"})).await;
    assert_eq!(how, "-32021", "{text}");
}

fn retry(text: &str, state: &Value, answers: &Value) -> Value {
    json!({"name": "agree", "arguments": {"text": text}, "requestState": state, "inputResponses": answers})
}

#[tokio::test]
async fn a_forged_or_foreign_request_state_is_rejected() {
    let server = Shop::builder().build().unwrap();
    let first = json!({"name": "agree", "arguments": {"text": "go"}});
    let round = send_request(&server, Some("ada"), first).await.1.unwrap();
    assert_eq!(round["resultType"], "input_required", "{round}");
    let state = &round["requestState"];
    let answers = json!({"first": {"action": "accept", "content": {"ok": true}}});
    let mut changed = state.as_str().unwrap().to_owned();
    let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
    changed.push(last);
    let other = Shop::builder().build().unwrap();
    for (server, caller, text, state) in [
        (&server, Some("ada"), "go", &json!(changed)),
        (&server, Some("ada"), "other", state),
        (&server, Some("bob"), "go", state),
        (&server, None, "go", state),
        (&other, Some("ada"), "go", state),
    ] {
        let error = send_request(server, caller, retry(text, state, &answers)).await.1.unwrap_err();
        assert_eq!(error.0, -32602, "{caller:?} {text}: {error:?}");
    }
    // Unmodified, it continues with the second request, once.
    let next = send_request(&server, Some("ada"), retry("go", state, &answers)).await.1.unwrap();
    assert!(next["inputRequests"].get("second").is_some(), "{next}");
    let error = send_request(&server, Some("ada"), retry("go", state, &answers)).await.1.unwrap_err();
    assert_eq!(error, (-32602, "Invalid or expired requestState".to_owned()));
}

#[tokio::test]
async fn s3_an_undecodable_request_is_rejected_with_the_state_of_another() {
    let server = Shop::builder().build().unwrap();
    let back = Arc::new(RecordingChannel::default());
    let yes = r#"{"first":{"action":"accept","content":{"ok":true}}}"#;
    let params = |text: &str, odd: &str, state: &str| {
        format!(
            r#"{{"name":"agree","arguments":{{"text":"{text}"}},"inputResponses":{yes},"odd":{odd},"_meta":{{
            "io.modelcontextprotocol/protocolVersion":"{}",
            "io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{"form":{{}}}}}}}}{state}}}"#,
            MODERN.revision.as_str()
        )
    };
    let many = format!("[{}0]", "0,".repeat(250_000));
    for odd in ["1e999", "[1e999]", r#""\ud800""#, &many] {
        // The first request is answered by its key; the second has a state.
        let AnswerOutcome::Later(first) = begin_text(&server, &back, "tools/call", &params("go", odd, ""))
        else {
            panic!("{odd:.20} is answered at once")
        };
        let round: std::result::Result<Value, _> = first.await.map(|round| round.decode().unwrap());
        let Ok(round) = round else {
            assert!(odd.len() > 100_000, "{odd} has a digest");
            continue;
        };
        let state = format!(r#","requestState":{}"#, round["requestState"]);
        for other in [params("both", odd, &state), params("go", "1e998", &state)] {
            let answered = begin_text(&server, &back, "tools/call", &other);
            let AnswerOutcome::Now(Err(refused)) = answered else { panic!("{answered:?} for {other}") };
            assert_eq!(refused.message, "Invalid or expired requestState");
        }
    }
}

#[tokio::test]
async fn servers_with_shared_keys_continue_each_others_requests() {
    let keys = StateKeys::random();
    let (one, two) = (
        Shop::builder().state_keys(keys.clone()).build().unwrap(),
        Shop::builder().state_keys(keys).build().unwrap(),
    );
    let first = json!({"name": "agree", "arguments": {"text": "go"}});
    let round = send_request(&one, None, first).await.1.unwrap();
    let yes = json!({"action": "accept", "content": {"ok": true}});
    let next = send_request(&two, None, retry("go", &round["requestState"], &json!({"first": yes})))
        .await
        .1
        .unwrap();
    let last = send_request(&one, None, retry("go", &next["requestState"], &json!({"second": yes})))
        .await
        .1
        .unwrap();
    assert_eq!(last["content"][0]["text"], "42 true true");
}

#[tokio::test]
async fn a_changed_request_is_sent_again() {
    let server = Shop::builder().build().unwrap();
    let first = json!({"name": "agree", "arguments": {"text": "clock"}});
    let round = send_request(&server, None, first).await.1.unwrap();
    let yes = json!({"first": {"action": "accept", "content": {"ok": true}}});
    let again = send_request(&server, None, retry("clock", &round["requestState"], &yes)).await.1.unwrap();
    assert!(again["inputRequests"].get("first").is_some(), "{again}");
}

#[tokio::test]
async fn a_method_can_be_tested_without_a_server() {
    let cx = switchboard_service::Cx::test()
        .answer("first", json!({"ok": true}))
        .decline("second")
        .caller(Caller::new("ada").with_scopes(["admin"]))
        .build();
    assert_eq!(
        cx.elicit::<Consent>("first", "?").await.unwrap().into_result().unwrap(),
        Consent { ok: true }
    );
    assert!(cx.elicit::<Consent>("second", "?").await.unwrap().into_result().is_err());
    assert!(cx.elicit::<Consent>("third", "?").await.is_err());
    assert!(cx.caller().unwrap().has_scope("admin"));
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let hears = Arc::clone(&seen);
    let cx = switchboard_service::Cx::test().on_progress(move |p| hears.lock().push(p.progress)).build();
    let progress = cx.progress(2.0);
    progress.report_with_message(1.0, "half");
    progress.report(2.0);
    assert_eq!(*seen.lock(), [1.0, 2.0]);
}
