//! F079 to F106 for whoever calls: what a session says when the other side of HTTP misbehaves.

use std::time::Instant;

use serde_json::Value;
use switchboard::client::{RevisionPolicy, TimeoutKind};
use switchboard::protocol::Revision;
use switchboard::transport::LinkError;
use switchboard::{CallError, Client, Http, json};
use switchboard_testkit::{ReservedPort, STEP_TIMEOUT, http_response};

use crate::http_faults::scripted_server::{
    ReceivedRequest, Reply, SHORT, ScriptedServer, document, limits, ms, patience, result,
};

fn call(seen: &ReceivedRequest) -> bool {
    seen.method() == "tools/call"
}

/// The error of a call that is answered with these bytes, in the modern era.
async fn answered_with(bytes: Vec<u8>) -> CallError {
    let far = ScriptedServer::start(move |seen| call(seen).then(|| Reply::Bytes(bytes.clone()))).await;
    let session = far.modern().await;
    let error =
        tokio::time::timeout(STEP_TIMEOUT, session.call_tool("t", json!({}))).await.unwrap().unwrap_err();
    assert_eq!(far.count("tools/call"), 1, "a call is never repeated: {error:?}");
    error
}

fn refused(error: &CallError) -> (u16, String) {
    match error {
        CallError::Link(LinkError::Refused { status, text }) => (*status, text.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn f079_nobody_listens_and_the_caller_knows_at_once() {
    let port = ReservedPort::new();
    let url = format!("http://{}/mcp", port.address());
    let begun = Instant::now();
    let error = Client::new().connect(Http::new(&url)).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Unreachable { .. })), "{error:?}");
    assert!(begun.elapsed() < STEP_TIMEOUT);
}

#[tokio::test]
async fn f082_a_server_that_never_answers_is_left_when_the_time_is_up() {
    let far =
        ScriptedServer::start(|seen| call(seen).then(|| Reply::Hold(Vec::new(), STEP_TIMEOUT, b""))).await;
    let session = far.modern().await;
    let error = session.call_tool("t", json!({})).idle_timeout(SHORT).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { kind: TimeoutKind::Idle, .. }), "{error:?}");
    far.left(STEP_TIMEOUT).await;
    assert_eq!(far.count("tools/call"), 1);
}

#[tokio::test]
async fn f083_headers_and_then_silence_end_at_the_idle_time_of_the_body() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{".to_vec();
    let far =
        ScriptedServer::start(move |seen| call(seen).then(|| Reply::Hold(head.clone(), STEP_TIMEOUT, b"")))
            .await;
    let session = far.modern().await;
    let begun = Instant::now();
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })), "{error:?}");
    assert!(error.outcome_unknown());
    assert!(begun.elapsed() >= SHORT && begun.elapsed() < STEP_TIMEOUT, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn f084_a_cut_before_the_answer_is_a_loss_and_nothing_is_sent_again() {
    let far = ScriptedServer::start(|seen| call(seen).then(|| Reply::Cut(Vec::new()))).await;
    let session = far.modern().await;
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })), "{error:?}");
    assert_eq!(far.count("tools/call"), 1);
    // The next call has a connection of its own.
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn f085_a_modern_error_is_no_reason_to_fall_back() {
    for (code, data) in [(-32020, json!(null)), (-32021, json!({"requiredCapabilities": {}}))] {
        let far = ScriptedServer::start(move |seen| {
            let error = json!({"code": code, "message": "no", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}).to_string();
            Some(Reply::Bytes(http_response("400 Bad Request", &["content-type: application/json"], &body)))
        })
        .await;
        let error = Client::new().connect(far.http()).await.unwrap_err();
        assert_eq!(error.remote().map(|error| error.code.0), Some(code), "{error:?}");
        assert_eq!(far.count("initialize"), 0);
    }
}

#[tokio::test]
async fn f085_another_revision_is_negotiated() {
    let far = ScriptedServer::start(|seen| {
        (seen.method() == "server/discover" && seen.before == 0).then(|| {
            let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
            let error = json!({"code": -32022, "message": "no", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}).to_string();
            Reply::Bytes(http_response("400 Bad Request", &["content-type: application/json"], &body))
        })
    })
    .await;
    let session = far.modern().await;
    assert_eq!(session.info().unwrap().revision, Revision::V2026_07_28);
    assert_eq!((far.count("server/discover"), far.count("initialize")), (2, 0));
}

#[tokio::test]
async fn f086_a_refusal_without_words_of_the_protocol_leads_to_the_handshake() {
    for status in ["400 Bad Request", "404 Not Found", "405 Method Not Allowed"] {
        let far = ScriptedServer::start(move |seen| {
            (seen.method() == "server/discover").then(|| Reply::Bytes(http_response(status, &[], "what?")))
        })
        .await;
        let session = far.modern().await;
        assert_eq!(session.info().unwrap().revision, Revision::V2025_11_25, "{status}");
        let shaken = far.seen().into_iter().find(|seen| seen.method() == "initialize").unwrap();
        assert_eq!(shaken.header("mcp-protocol-version"), None, "the probe leaves nothing behind");
        assert_eq!(shaken.header("mcp-method"), None);
    }
}

#[tokio::test]
async fn f086_the_oldest_binding_is_asked_last_and_the_first_refusal_is_told() {
    let far = ScriptedServer::start(|seen| {
        (seen.verb() == "POST").then(|| Reply::Bytes(http_response("404 Not Found", &[], "")))
    });
    let far = far.await;
    let error = Client::new().connect(far.http()).await.unwrap_err();
    assert_eq!(refused(&error).0, 404, "{error:?}");
    assert_eq!((far.count("server/discover"), far.count("initialize"), far.count("GET")), (1, 1, 1));
}

#[tokio::test]
async fn f090_a_forgotten_session_is_replaced_reads_are_repeated_and_calls_are_not() {
    let far = ScriptedServer::start(|seen| {
        let stale = seen.header("mcp-session-id") == Some("session-1");
        let asks = matches!(seen.method(), "tools/call" | "tools/list");
        (stale && asks).then(|| Reply::Bytes(http_response("404 Not Found", &[], "no such session")))
    })
    .await;
    let session = far.legacy().await;
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::SessionExpired)), "{error:?}");
    assert_eq!((far.count("tools/call"), far.count("initialize")), (1, 2));
    assert_eq!(session.call_tool("t", json!({})).await.unwrap().text(), "done");
    session.close().await;
    // A read gives its result as if nothing had been.
    let far = ScriptedServer::start(|seen| {
        let stale = seen.header("mcp-session-id") == Some("session-1") && seen.method() == "tools/list";
        stale.then(|| Reply::Bytes(http_response("404 Not Found", &[], "")))
    })
    .await;
    let session = far.legacy().await;
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
    assert_eq!((far.count("tools/list"), far.count("initialize")), (2, 2));
}

#[tokio::test]
async fn f091_no_stream_and_no_way_to_leave_are_normal() {
    let far = ScriptedServer::start(|seen| {
        (seen.verb() == "DELETE").then(|| Reply::Bytes(http_response("405 Method Not Allowed", &[], "")))
    })
    .await;
    let session = far.legacy().await;
    assert_eq!(session.call_tool("t", json!({})).await.unwrap().text(), "done");
    session.close().await;
    assert_eq!((far.count("GET"), far.count("DELETE")), (1, 1), "each is asked once");
}

#[tokio::test]
async fn f092_f093_what_is_refused_for_good_is_not_repeated() {
    for status in [406, 415, 409, 410] {
        let error = answered_with(http_response(&format!("{status} No"), &[], "not like this")).await;
        assert_eq!(refused(&error), (status, "not like this".to_owned()));
        assert!(!error.outcome_unknown() && !error.is_retryable());
    }
}

#[tokio::test]
async fn f094_what_is_too_large_for_the_server_says_so() {
    let error = answered_with(http_response("413 Payload Too Large", &[], "less, please")).await;
    assert!(matches!(error, CallError::Link(LinkError::TooLargeForServer)), "{error:?}");
    assert!(!error.outcome_unknown() && !error.is_retryable());
}

#[tokio::test]
async fn f093_a_session_that_is_gone_ends_and_the_next_call_has_another() {
    let far = ScriptedServer::start(|seen| {
        (call(seen) && seen.header("mcp-session-id") == Some("session-1"))
            .then(|| Reply::Bytes(http_response("410 Gone", &[], "gone")))
    })
    .await;
    let session = far.legacy().await;
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert_eq!(refused(&error).0, 410);
    assert_eq!(session.call_tool("t", json!({})).await.unwrap().text(), "done");
    assert_eq!((far.count("tools/call"), far.count("initialize")), (2, 2));
}

#[tokio::test]
async fn f095_too_many_requests_are_told_with_the_wait() {
    let error = answered_with(http_response("429 Too Many Requests", &["retry-after: 7"], "")).await;
    let wait = |error: &CallError| match error {
        CallError::Link(LinkError::RateLimited { retry_after }) => *retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(&error), Some(ms(7000)));
    let error = answered_with(http_response("429 Too Many Requests", &["retry-after: 99999"], "")).await;
    assert_eq!(wait(&error), Some(ms(300_000)));
    let error = answered_with(http_response("429 Too Many Requests", &[], "")).await;
    assert_eq!(wait(&error), None);
}

#[tokio::test]
async fn f095_f096_reads_are_repeated_three_times() {
    for status in ["429 Slow", "500 No", "502 No", "503 No", "504 No"] {
        let far = ScriptedServer::start(move |seen| {
            (seen.method() == "tools/list" && seen.before < 3)
                .then(|| Reply::Bytes(http_response(status, &[], "")))
        })
        .await;
        let session = far.modern().await;
        assert_eq!(session.list_tools().await.unwrap().len(), 1, "{status}");
        assert_eq!(far.count("tools/list"), 4);
        // And no more than that.
        let far = ScriptedServer::start(move |seen| {
            (seen.method() == "tools/list").then(|| Reply::Bytes(http_response(status, &[], "")))
        })
        .await;
        far.modern().await.list_tools().await.unwrap_err();
        assert_eq!(far.count("tools/list"), 4);
    }
}

#[tokio::test]
async fn f095_the_wait_that_the_server_names_is_honoured() {
    let far = ScriptedServer::start(|seen| {
        let busy = seen.method() == "tools/list" && seen.before == 0;
        busy.then(|| Reply::Bytes(http_response("429 Slow", &["retry-after: 1"], "")))
    })
    .await;
    let session = far.modern().await;
    let begun = Instant::now();
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
    assert!(begun.elapsed() >= ms(1000));
}

#[tokio::test]
async fn f096_a_call_fails_at_once_and_the_connection_stays() {
    for status in [500, 502, 503, 504] {
        let error = answered_with(http_response(&format!("{status} No"), &[], "broken")).await;
        assert_eq!(refused(&error), (status, "broken".to_owned()));
        assert!(error.outcome_unknown(), "the tool may have run");
    }
}

#[tokio::test]
async fn f097_of_an_error_page_the_beginning_is_shown() {
    let page = format!("<html>\u{1b}[31m\r\n{}</html>", "x".repeat(200_000));
    let error = answered_with(http_response("500 No", &["content-type: text/html"], &page)).await;
    let (_, text) = refused(&error);
    assert!(text.len() <= 200 && text.starts_with("<html>"), "{text:?}");
    assert!(!text.contains(char::is_control), "{text:?}");
}

#[tokio::test]
async fn f098_f100_redirects_that_change_the_request_or_the_origin_are_refused() {
    let other = ScriptedServer::start(|_| None).await;
    let elsewhere = format!("location: {}", other.url());
    for (status, location) in
        [(301, "location: /b"), (302, "location: /b"), (303, "location: /b"), (307, &*elsewhere)]
    {
        let error = answered_with(http_response(&format!("{status} Moved"), &[location], "")).await;
        assert_eq!(refused(&error).0, status);
    }
    assert!(other.seen().is_empty(), "nothing is sent there");
}

#[tokio::test]
async fn f099_the_same_origin_is_followed_with_method_and_body() {
    let far = ScriptedServer::start(|seen| {
        (call(seen) && seen.before == 0)
            .then(|| Reply::Bytes(http_response("307 Moved", &["location: /b"], "")))
    })
    .await;
    assert_eq!(far.modern().await.call_tool("t", json!({})).await.unwrap().text(), "done");
    let moved = far.seen().pop().unwrap();
    assert!(moved.head.starts_with("POST /b "), "{}", moved.head);
}

#[tokio::test]
async fn f101_an_answer_of_another_type_is_told_by_its_beginning() {
    let page = "<html>\u{7}Sign in</html>";
    for (headers, body) in [
        (vec!["content-type: text/html"], page),
        (vec![], page),
        (vec!["content-type: application/json; charset=latin1"], "{}"),
    ] {
        let error = answered_with(http_response("200 OK", &headers, body)).await;
        let (status, text) = refused(&error);
        assert_eq!(status, 200);
        assert!(text.contains(body.split('\u{7}').next().unwrap()), "{text:?}");
        assert!(!text.contains(char::is_control) && error.outcome_unknown());
    }
}

#[tokio::test]
async fn f101_a_missing_type_is_taken_for_an_object_and_utf_8_may_be_named() {
    for types in [None, Some("content-type: application/json; charset=UTF-8")] {
        let far = ScriptedServer::start(move |seen| {
            let headers: Vec<&str> = types.into_iter().collect();
            call(seen)
                .then(|| Reply::Bytes(http_response("200 OK", &headers, result(seen, "done").to_string())))
        })
        .await;
        assert_eq!(far.modern().await.call_tool("t", json!({})).await.unwrap().text(), "done");
    }
}

#[tokio::test]
async fn f102_a_request_that_is_only_taken_fails_at_once() {
    for status in [202, 204] {
        let begun = Instant::now();
        let error = answered_with(http_response(&format!("{status} Fine"), &[], "")).await;
        assert_eq!(refused(&error).0, status);
        assert!(error.outcome_unknown() && begun.elapsed() < STEP_TIMEOUT);
    }
}

#[tokio::test]
async fn f103_a_notification_may_be_answered_with_nothing() {
    for taken in
        [http_response("200 OK", &[], ""), http_response("200 OK", &["content-type: application/json"], "")]
    {
        let far = ScriptedServer::start(move |seen| {
            (seen.method() == "notifications/initialized").then(|| Reply::Bytes(taken.clone()))
        })
        .await;
        let session = far.legacy().await;
        assert_eq!(session.call_tool("t", json!({})).await.unwrap().text(), "done");
    }
}

#[tokio::test]
async fn f104_a_document_cut_in_the_middle_is_a_loss() {
    let cut =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"json".to_vec();
    let far = ScriptedServer::start(move |seen| call(seen).then(|| Reply::Cut(cut.clone()))).await;
    let error = far.modern().await.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })), "{error:?}");
    assert_eq!(far.count("tools/call"), 1);
}

#[tokio::test]
async fn f104_a_damaged_document_fails_its_call_only() {
    let damaged = http_response("200 OK", &["content-type: application/json"], "{\"jsonrpc\":\"2.0\",\u{0}");
    let error = answered_with(damaged).await;
    assert!(matches!(error, CallError::Link(LinkError::Malformed(_))), "{error:?}");
}

#[tokio::test]
async fn f104_a_document_beyond_the_limit_is_too_large() {
    let far = ScriptedServer::start(|seen| {
        call(seen).then(|| Reply::Bytes(document(&result(seen, &"x".repeat(4096)))))
    })
    .await;
    let mut small = limits();
    small.event_bytes = 1024;
    let http = Http::new(far.url()).limits(small);
    let session = Client::new().with_limits(patience()).connect(http).await.unwrap();
    let error = session.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Link(LinkError::TooLarge { limit: 1024 })), "{error:?}");
    assert_eq!(session.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn f104_a_document_that_comes_byte_by_byte_is_whole() {
    let far = ScriptedServer::start(|seen| {
        call(seen).then(|| Reply::Split(document(&result(seen, "dé€\u{1f600}"))))
    })
    .await;
    assert_eq!(far.modern().await.call_tool("t", json!({})).await.unwrap().text(), "dé€\u{1f600}");
}

#[tokio::test]
async fn f105_headers_without_end_are_refused() {
    let headers: Vec<String> = (0..10_000).map(|number| format!("x-{number}: y")).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let error = answered_with(http_response("200 OK", &headers, "{}")).await;
    assert!(matches!(error, CallError::Link(LinkError::Lost { .. })), "{error:?}");
}

#[tokio::test]
async fn p6_refused_initialize_shows_what_the_server_said() {
    let refused = |code: i32, message: &'static str, data: Value| {
        move |seen: &ReceivedRequest| {
            let error = json!({"code": code, "message": message, "data": data.clone()});
            let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error});
            ["initialize", "server/discover"]
                .contains(&seen.method())
                .then(|| Reply::Bytes(document(&answer)))
        }
    };
    let foreign = json!({"supported": ["2099-01-01"]});
    let nothing = Value::Null;
    for (offer, code, data, ours) in [
        (RevisionPolicy::LegacyOnly, -32602, &foreign, "the server speaks 2099-01-01"),
        (RevisionPolicy::LegacyOnly, -32001, &nothing, "the server refused"),
        (RevisionPolicy::ModernOnly, -32022, &foreign, "the server speaks 2099-01-01"),
        (RevisionPolicy::ModernOnly, -32601, &nothing, "no protocol revision in common"),
        (RevisionPolicy::Any, -32001, &nothing, "the server refused"),
    ] {
        let far = ScriptedServer::start(refused(code, "your plan ended in May", data.clone())).await;
        let client = Client::new().with_limits(patience()).with_revisions(offer);
        let error = client.connect(far.http()).await.unwrap_err().to_string();
        assert!(
            error.contains(ours) && error.contains("your plan ended in May"),
            "{offer:?} {code}: {error}"
        );
    }
}

#[tokio::test]
async fn p6_repeated_cursor_lists_no_tool_twice() {
    let far = ScriptedServer::start(|seen| {
        let tools = json!([{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {"type": "object"}}]);
        let page = json!({"resultType": "complete", "tools": tools, "nextCursor": "same", "ttlMs": 0, "cacheScope": "private"});
        let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": page});
        (seen.method() == "tools/list").then(|| Reply::Bytes(document(&answer)))
    })
    .await;
    for session in [far.modern().await, far.legacy().await] {
        let before = far.count("tools/list");
        let tools = session.list_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(
            matches!(&tools.cut, Some(switchboard::client::ListTruncation::RepeatedCursor { cursor }) if cursor == "same")
        );
        assert_eq!(far.count("tools/list") - before, 2);
    }
}
