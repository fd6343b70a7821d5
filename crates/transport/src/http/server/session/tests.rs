//! Hanging up on a client that will come back.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use switchboard_protocol::{Implementation, Raw, RpcError, ServerCapabilities};
use switchboard_session::server::{
    Handler, HandlerOutcome, RequestContext, Server, ServerRequest, ServerSession,
};

use super::{Feed, HttpSession};
use crate::http::server::budget::Budget;
use crate::http::server::options::HttpOptions;
use crate::http::server::sessions::Sessions;
use crate::http::server::stream::Weight;

struct Nothing;

impl Handler for Nothing {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        HandlerOutcome::error(RpcError::method_not_found(request.method()))
    }
}

fn session(memory: &'static str) -> Arc<HttpSession> {
    let server = Server::builder(Implementation::new("test", "1"), ServerCapabilities::new()).build(Nothing);
    let options = HttpOptions::default();
    let sessions = Sessions::new(&server, &options, &Budget::new(options.stream_budget));
    let memory = ServerSession::restore(&Raw::parse(memory).unwrap()).unwrap();
    HttpSession::new("a".repeat(8), memory, None, sessions.limits, &sessions.budgets)
}

const POLLS: &str = r#"{"revision":"2025-11-25","client":{"name":"c","version":"1"},"capabilities":{}}"#;
const WAITS: &str = r#"{"revision":"2025-06-18","client":{"name":"c","version":"1"},"capabilities":{}}"#;

fn open_stream(session: &HttpSession) -> u64 {
    let mut opened = 0;
    session.open_stream(true, |stream| {
        opened = stream;
        true
    });
    opened
}

/// What can be read at once, and whether more will come.
fn read(feed: &Feed) -> (String, bool) {
    let mut text = String::new();
    loop {
        match feed.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(bytes)) => text.push_str(std::str::from_utf8(&bytes).unwrap()),
            Poll::Ready(None) => return (text, false),
            Poll::Pending => return (text, true),
        }
    }
}

#[test]
fn a_client_is_hung_up_on_before_and_after_it_has_begun_to_read() {
    let session = session(POLLS);
    for late in [false, true] {
        let stream = open_stream(&session);
        let early = late.then(|| session.attach(stream, None).unwrap());
        session.hang_up(stream, Duration::from_millis(500));
        let feed = early.unwrap_or_else(|| session.attach(stream, None).unwrap());
        assert_eq!(read(&feed), (format!("id: s{stream}-1\ndata: \n\nretry: 500\n\n"), false));

        session.send(stream, b"{}", Weight::Must);
        let back = session.attach(stream, Some(1)).unwrap();
        assert_eq!(read(&back), (format!("id: s{stream}-2\ndata: {{}}\n\n"), true));
    }
}

#[test]
fn a_client_that_does_not_know_it_can_come_back_is_not_hung_up_on() {
    let session = session(WAITS);
    let stream = open_stream(&session);
    session.hang_up(stream, Duration::from_millis(500));
    session.send(stream, b"{}", Weight::Must);
    let feed = session.attach(stream, None).unwrap();
    assert_eq!(read(&feed), (format!("id: s{stream}-1\ndata: {{}}\n\n"), true));
}
