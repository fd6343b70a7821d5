//! Asking the user from inside a method, with the same code in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_protocol::{ElicitAction, ElicitParams, ElicitResult};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Answered, Caller};
use switchboard_session::{Client, StateKeys};

use crate::stage::{
    Consent, ERAS, Keeps, MODERN, NEWEST_LEGACY, REVISIONS, Shop, begin_text, by_hand, connect, outcome,
    session,
};

/// Agrees to the first `yes` questions, and declines the rest.
struct Agrees {
    yes: usize,
    asked: Arc<AtomicUsize>,
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
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let result = if number < self.yes {
            serde_json::from_value(json!({"action": "accept", "content": {"ok": true}})).unwrap()
        } else {
            ElicitResult::new(ElicitAction::Decline)
        };
        Box::pin(async move { Ok(result) })
    }
}

fn client(yes: usize) -> (Client, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    (Client::new().with_answers(Agrees { yes, asked: Arc::clone(&asked) }), asked)
}

#[tokio::test]
async fn questions_one_after_another_are_asked_once_each_and_a_step_is_taken_once() {
    for revision in REVISIONS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (client, asked) = client(9);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "go"})).await;
        assert_eq!(answer, ("fine".to_owned(), "42 true true".to_owned()), "{revision}");
        assert_eq!(asked.load(Ordering::SeqCst), 2, "{revision}");
        assert_eq!(counts.steps.load(Ordering::SeqCst), 1, "{revision}");
        let runs = if revision == MODERN { 3 } else { 1 };
        assert_eq!(counts.runs.load(Ordering::SeqCst), runs, "{revision}");
    }
}

#[tokio::test]
async fn questions_asked_at_once_are_one_round() {
    for revision in ERAS {
        let (builder, counts) = Shop::counted();
        let server = builder.build().unwrap();
        let (client, asked) = client(9);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "both"})).await;
        assert_eq!(answer, ("fine".to_owned(), "true true".to_owned()), "{revision}");
        assert_eq!(asked.load(Ordering::SeqCst), 2, "{revision}");
        let runs = if revision == MODERN { 2 } else { 1 };
        assert_eq!(counts.runs.load(Ordering::SeqCst), runs, "{revision}");
    }
}

#[tokio::test]
async fn a_user_who_declines_is_told_to_the_model() {
    for revision in ERAS {
        let server = Shop::builder().build().unwrap();
        let (client, asked) = client(1);
        let session = connect(&client, &server, revision).await;
        let answer = outcome(&session, "agree", json!({"text": "go"})).await;
        assert_eq!(answer, ("failed".to_owned(), "The user declined.".to_owned()), "{revision}");
        assert_eq!(asked.load(Ordering::SeqCst), 2, "{revision}");
    }
}

#[tokio::test]
async fn v6_where_nobody_can_be_asked_the_model_is_told_no_developer_text() {
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
async fn a_state_that_was_changed_or_is_of_another_call_caller_or_server_is_refused() {
    let server = Shop::builder().build().unwrap();
    let first = json!({"name": "agree", "arguments": {"text": "go"}});
    let round = by_hand(&server, Some("ada"), first).await.1.unwrap();
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
        let told = by_hand(server, caller, retry(text, state, &answers)).await.1.unwrap_err();
        assert_eq!(told.0, -32602, "{caller:?} {text}: {told:?}");
    }
    // As it is, it goes on to the second question, once.
    let next = by_hand(&server, Some("ada"), retry("go", state, &answers)).await.1.unwrap();
    assert!(next["inputRequests"].get("second").is_some(), "{next}");
    let told = by_hand(&server, Some("ada"), retry("go", state, &answers)).await.1.unwrap_err();
    assert_eq!(told, (-32602, "Invalid or expired requestState".to_owned()));
}

#[tokio::test]
async fn s3_a_request_that_no_type_can_hold_is_not_accepted_with_the_state_of_another() {
    let server = Shop::builder().build().unwrap();
    let back = Arc::new(Keeps::default());
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
        // The first question is answered by its key; the second comes with a state.
        let Answered::Later(first) = begin_text(&server, &back, "tools/call", &params("go", odd, "")) else {
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
            let Answered::Now(Err(refused)) = answered else { panic!("{answered:?} for {other}") };
            assert_eq!(refused.message, "Invalid or expired requestState");
        }
    }
}

#[tokio::test]
async fn servers_that_share_their_keys_go_on_where_another_was() {
    let keys = StateKeys::random();
    let (one, two) = (
        Shop::builder().state_keys(keys.clone()).build().unwrap(),
        Shop::builder().state_keys(keys).build().unwrap(),
    );
    let first = json!({"name": "agree", "arguments": {"text": "go"}});
    let round = by_hand(&one, None, first).await.1.unwrap();
    let yes = json!({"action": "accept", "content": {"ok": true}});
    let next =
        by_hand(&two, None, retry("go", &round["requestState"], &json!({"first": yes}))).await.1.unwrap();
    let last =
        by_hand(&one, None, retry("go", &next["requestState"], &json!({"second": yes}))).await.1.unwrap();
    assert_eq!(last["content"][0]["text"], "42 true true");
}

#[tokio::test]
async fn an_answer_to_a_question_that_has_changed_is_asked_for_anew() {
    let server = Shop::builder().build().unwrap();
    let first = json!({"name": "agree", "arguments": {"text": "clock"}});
    let round = by_hand(&server, None, first).await.1.unwrap();
    let yes = json!({"first": {"action": "accept", "content": {"ok": true}}});
    let again = by_hand(&server, None, retry("clock", &round["requestState"], &yes)).await.1.unwrap();
    assert!(again["inputRequests"].get("first").is_some(), "{again}");
}

#[tokio::test]
async fn a_method_is_tested_without_a_server() {
    let cx = switchboard_service::Cx::test()
        .answer("first", json!({"ok": true}))
        .decline("second")
        .caller(Caller::new("ada").with_scopes(["admin"]))
        .build();
    assert_eq!(cx.elicit::<Consent>("first", "?").await.unwrap().accepted().unwrap(), Consent { ok: true });
    assert!(cx.elicit::<Consent>("second", "?").await.unwrap().accepted().is_err());
    assert!(cx.elicit::<Consent>("third", "?").await.is_err());
    assert!(cx.caller().unwrap().has_scope("admin"));
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let hears = Arc::clone(&seen);
    let cx = switchboard_service::Cx::test().on_progress(move |p| hears.lock().push(p.progress)).build();
    let progress = cx.progress(2.0);
    progress.at(1.0, "half");
    progress.reach(2.0);
    assert_eq!(*seen.lock(), [1.0, 2.0]);
}
