//! What a client accepts and what it gets, under each policy: for a tool that says nothing before its result, one that
//! does, and a method that is answered only at its end.

use serde_json::{Value, json};
use switchboard_transport::http::server::{AcceptPolicy, HttpServerOptions};

use crate::door::{Reply, alone, call, knock, open, plain_call, service};

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";

/// The status and the type of an answer, and how many messages it has.
fn shape(reply: &Reply) -> (u16, &str, usize) {
    let events = reply.text.lines().filter(|line| line.starts_with("data: {")).count();
    let is_stream = reply.header("content-type") == Some(STREAM);
    (reply.status, if is_stream { STREAM } else { JSON }, if is_stream { events } else { 1 })
}

/// A request that is answered only at its end, in either era.
fn streams(alone: bool) -> Value {
    let mut request = call("x");
    request["method"] = "events/stream".into();
    if !alone {
        request["params"] = json!({});
    }
    request
}

/// What a client that accepts this gets: for the three kinds of request.
struct Row(&'static str, (u16, &'static str, usize), (u16, &'static str, usize), (u16, &'static str, usize));

async fn check(policy: AcceptPolicy, rows: &[Row]) {
    let service = service(HttpServerOptions::default().with_accept(policy));
    for Row(accept, quiet, talks, long) in rows {
        // One of its own for each: what lasts keeps its id.
        let id = open(&service, &[]).await;
        let accept = ("accept", *accept);
        let in_session = [accept, ("mcp-session-id", id.as_str())];
        let mut lasting = alone("x", &[accept]);
        lasting[1].1 = "events/stream";
        for (case, reply, expected) in [
            ("quiet", knock(&service, &alone("who", &[accept]), &call("who")).await, quiet),
            ("quiet, in a session", knock(&service, &in_session, &plain_call("who")).await, quiet),
            ("talks", knock(&service, &alone("progress", &[accept]), &call("progress")).await, talks),
            ("lasts", knock(&service, &lasting, &streams(true)).await, long),
            ("lasts, in a session", knock(&service, &in_session, &streams(false)).await, long),
        ] {
            assert_eq!(shape(&reply), *expected, "{policy:?}, {accept:?}, {case}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn as_the_specification_has_it() {
    let (whole, one, two) = ((200, JSON, 1), (200, STREAM, 1), (200, STREAM, 2));
    let (lasts, refused) = ((200, STREAM, 0), (406, JSON, 1));
    check(
        AcceptPolicy::Specification,
        &[
            Row(BOTH, whole, two, lasts),
            Row("*/*", whole, whole, lasts),
            Row(JSON, whole, whole, refused),
            Row(STREAM, one, two, lasts),
            Row("text/html", refused, refused, refused),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_stream_only_where_it_is_named() {
    let (whole, one, two) = ((200, JSON, 1), (200, STREAM, 1), (200, STREAM, 2));
    let (lasts, refused) = ((200, STREAM, 0), (406, JSON, 1));
    check(
        AcceptPolicy::Named,
        &[
            Row(BOTH, one, two, lasts),
            Row("*/*", whole, whole, refused),
            Row(JSON, whole, whole, refused),
            Row(STREAM, one, two, lasts),
            Row("text/html", whole, whole, refused),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_id_is_answered_once_at_a_time() {
    let service = service(HttpServerOptions::default());
    let id = open(&service, &[]).await;
    let in_session = [("accept", BOTH), ("mcp-session-id", id.as_str())];
    let first = knock(&service, &in_session, &streams(false)).await;
    assert_eq!(shape(&first), (200, STREAM, 0));
    let again = knock(&service, &in_session, &streams(false)).await;
    assert!(again.text.contains("is being answered already"), "{}", again.text);
}
