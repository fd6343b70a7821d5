//! Link decorator that shows every message to a [`TrafficObserver`], over any binding.
//!
//! Invariants: a link without an observer has no decorator; while nobody watches, a message costs one call of
//! [`TrafficObserver::is_watching`], and nothing is copied or allocated. An exchange that was opened while nobody watched is
//! not shown later.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, RequestId};

use crate::link::{
    Agreement, BoxFuture, CallNumber, CloseOutcome, Counters, Dial, DialStep, Direction, Exchange,
    ExchangeEvent, ExchangeKind, FrameBody, Inbound, InboundMessage, InboundNotification, Link, LinkError,
    ObservedFrame, OneWayMessage, OutgoingRequest, OwnedExchange, PeerHint, TrafficObserver, TrafficSource,
    Upcall,
};

/// Requests of the server whose responses are attributed; the oldest are forgotten.
const MAX_UPCALLS: usize = 1024;

/// A [`Dial`] whose links show their messages to an observer.
pub struct ObservedDial<D> {
    dial: D,
    tap: TrafficTap,
}

impl<D: Dial> ObservedDial<D> {
    /// Shows the messages of the links of `dial` through this tap.
    pub fn new(dial: D, tap: TrafficTap) -> Self {
        Self { dial, tap }
    }
}

impl<D: Dial> Dial for ObservedDial<D> {
    fn probe_may_kill_server(&self) -> bool {
        self.dial.probe_may_kill_server()
    }

    fn has_oldest(&self) -> bool {
        self.dial.has_oldest()
    }

    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            let reused = previous.clone();
            let link = self.dial.dial(step, previous).await.inspect_err(|error| {
                self.tap.show(Direction::In, FrameBody::Failed { request: None, error });
            })?;
            // A link that is returned again is already observed.
            if reused.is_some_and(|reused| std::ptr::addr_eq(Arc::as_ptr(&reused), Arc::as_ptr(&link))) {
                return Ok(link);
            }
            let observed: Arc<dyn Link> = Arc::new(ObservedLink { link, tap: self.tap.clone() });
            Ok(observed)
        })
    }
}

impl<D> fmt::Debug for ObservedDial<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedDial").field("server", &self.tap.shared.server).finish_non_exhaustive()
    }
}

/// The observer of the links of one session, and what attributes their frames.
#[derive(Clone)]
pub struct TrafficTap {
    shared: Arc<TapState>,
}

struct TapState {
    observer: Arc<dyn TrafficObserver>,
    server: Option<Arc<str>>,
    principal: Option<String>,
    /// Zero: not known, or none.
    session: AtomicU64,
    /// What is open. Used only while somebody watches; held for a lookup, never across an await.
    open: Mutex<OpenRequests>,
}

/// The open requests of both sides.
#[derive(Default)]
struct OpenRequests {
    /// The numbers of the calls whose exchanges are open.
    calls: Vec<CallNumber>,
    upcalls: HashMap<RequestId, ObservedUpcall>,
    /// The ids of upcalls, oldest first.
    order: VecDeque<RequestId>,
}

/// A request of the server that has no response yet.
struct ObservedUpcall {
    method: String,
    call: Option<CallNumber>,
    received_at: Instant,
}

impl OpenRequests {
    /// Returns the call that a message on no exchange belongs to: the only one that is open.
    fn only_call(&self) -> Option<CallNumber> {
        let first = *self.calls.first()?;
        self.calls.iter().all(|call| *call == first).then_some(first)
    }

    fn insert_upcall(&mut self, id: &RequestId, upcall: ObservedUpcall) {
        if self.order.len() == MAX_UPCALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.upcalls.remove(&oldest);
        }
        self.upcalls.insert(id.clone(), upcall);
        self.order.push_back(id.clone());
    }

    fn remove_upcall(&mut self, id: &RequestId) -> Option<ObservedUpcall> {
        let upcall = self.upcalls.remove(id)?;
        self.order.retain(|open| open != id);
        Some(upcall)
    }
}

impl TrafficTap {
    /// Observes the messages of a session with the server of this name.
    pub fn new(observer: Arc<dyn TrafficObserver>, server: impl Into<Arc<str>>) -> Self {
        let (server, session) = (Some(server.into()), AtomicU64::new(0));
        Self {
            shared: Arc::new(TapState { observer, server, principal: None, session, open: Mutex::default() }),
        }
    }

    /// Observes the messages between a served server and one client.
    #[cfg(feature = "server")]
    pub(crate) fn to_client(
        observer: Arc<dyn TrafficObserver>,
        session: Option<u64>,
        principal: Option<String>,
    ) -> Self {
        let session = AtomicU64::new(session.unwrap_or_default());
        Self {
            shared: Arc::new(TapState { observer, server: None, principal, session, open: Mutex::default() }),
        }
    }

    /// Sets the number of the session that opens the links.
    pub fn set_session(&self, number: u64) {
        self.shared.session.store(number, Ordering::Relaxed);
    }

    /// Returns whether somebody watches.
    pub fn is_watching(&self) -> bool {
        self.shared.observer.is_watching()
    }

    pub(crate) fn observe(&self, frame: &ObservedFrame<'_>) {
        let session = self.shared.session.load(Ordering::Relaxed);
        let source = TrafficSource {
            server: self.shared.server.as_deref(),
            session: (session != 0).then_some(session),
            principal: self.shared.principal.as_deref(),
        };
        self.shared.observer.observe(&source, frame);
    }

    /// Shows a frame that belongs to no call, if somebody watches.
    fn show(&self, direction: Direction, body: FrameBody<'_>) {
        if self.is_watching() {
            self.observe(&ObservedFrame::new(direction, body));
        }
    }

    /// Shows text that a binding received in place of a message.
    pub fn show_invalid(&self, text: &[u8]) {
        self.show(Direction::In, FrameBody::Invalid { text });
    }

    fn note(&self, note: &InboundNotification, call: Option<CallNumber>) {
        let body = FrameBody::Notification { method: &note.method, params: text_of(note.params.as_ref()) };
        self.observe(&ObservedFrame::new(Direction::In, body).with_call(call));
    }

    fn upcall(&self, upcall: &Upcall, call: Option<CallNumber>) {
        let body = FrameBody::Request {
            id: &upcall.id,
            method: &upcall.method,
            params: text_of(upcall.params.as_ref()),
        };
        let open = ObservedUpcall { method: upcall.method.to_string(), call, received_at: Instant::now() };
        self.shared.open.lock().insert_upcall(&upcall.id, open);
        self.observe(&ObservedFrame::new(Direction::In, body).with_call(call));
    }

    /// Shows a message that came on no exchange.
    pub(crate) fn inbound(&self, message: &InboundMessage) {
        if !self.is_watching() {
            return;
        }
        match message {
            InboundMessage::Notification(note) => {
                let call = match &*note.method {
                    "notifications/cancelled" => self.cancelled_upcall(note),
                    _ => self.shared.open.lock().only_call(),
                };
                self.note(note, call);
            }
            InboundMessage::Upcall(upcall) => {
                let call = self.shared.open.lock().only_call();
                self.upcall(upcall, call);
            }
        }
    }

    /// Returns the call of the upcall that a notification cancels.
    fn cancelled_upcall(&self, note: &InboundNotification) -> Option<CallNumber> {
        let params = note.params.as_ref()?;
        let (_, id) = params.fields().find(|(name, _)| *name == "requestId")?;
        self.shared.open.lock().remove_upcall(&RequestId::from_json(id.as_str())?)?.call
    }

    fn posted(&self, post: &OneWayMessage<'_>) {
        match post {
            OneWayMessage::Notification { method, params } => {
                self.observe(&ObservedFrame::new(
                    Direction::Out,
                    FrameBody::Notification { method, params: *params },
                ));
            }
            OneWayMessage::Response { id, outcome } => {
                let upcall = self.shared.open.lock().remove_upcall(id);
                let method = upcall.as_ref().map_or("", |upcall| &upcall.method);
                let body = FrameBody::Response { id, method, outcome: *outcome };
                let mut frame = ObservedFrame::new(Direction::Out, body);
                if let Some(upcall) = &upcall {
                    frame = frame.with_call(upcall.call).with_elapsed(upcall.received_at.elapsed());
                }
                self.observe(&frame);
            }
        }
    }

    /// Shows a request that is about to be sent, and returns what observes its exchange.
    pub(crate) fn request(&self, request: &OutgoingRequest<'_>) -> ExchangeTap {
        let body =
            FrameBody::Request { id: &request.id, method: request.method, params: Some(request.params) };
        self.observe(&ObservedFrame::new(Direction::Out, body).with_call(request.call));
        self.shared.open.lock().calls.extend(request.call);
        ExchangeTap {
            tap: self.clone(),
            id: request.id.clone(),
            method: request.method.into(),
            call: request.call,
            kind: request.kind,
            sent_at: Instant::now(),
            is_over: false,
        }
    }
}

impl fmt::Debug for TrafficTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrafficTap").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

fn text_of(params: Option<&Raw>) -> Option<&str> {
    params.map(Raw::as_str)
}

/// A link that shows every message to an observer.
struct ObservedLink {
    link: Arc<dyn Link>,
    tap: TrafficTap,
}

impl Link for ObservedLink {
    fn open(&self, request: OutgoingRequest<'_>) -> Exchange {
        if !self.tap.is_watching() {
            return self.link.open(request);
        }
        let tap = self.tap.request(&request);
        let exchange = self.link.open(request);
        Exchange::Owned(Box::pin(ObservedExchange { exchange, tap }))
    }

    fn post(&self, message: OneWayMessage<'_>) -> Result<(), LinkError> {
        if self.tap.is_watching() {
            self.tap.posted(&message);
        }
        self.link.post(message)
    }

    fn inbound(&self) -> Option<Inbound> {
        Some(self.link.inbound()?.with_tap(self.tap.clone()))
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.link.close(within)
    }

    fn close_detached(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.link.close_detached(within)
    }

    fn agreed(&self, agreement: Agreement) {
        self.link.agreed(agreement);
    }

    fn hint(&self) -> Option<PeerHint> {
        self.link.hint()
    }

    fn check_schema(&self, schema: &Raw) -> Result<(), String> {
        self.link.check_schema(schema)
    }

    fn ended(&self) -> Option<LinkError> {
        self.link.ended()
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        self.link.counters()
    }
}

/// Shows the frames of one exchange.
pub(crate) struct ExchangeTap {
    tap: TrafficTap,
    id: RequestId,
    method: Box<str>,
    call: Option<CallNumber>,
    kind: ExchangeKind,
    sent_at: Instant,
    is_over: bool,
}

impl ExchangeTap {
    fn observe(&mut self, event: &Result<ExchangeEvent, LinkError>) {
        self.is_over |= matches!(event, Ok(ExchangeEvent::Done(_)) | Err(_));
        if !self.tap.is_watching() {
            return;
        }
        match event {
            Ok(ExchangeEvent::Notification(note)) => self.tap.note(note, self.call),
            Ok(ExchangeEvent::Upcall(upcall)) => self.tap.upcall(upcall, self.call),
            // Copies of messages that the session gets too, where they are shown.
            Ok(ExchangeEvent::Observed(_) | ExchangeEvent::ObservedByAll(_)) => {}
            Ok(ExchangeEvent::Done(outcome)) => {
                let (id, method, outcome) = (&self.id, &*self.method, outcome.as_ref());
                self.show_end(Direction::In, FrameBody::Response { id, method, outcome });
            }
            Err(error) => {
                let request = Some((&self.id, &*self.method));
                self.show_end(Direction::In, FrameBody::Failed { request, error });
            }
        }
    }

    /// Shows the last frame of the exchange.
    fn show_end(&self, direction: Direction, body: FrameBody<'_>) {
        let frame = ObservedFrame::new(direction, body);
        self.tap.observe(&frame.with_call(self.call).with_elapsed(self.sent_at.elapsed()));
    }
}

impl Drop for ExchangeTap {
    fn drop(&mut self) {
        if let Some(call) = self.call {
            let mut open = self.tap.shared.open.lock();
            if let Some(at) = open.calls.iter().position(|open| *open == call) {
                open.calls.swap_remove(at);
            }
        }
        // Dropping a handshake or a detached request cancels nothing.
        let cancels = matches!(self.kind, ExchangeKind::Call | ExchangeKind::Listen);
        if cancels && !self.is_over && self.tap.is_watching() {
            self.show_end(Direction::Out, FrameBody::Cancelled { id: &self.id, method: &self.method });
        }
    }
}

/// An exchange whose frames are shown.
pub(crate) struct ObservedExchange {
    pub(crate) exchange: Exchange,
    pub(crate) tap: ExchangeTap,
}

impl OwnedExchange for ObservedExchange {
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let this = self.get_mut();
        let polled = this.exchange.poll_event(cx);
        if let Poll::Ready(event) = &polled {
            this.tap.observe(event);
        }
        polled
    }
}
