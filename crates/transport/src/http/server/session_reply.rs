//! Reply channel of a request in a session: its notifications and requests to the client go out on its own stream.
//!
//! The stream is opened with the first message, so a request without any has none. Invariant: a channel goes from
//! unopened to open to closed, or directly from unopened to closed, and never back.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_protocol::Raw;
use switchboard_session::link::Exchange;
use switchboard_session::server::{Caller, ReplyChannel};
use tokio::sync::Notify;

use crate::http::message::{note_text, request_text};
use crate::http::server::event_queue::Delivery;
use crate::http::server::pending_request::RequestMetadata;
use crate::http::server::session::{HttpSession, STANDALONE, UpcallExchange};

/// No message was sent yet.
const UNOPENED: u64 = u64::MAX - 1;
/// No message will be sent any more.
const CLOSED: u64 = u64::MAX;

/// The reply channel of a request in a session.
pub(crate) struct SessionReplyChannel {
    session: Weak<HttpSession>,
    stream: AtomicU64,
    /// Whether the client accepts a stream.
    may_stream: bool,
    /// Notified when the response must become a stream.
    upgrade: Notify,
    /// The metadata of the request; `None` for the standalone stream.
    http_request: Option<RequestMetadata>,
    /// Whether the connection of the request is gone.
    is_abandoned: AtomicBool,
}

impl SessionReplyChannel {
    /// Returns the channel of a request, with a stream if the client accepts one.
    pub(crate) fn new(
        session: &Arc<HttpSession>,
        may_stream: bool,
        http_request: Option<RequestMetadata>,
    ) -> Self {
        let stream = AtomicU64::new(if may_stream { UNOPENED } else { CLOSED });
        let is_abandoned = AtomicBool::new(false);
        Self {
            session: Arc::downgrade(session),
            stream,
            may_stream,
            upgrade: Notify::new(),
            http_request,
            is_abandoned,
        }
    }

    /// Returns the channel of the standalone stream.
    pub(crate) fn standalone(session: &Arc<HttpSession>) -> Self {
        let (session, stream) = (Arc::downgrade(session), AtomicU64::new(STANDALONE));
        let is_abandoned = AtomicBool::new(true);
        Self { session, stream, may_stream: false, upgrade: Notify::new(), http_request: None, is_abandoned }
    }

    /// Returns the number of the open stream.
    pub(crate) fn stream(&self) -> Option<u64> {
        Some(self.stream.load(Ordering::Acquire)).filter(|stream| *stream < UNOPENED)
    }

    /// Returns the number of the stream, opening it if needed; `None` if the channel is closed.
    pub(crate) fn open(&self, session: &HttpSession) -> Option<u64> {
        if self.stream.load(Ordering::Acquire) == UNOPENED {
            let take = |number| {
                let (before, ordering) = (UNOPENED, Ordering::AcqRel);
                self.stream.compare_exchange(before, number, ordering, Ordering::Acquire).is_ok()
            };
            session.open_stream(!self.is_abandoned.load(Ordering::SeqCst), take);
        }
        self.stream()
    }

    /// Handles the loss of the connection: further messages are logged for a client that resumes.
    pub(crate) fn abandon(&self, session: &HttpSession) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        if let Some(stream) = self.stream() {
            session.abandon_stream(stream);
        }
    }

    /// Closes the channel and returns the stream that was open.
    pub(crate) fn close(&self) -> Option<u64> {
        Some(self.stream.swap(CLOSED, Ordering::AcqRel)).filter(|stream| *stream < UNOPENED)
    }

    /// Closes the channel if no message was sent; otherwise returns the stream, which stays open.
    pub(crate) fn close_unused(&self) -> Option<u64> {
        let closed = self.stream.compare_exchange(UNOPENED, CLOSED, Ordering::AcqRel, Ordering::Acquire);
        closed.err().filter(|stream| *stream < UNOPENED)
    }

    /// Completes when the response must become a stream.
    pub(crate) async fn upgraded(&self) {
        self.upgrade.notified().await;
    }

    /// Turns the response into a stream.
    pub(crate) fn upgrade(&self) {
        if self.may_stream {
            self.upgrade.notify_one();
        }
    }
}

impl ReplyChannel for SessionReplyChannel {
    fn note(&self, method: &str, params: Option<&Raw>) {
        let Some(session) = self.session.upgrade() else { return };
        let Some(stream) = self.open(&session) else { return };
        let delivery = match method {
            "notifications/progress" | "notifications/message" => Delivery::Droppable,
            _ => Delivery::Required,
        };
        session.send(stream, &note_text(method, params.map(Raw::as_str)), delivery);
        self.upgrade();
    }

    fn is_behind(&self) -> bool {
        let (session, stream) = (self.session.upgrade(), self.stream());
        session.zip(stream).is_some_and(|(session, stream)| session.is_behind(stream))
    }

    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange> {
        // Requests to the client are only sent within a request of the client.
        let session = self.session.upgrade().filter(|_| self.may_stream)?;
        let stream = self.open(&session)?;
        let exchange = UpcallExchange::new(&session, stream);
        session.send(stream, &request_text(exchange.id(), method, params.as_str()), Delivery::Required);
        self.upgrade();
        Some(Exchange::Owned(Box::pin(exchange)))
    }

    fn hang_up(&self, retry: Duration) {
        let Some(session) = self.session.upgrade().filter(|_| self.may_stream) else { return };
        let Some(stream) = self.open(&session) else { return };
        session.hang_up(stream, retry);
        self.upgrade();
    }

    fn caller(&self) -> Option<&Caller> {
        self.http_request.as_ref()?.caller.as_deref()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.http_request.as_ref()?.extension(of)
    }
}
