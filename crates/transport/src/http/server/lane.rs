//! The way back of a request in a session: what it says goes out on its own stream.
//!
//! A request that says nothing has no stream: its number is drawn with its first word, and there is none after its
//! answer. Invariant: a lane is unopened, then open or closed, and once it is one of these two it stays so, or goes from
//! open to closed for good.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_protocol::Raw;
use switchboard_session::link::Exchange;
use switchboard_session::server::{Caller, ReplyChannel};
use tokio::sync::Notify;

use crate::http::message::{note_text, request_text};
use crate::http::server::session::{Asking, HttpSession, STANDALONE};
use crate::http::server::stream::Weight;
use crate::http::server::visitor::Known;

/// Nothing was said yet.
const UNOPENED: u64 = u64::MAX - 1;
/// Nothing will be said any more.
const CLOSED: u64 = u64::MAX;

/// The way back of a request in a session.
pub(crate) struct Lane {
    session: Weak<HttpSession>,
    stream: AtomicU64,
    /// Whether the client takes a stream.
    streams: bool,
    /// Told when the answer must become a stream.
    upgrade: Notify,
    /// Who made the request; nobody where the lane belongs to none.
    known: Option<Known>,
    /// Whether the connection that the request came on is gone.
    is_abandoned: AtomicBool,
}

impl Lane {
    /// The lane of a request, with a stream where the client takes one.
    pub(crate) fn new(session: &Arc<HttpSession>, streams: bool, known: Option<Known>) -> Self {
        let stream = AtomicU64::new(if streams { UNOPENED } else { CLOSED });
        let is_abandoned = AtomicBool::new(false);
        Self {
            session: Arc::downgrade(session),
            stream,
            streams,
            upgrade: Notify::new(),
            known,
            is_abandoned,
        }
    }

    /// The lane of what belongs to no request.
    pub(crate) fn standalone(session: &Arc<HttpSession>) -> Self {
        let (session, stream) = (Arc::downgrade(session), AtomicU64::new(STANDALONE));
        let is_abandoned = AtomicBool::new(true);
        Self { session, stream, streams: false, upgrade: Notify::new(), known: None, is_abandoned }
    }

    /// Its stream, if something was said on it.
    pub(crate) fn stream(&self) -> Option<u64> {
        Some(self.stream.load(Ordering::Acquire)).filter(|stream| *stream < UNOPENED)
    }

    /// Its stream, opened if need be; `None` when it is closed.
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

    /// The connection that the request came on is gone: what is said from now on is for whoever comes back.
    pub(crate) fn abandon(&self, session: &HttpSession) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        if let Some(stream) = self.stream() {
            session.abandon_stream(stream);
        }
    }

    /// Closes it, and gives the stream that was open.
    pub(crate) fn close(&self) -> Option<u64> {
        Some(self.stream.swap(CLOSED, Ordering::AcqRel)).filter(|stream| *stream < UNOPENED)
    }

    /// Closes it where nothing was said; else gives the stream, which stays open.
    pub(crate) fn close_unused(&self) -> Option<u64> {
        let closed = self.stream.compare_exchange(UNOPENED, CLOSED, Ordering::AcqRel, Ordering::Acquire);
        closed.err().filter(|stream| *stream < UNOPENED)
    }

    /// Ready when the answer must become a stream.
    pub(crate) async fn upgraded(&self) {
        self.upgrade.notified().await;
    }

    /// Makes the answer a stream.
    pub(crate) fn upgrade(&self) {
        if self.streams {
            self.upgrade.notify_one();
        }
    }
}

impl ReplyChannel for Lane {
    fn note(&self, method: &str, params: Option<&Raw>) {
        let Some(session) = self.session.upgrade() else { return };
        let Some(stream) = self.open(&session) else { return };
        let weight = match method {
            "notifications/progress" | "notifications/message" => Weight::Note,
            _ => Weight::Must,
        };
        session.send(stream, &note_text(method, params.map(Raw::as_str)), weight);
        self.upgrade();
    }

    fn is_behind(&self) -> bool {
        let (session, stream) = (self.session.upgrade(), self.stream());
        session.zip(stream).is_some_and(|(session, stream)| session.is_behind(stream))
    }

    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange> {
        // Questions belong to a request.
        let session = self.session.upgrade().filter(|_| self.streams)?;
        let stream = self.open(&session)?;
        let asking = Asking::new(&session, stream);
        session.send(stream, &request_text(asking.id(), method, params.as_str()), Weight::Must);
        self.upgrade();
        Some(Exchange::Own(Box::pin(asking)))
    }

    fn hang_up(&self, retry: Duration) {
        let Some(session) = self.session.upgrade().filter(|_| self.streams) else { return };
        let Some(stream) = self.open(&session) else { return };
        session.hang_up(stream, retry);
        self.upgrade();
    }

    fn caller(&self) -> Option<&Caller> {
        self.known.as_ref()?.caller.as_ref()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.known.as_ref()?.extension(of)
    }
}
