//! F107 to F122 for whoever calls: event streams that break, lie or never end.

use std::time::Instant;

use serde_json::Value;
use switchboard::client::HttpBinding;
use switchboard::client::{RevisionPolicy, TimeoutKind};
use switchboard::protocol::ListenFilter;
use switchboard::transport::LinkError;
use switchboard::{CallError, Client, Http, json};
use switchboard_testkit::STEP_TIMEOUT;

use crate::http_faults::scripted_server::{
    ReceivedRequest, Reply, SHORT, ScriptedServer, chunked, document, events, limits, ms, patience, result,
    stream,
};

fn call(seen: &ReceivedRequest) -> bool {
    seen.method() == "tools/call"
}

fn data(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// What a call gives whose stream is this, in the modern era.
async fn streamed(
    said: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> (ScriptedServer, Result<String, CallError>) {
    let far = ScriptedServer::start(move |seen| call(seen).then(|| said(seen))).await;
    let session = far.modern().await;
    let called = tokio::time::timeout(STEP_TIMEOUT, session.call_tool("t", json!({}))).await.unwrap();
    assert_eq!(far.count("tools/call"), 1, "a call is never repeated");
    (far, called.map(|result| result.text()))
}

fn is_lost(error: &CallError) -> bool {
    matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })) && error.outcome_unknown()
}

#[tokio::test]
async fn f107_a_stream_cut_in_an_event_loses_its_call_in_the_modern_era() {
    let begun = Instant::now();
    let (far, called) = streamed(|seen| {
        let text = data(&result(seen, "done"));
        Reply::Cut(chunked(&text[..text.len() / 2]))
    })
    .await;
    assert!(is_lost(&called.unwrap_err()));
    assert!(begun.elapsed() < STEP_TIMEOUT);
    assert_eq!(far.count("GET"), 0, "there is no way back to it");
}

#[tokio::test]
async fn f107_ids_give_no_way_back_in_the_modern_era() {
    let (far, called) = streamed(|_| Reply::Cut(chunked("id: 1\ndata:\n\n"))).await;
    assert!(is_lost(&called.unwrap_err()));
    assert_eq!(far.count("GET"), 0);
}

#[tokio::test]
async fn f107_a_legacy_stream_with_ids_is_gone_back_to() {
    let far = ScriptedServer::start(|seen| match (seen.verb(), seen.header("last-event-id")) {
        ("POST", _) if call(seen) => Some(Reply::Cut(chunked("id: a-1\nretry: 250\ndata:\n\nda"))),
        ("GET", Some("a-1")) if seen.header("mcp-session-id") == Some("session-1") => {
            // The id of the call is known from the request before.
            Some(Reply::Bytes(events("id: a-2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}\n\n")))
        }
        ("GET", Some("a-2")) => Some(Reply::Bytes(events(&data(&json!({
            "jsonrpc": "2.0", "error": {"code": -32050, "message": "came back"}
        }))))),
        _ => None,
    })
    .await;
    let session = far.legacy().await;
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert_eq!(error.remote().unwrap().message, "came back");
    assert_eq!(far.count("tools/call"), 1);
}

#[tokio::test]
async fn f107_a_legacy_stream_is_gone_back_to_five_times_without_progress() {
    let far = ScriptedServer::start(|seen| match (seen.verb(), seen.header("last-event-id")) {
        ("POST", _) if call(seen) => Some(Reply::Cut(chunked("id: a-1\nretry: 250\ndata:\n\n"))),
        ("GET", Some("a-1")) => Some(Reply::Bytes(events("retry: 250\n\n"))),
        _ => None,
    })
    .await;
    let session = far.legacy().await;
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(is_lost(&error), "{error:?}");
    let resumed = far.seen().iter().filter(|seen| seen.header("last-event-id") == Some("a-1")).count();
    assert_eq!((resumed, far.count("tools/call")), (5, 1));
}

#[tokio::test]
async fn f107_a_legacy_stream_without_ids_is_lost() {
    let far = ScriptedServer::start(|seen| call(seen).then(|| Reply::Cut(chunked("data:")))).await;
    let error = far.legacy().await.call_tool("t", json!({})).await.unwrap_err();
    assert!(is_lost(&error), "{error:?}");
    assert_eq!((far.count("tools/call"), far.count("GET")), (1, 1));
}

#[tokio::test]
async fn f107_a_session_that_ended_meanwhile_is_told() {
    let far = ScriptedServer::start(|seen| match (seen.verb(), seen.header("last-event-id")) {
        ("POST", _) if call(seen) => Some(Reply::Cut(chunked("id: a-1\nretry: 250\ndata:\n\n"))),
        ("GET", Some(_)) => Some(Reply::Bytes(switchboard_testkit::http_response("404 Not Found", &[], ""))),
        _ => None,
    })
    .await;
    let error = far.legacy().await.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::SessionExpired)), "{error:?}");
}

#[tokio::test]
async fn f108_a_stream_that_ends_without_the_answer_fails_at_once() {
    let begun = Instant::now();
    let (_, called) = streamed(|_| Reply::Bytes(events(": nothing\n\n"))).await;
    let error = called.unwrap_err();
    assert!(is_lost(&error) && error.to_string().contains("ended without an answer"), "{error}");
    assert!(begun.elapsed() < STEP_TIMEOUT);
}

#[tokio::test]
async fn f109_comments_keep_the_stream_and_not_the_call() {
    let far =
        ScriptedServer::start(|seen| call(seen).then(|| Reply::Hold(stream(""), ms(40), b":\n\n"))).await;
    let session = far.modern().await;
    let begun = Instant::now();
    let error = session.call_tool("t", json!({})).idle_timeout(3 * SHORT).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { kind: TimeoutKind::Idle, .. }), "{error:?}");
    assert!(begun.elapsed() >= 3 * SHORT && begun.elapsed() < STEP_TIMEOUT);
    far.left(STEP_TIMEOUT).await;
}

#[tokio::test]
async fn f110_a_standing_stream_without_bytes_is_opened_anew() {
    let far = ScriptedServer::start(|seen| {
        (seen.verb() == "GET").then(|| Reply::Hold(stream("retry: 250\n\n"), STEP_TIMEOUT, b""))
    })
    .await;
    let mut quick = limits();
    quick.stream_idle = SHORT;
    let http = Http::new(far.url()).limits(quick);
    let client = Client::new().with_revisions(RevisionPolicy::LegacyOnly).with_limits(patience());
    let session = client.connect(http).await.unwrap();
    let mut changes = session.changes().unwrap();
    // What may have been missed meanwhile is listed again.
    let change = tokio::time::timeout(STEP_TIMEOUT, changes.next()).await.unwrap();
    assert!(matches!(change, Some(switchboard::client::Change::Tools)), "{change:?}");
    far.left(STEP_TIMEOUT).await;
    tokio::time::timeout(STEP_TIMEOUT, async {
        while far.count("GET") < 2 {
            changes.next().await;
        }
    })
    .await
    .unwrap();
    session.close().await;
}

#[tokio::test]
async fn f110_a_listen_stream_without_bytes_is_opened_anew_in_the_modern_era() {
    let far = ScriptedServer::start(|seen| {
        (seen.method() == "subscriptions/listen").then(|| {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": seen.body["id"]});
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
            let method = "notifications/subscriptions/acknowledged";
            let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
            Reply::Hold(stream(&data(&note)), STEP_TIMEOUT, b"")
        })
    })
    .await;
    let mut quick = limits();
    quick.stream_idle = SHORT;
    let http = Http::new(far.url()).limits(quick);
    let session = Client::new().with_limits(patience()).connect(http).await.unwrap();
    let mut filter = ListenFilter::new();
    filter.tools_list_changed = true;
    let mut listening = session.listen(filter).await.unwrap();
    // What may have been missed meanwhile is told as a change, so that it is listed again.
    let change = tokio::time::timeout(STEP_TIMEOUT, listening.next()).await.unwrap();
    assert!(matches!(change, Some(switchboard::client::Change::Tools)), "{change:?}");
    assert!(far.count("subscriptions/listen") >= 2);
}

#[tokio::test]
async fn f111_f112_odd_streams_are_read_as_the_standard_says() {
    let (_, called) = streamed(|seen| {
        let text = result(seen, "done").to_string();
        let (one, two) = text.split_once(',').unwrap();
        Reply::Bytes(events(&format!(
            "\u{feff}event: other\r\ndata: x\r\n\r\nfoo: bar\rnocolon\rid: a\0b\rdata:{one},\r\ndata:{two}\n\n"
        )))
    })
    .await;
    assert_eq!(called.unwrap(), "done");
}

#[tokio::test]
async fn f115_an_event_beyond_the_limit_fails_its_call_only() {
    let far = ScriptedServer::start(|seen| {
        call(seen).then(|| Reply::Hold(stream(&data(&result(seen, &"x".repeat(4096)))), STEP_TIMEOUT, b""))
    })
    .await;
    let mut small = limits();
    small.event_bytes = 1024;
    let http = Http::new(far.url()).limits(small);
    let session = Client::new().with_limits(patience()).connect(http).await.unwrap();
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::TooLarge { limit: 1024 })), "{error:?}");
    far.left(STEP_TIMEOUT).await;
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn f115_an_event_without_end_fails_its_call() {
    let far =
        ScriptedServer::start(|seen| call(seen).then(|| Reply::Hold(stream("data: "), ms(1), &[b'x'; 1024])))
            .await;
    let mut small = limits();
    small.event_bytes = 16 * 1024;
    let http = Http::new(far.url()).limits(small);
    let session = Client::new().with_limits(patience()).connect(http).await.unwrap();
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::TooLarge { .. })), "{error:?}");
    far.left(STEP_TIMEOUT).await;
}

#[tokio::test]
async fn p6_sse_events_of_unknown_types_and_damaged_ones_are_skipped() {
    let odd = |seen: &ReceivedRequest| {
        let large = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": "x".repeat(4096)});
        format!(
            "event: heartbeat\ndata: {{}}\n\nevent: error\ndata: oops\n\ndata: not JSON\n\n\
             data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{]}}\n\n\
             data: {{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{{]}}\n\n{}{}",
            data(&large),
            data(&result(seen, "done")),
        )
    };
    for era in ["modern", "legacy"] {
        let far =
            ScriptedServer::start(move |seen| call(seen).then(|| Reply::Bytes(events(&odd(seen))))).await;
        let mut small = limits();
        small.event_bytes = 2048;
        let http = far.http().limits(small);
        let offer = if era == "modern" { RevisionPolicy::Any } else { RevisionPolicy::LegacyOnly };
        let session =
            Client::new().with_limits(patience()).with_revisions(offer).connect(http).await.unwrap();
        let called = tokio::time::timeout(STEP_TIMEOUT, session.call_tool("t", json!({}))).await.unwrap();
        assert_eq!(called.unwrap().text(), "done", "{era}");
    }
}

#[tokio::test]
async fn p6_sse_a_damaged_answer_fails_its_call() {
    for era in ["modern", "legacy"] {
        let far = ScriptedServer::start(|seen| {
            let damaged =
                format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{]}}\n\n", seen.body["id"]);
            call(seen).then(|| Reply::Hold(stream(&damaged), STEP_TIMEOUT, b""))
        })
        .await;
        let session = if era == "modern" { far.modern().await } else { far.legacy().await };
        let called = tokio::time::timeout(STEP_TIMEOUT, session.call_tool("t", json!({}))).await.unwrap();
        let error = called.unwrap_err();
        assert!(matches!(error, CallError::Link(LinkError::Malformed(_))), "{era}: {error:?}");
        assert_eq!(session.list_tools().await.unwrap().len(), 1, "{era}");
    }
}

#[tokio::test]
async fn f116_a_million_junk_events_hold_up_nobody() {
    for junk in [":\n\n", "data:\n\n", "event: x\ndata: y\n\n"] {
        let (_, called) = streamed(move |seen| {
            let junk = junk.repeat(1_000_000 / 3);
            Reply::Bytes(events(&format!("{junk}{}", data(&result(seen, "done")))))
        })
        .await;
        assert_eq!(called.unwrap(), "done", "{junk:?}");
    }
}

#[tokio::test]
async fn f117_a_stream_that_comes_byte_by_byte_is_whole() {
    let (_, called) = streamed(|seen| {
        let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        let text = format!("{}: c\r\n\r\n{}", data(&note), data(&result(seen, "dé€\u{1f600}")));
        Reply::Split(events(&text))
    })
    .await;
    assert_eq!(called.unwrap(), "dé€\u{1f600}");
}

#[tokio::test]
async fn f118_an_answer_to_another_request_is_dropped() {
    let (_, called) = streamed(|seen| {
        let other = json!({"jsonrpc": "2.0", "id": 4711, "error": {"code": -1, "message": "not yours"}});
        Reply::Bytes(events(&format!("{}{}", data(&other), data(&result(seen, "done")))))
    })
    .await;
    assert_eq!(called.unwrap(), "done");
    // A document has room for one answer only.
    let (_, called) = streamed(|_| {
        Reply::Bytes(document(&json!({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})))
    })
    .await;
    assert!(is_lost(&called.unwrap_err()));
}

#[tokio::test]
async fn f118_no_call_is_answered_on_the_stream_of_another() {
    // Two calls at once; the first stream also brings an answer for the second, which must not be taken there.
    let far = ScriptedServer::start(|seen| {
        (call(seen) && seen.before == 0).then(|| {
            let next = seen.body["id"].as_i64().unwrap() + 1;
            let other = json!({"jsonrpc": "2.0", "id": next, "error": {"code": -1, "message": "forged"}});
            Reply::Bytes(events(&format!("{}{}", data(&other), data(&result(seen, "one")))))
        })
    })
    .await;
    let session = far.modern().await;
    let (one, two) = tokio::join!(async { session.call_tool("t", json!({})).await }, async {
        session.call_tool("t", json!({})).await
    });
    let mut texts = [one.unwrap().text(), two.unwrap().text()];
    texts.sort();
    assert_eq!(texts, ["done", "one"]);
}

#[tokio::test]
async fn f119_of_two_answers_the_first_counts() {
    let (far, called) = streamed(|seen| {
        let second = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": -1, "message": "no"}});
        let text = format!("{}{}", data(&result(seen, "first")), data(&second));
        Reply::Hold(stream(&text), STEP_TIMEOUT, b"")
    })
    .await;
    assert_eq!(called.unwrap(), "first");
    far.left(STEP_TIMEOUT).await;
}

#[tokio::test]
async fn f120_a_stream_that_stays_open_after_the_answer_is_left() {
    for legacy in [false, true] {
        let far = ScriptedServer::start(|seen| {
            call(seen).then(|| Reply::Hold(stream(&data(&result(seen, "done"))), ms(5), b": more\n\n"))
        })
        .await;
        let session = if legacy { far.legacy().await } else { far.modern().await };
        assert_eq!(session.call_tool("t", json!({})).await.unwrap().text(), "done");
        far.left(STEP_TIMEOUT).await;
    }
}

/// The error of a binding of 2024 that begins like this.
async fn begun_with(beginning: &'static str) -> (ScriptedServer, Instant, CallError) {
    let far = ScriptedServer::start(move |seen| {
        (seen.verb() == "GET").then(|| Reply::Hold(stream(beginning), STEP_TIMEOUT, b""))
    })
    .await;
    let begun = Instant::now();
    let client = Client::new().with_limits(patience());
    let connecting = client.connect(far.http().binding(HttpBinding::Sse));
    let error = tokio::time::timeout(STEP_TIMEOUT, connecting).await.unwrap().unwrap_err();
    (far, begun, error)
}

#[tokio::test]
async fn f121_without_an_endpoint_there_is_nothing_to_wait_for() {
    let (far, begun, error) = begun_with(": hello\n\n").await;
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: false, .. })), "{error:?}");
    assert!(
        begun.elapsed() >= ms(300) && begun.elapsed() < STEP_TIMEOUT,
        "the time for it is the one that was set"
    );
    assert_eq!(far.count("POST"), 0);
    // A few events may come first, and no more than that.
    let (_, begun, error) = begun_with("event: x\ndata: y\n\n".repeat(7).leak()).await;
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: false, .. })), "{error:?}");
    assert!(begun.elapsed() < STEP_TIMEOUT);
}

#[tokio::test]
async fn f121_a_server_that_never_says_where_times_out_while_starting() {
    let far = ScriptedServer::start(|seen| {
        (seen.verb() == "GET").then(|| Reply::Hold(stream(""), STEP_TIMEOUT, b""))
    })
    .await;
    let mut startup = patience();
    startup.startup = ms(100);
    let error =
        Client::new().with_limits(startup).connect(far.http().binding(HttpBinding::Sse)).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { kind: TimeoutKind::Startup, .. }), "{error:?}");
}

#[tokio::test]
async fn f122_an_endpoint_elsewhere_is_not_used() {
    let other = ScriptedServer::start(|_| None).await;
    let beginning = format!("event: endpoint\ndata: {}\n\n", other.url());
    for beginning in [&*beginning, "event: endpoint\ndata: https://evil.example/mcp\n\n"] {
        let (far, _, error) = begun_with(beginning.to_owned().leak()).await;
        match error {
            CallError::Link(LinkError::Refused { text, .. }) => assert!(text.contains("endpoint"), "{text}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(far.count("POST"), 0);
    }
    assert!(other.seen().is_empty(), "nothing is sent there");
}
