//! Hanging up on a client that will come back.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use switchboard_protocol::{Implementation, Raw, RpcError, ServerCapabilities};
use switchboard_session::server::{
    Handler, HandlerOutcome, RequestContext, Server, ServerRequest, ServerSession,
};

use super::{EventQueue, HttpSession};
use crate::http::server::budget::Budget;
use crate::http::server::event_queue::Delivery;
use crate::http::server::options::HttpServerOptions;
use crate::http::server::sessions::Sessions;

struct Nothing;

impl Handler for Nothing {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        HandlerOutcome::error(RpcError::method_not_found(request.method()))
    }
}

fn session(memory: &'static str) -> Arc<HttpSession> {
    let server = Server::builder(Implementation::new("test", "1"), ServerCapabilities::new()).build(Nothing);
    let options = HttpServerOptions::default();
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
fn read(queue: &EventQueue) -> (String, bool) {
    let mut text = String::new();
    loop {
        match queue.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(bytes)) => text.push_str(std::str::from_utf8(&bytes).unwrap()),
            Poll::Ready(None) => return (text, false),
            Poll::Pending => return (text, true),
        }
    }
}

#[test]
fn a_stream_is_closed_with_a_retry_before_and_after_the_client_reads() {
    let session = session(POLLS);
    for late in [false, true] {
        let stream = open_stream(&session);
        let early = late.then(|| session.attach(stream, None).unwrap());
        session.hang_up(stream, Duration::from_millis(500));
        let queue = early.unwrap_or_else(|| session.attach(stream, None).unwrap());
        assert_eq!(read(&queue), (format!("id: s{stream}-1\ndata: \n\nretry: 500\n\n"), false));

        session.send(stream, b"{}", Delivery::Required);
        let back = session.attach(stream, Some(1)).unwrap();
        assert_eq!(read(&back), (format!("id: s{stream}-2\ndata: {{}}\n\n"), true));
    }
}

#[test]
fn a_stream_is_not_closed_for_a_client_without_resumption() {
    let session = session(WAITS);
    let stream = open_stream(&session);
    session.hang_up(stream, Duration::from_millis(500));
    session.send(stream, b"{}", Delivery::Required);
    let queue = session.attach(stream, None).unwrap();
    assert_eq!(read(&queue), (format!("id: s{stream}-1\ndata: {{}}\n\n"), true));
}
