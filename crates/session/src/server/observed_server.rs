//! Shows the messages between a server and its clients to an observer, over every binding.
//!
//! Invariant: without an observer, or while nobody watches, requests are answered as if this file did not exist.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_protocol::jsonrpc::{Notification, Request};
use switchboard_protocol::{Raw, RequestId};

use crate::link::{
    CallNumber, Direction, Exchange, ExchangeKind, FrameBody, Mirror, ObservedExchange, ObservedFrame,
    OutgoingRequest, TrafficObserver, TrafficTap,
};
use crate::request::{Caller, ReplyChannel};
use crate::server::answer::{AnswerOutcome, Outcome, answer};
use crate::server::{ConnectionId, MessageClass, Server, ServerSession};

/// Answers a request, and shows it with everything that is sent for it.
pub(super) fn answer_observed(
    server: &Arc<Server>,
    session: &Arc<ServerSession>,
    request: Request,
    class: MessageClass,
    (channel, observer): (Arc<dyn ReplyChannel>, &Arc<dyn TrafficObserver>),
) -> AnswerOutcome {
    // Over HTTP a self-contained request belongs to no session.
    let is_connected = channel.extension(TypeId::of::<ConnectionId>()).is_some();
    let session_number = (is_connected || class.self_contained_version().is_none()).then(|| session.number());
    let principal = channel.caller().map(Caller::principal);
    let tap = TrafficTap::to_client(Arc::clone(observer), session_number, principal);
    let observed = ObservedRequest::show(tap, &request);
    let channel: Arc<dyn ReplyChannel> =
        Arc::new(ObservedChannel { channel, tap: observed.tap.clone(), call: Some(observed.call) });
    match answer(server, session, request, class.0, channel) {
        AnswerOutcome::Refused(error) => {
            let outcome = Err(error);
            observed.show_response(&outcome);
            match outcome {
                Ok(result) => AnswerOutcome::Now(Ok(result)),
                Err(error) => AnswerOutcome::Refused(error),
            }
        }
        AnswerOutcome::Now(outcome) => {
            observed.show_response(&outcome);
            AnswerOutcome::Now(outcome)
        }
        AnswerOutcome::Later(response) => AnswerOutcome::Later(response.observed(observed)),
    }
}

/// A request of a client that has no response yet. Dropping it shows that it was cancelled.
pub(super) struct ObservedRequest {
    tap: TrafficTap,
    id: RequestId,
    method: String,
    /// The number that the frames of the request share.
    call: CallNumber,
    received_at: Instant,
    is_over: bool,
}

impl ObservedRequest {
    fn show(tap: TrafficTap, request: &Request) -> Self {
        let call = CallNumber::next();
        let body = FrameBody::Request {
            id: &request.id,
            method: &request.method,
            params: request.params.as_ref().map(Raw::as_str),
        };
        tap.observe(&ObservedFrame::new(Direction::In, body).with_call(Some(call)));
        let (id, method) = (request.id.clone(), request.method.to_string());
        Self { tap, id, method, call, received_at: Instant::now(), is_over: false }
    }

    /// Shows the response, if somebody still watches.
    pub(super) fn show_response(mut self, outcome: &Outcome) {
        self.is_over = true;
        let (id, method) = (&self.id, &*self.method);
        self.show_end(Direction::Out, FrameBody::Response { id, method, outcome: outcome.as_ref() });
    }

    fn show_end(&self, direction: Direction, body: FrameBody<'_>) {
        if self.tap.is_watching() {
            let frame = ObservedFrame::new(direction, body);
            self.tap.observe(&frame.with_call(Some(self.call)).with_elapsed(self.received_at.elapsed()));
        }
    }
}

impl Drop for ObservedRequest {
    fn drop(&mut self) {
        if !self.is_over {
            self.show_end(Direction::In, FrameBody::Cancelled { id: &self.id, method: &self.method });
        }
    }
}

/// A reply channel whose notifications and questions are shown.
pub(super) struct ObservedChannel {
    channel: Arc<dyn ReplyChannel>,
    tap: TrafficTap,
    call: Option<CallNumber>,
}

impl ObservedChannel {
    /// Wraps the channel of a session, for messages that belong to no request.
    pub(super) fn of_session(
        channel: Arc<dyn ReplyChannel>,
        session: &ServerSession,
        observer: &Arc<dyn TrafficObserver>,
    ) -> Self {
        let principal = channel.caller().or(session.owner()).map(Caller::principal);
        let tap = TrafficTap::to_client(Arc::clone(observer), Some(session.number()), principal);
        Self { channel, tap, call: None }
    }
}

impl ReplyChannel for ObservedChannel {
    fn note(&self, method: &str, params: Option<&Raw>) {
        if self.tap.is_watching() {
            let body = FrameBody::Notification { method, params: params.map(Raw::as_str) };
            self.tap.observe(&ObservedFrame::new(Direction::Out, body).with_call(self.call));
        }
        self.channel.note(method, params);
    }

    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange> {
        let exchange = self.channel.ask(method, params)?;
        match exchange.request_id().cloned() {
            Some(id) if self.tap.is_watching() => {
                let tap = self.tap.request(&OutgoingRequest {
                    id,
                    method,
                    params: params.as_str(),
                    mirror: Mirror::default(),
                    kind: ExchangeKind::Call,
                    call: self.call,
                });
                Some(Exchange::Owned(Box::pin(ObservedExchange { exchange, tap })))
            }
            _ => Some(exchange),
        }
    }

    fn is_behind(&self) -> bool {
        self.channel.is_behind()
    }

    fn hang_up(&self, retry: Duration) {
        self.channel.hang_up(retry);
    }

    fn caller(&self) -> Option<&Caller> {
        self.channel.caller()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.channel.extension(of)
    }
}

impl Server {
    /// Shows a notification of a client to the observer of the traffic, if there is one. `session` is that of the connection.
    pub fn observe_notification(&self, session: Option<&ServerSession>, note: &Notification) {
        let params = note.params.as_ref().map(Raw::as_str);
        self.observe_received(session, FrameBody::Notification { method: &note.method, params });
    }

    /// Shows text that a client sent in place of a message to the observer of the traffic, if there is one.
    pub fn observe_invalid(&self, session: Option<&ServerSession>, text: &[u8]) {
        self.observe_received(session, FrameBody::Invalid { text });
    }

    /// Returns whether somebody observes the traffic now.
    pub fn is_observed(&self) -> bool {
        self.traffic.as_ref().is_some_and(|observer| observer.is_watching())
    }

    fn observe_received(&self, session: Option<&ServerSession>, body: FrameBody<'_>) {
        let Some(observer) = self.traffic.as_ref().filter(|observer| observer.is_watching()) else { return };
        let principal = session.and_then(ServerSession::owner).map(Caller::principal);
        let number = session.map(ServerSession::number);
        let tap = TrafficTap::to_client(Arc::clone(observer), number, principal);
        tap.observe(&ObservedFrame::new(Direction::In, body));
    }
}
