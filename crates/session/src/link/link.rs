//! The link, and the exchange that is its unit: one request, its notifications, one response.
//!
//! Only an exchange waits; every method of a link returns at once. Dropping an exchange cancels it.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytestring::ByteString;
use parking_lot::Mutex;
use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{CallNumber, LinkError, Pending, TrafficTap};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection to a peer, as a session sees it: it opens exchanges and sends messages that expect no response.
pub trait Link: Send + Sync + 'static {
    /// Starts one exchange. A full pipe, a dead server or a refused login is the first event of the exchange, never an
    /// error here.
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange;

    /// Sends a message that expects no response: a notification, or our response to an upcall. May be called from `Drop`.
    ///
    /// # Errors
    /// When the link is gone or full.
    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError>;

    /// Takes the stream of messages that the peer sends on its own initiative. `None` where the binding has none, or it
    /// was taken before.
    fn inbound(&self) -> Option<Inbound>;

    /// Closes the connection and returns how it ended.
    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome>;

    /// As [`Self::close`], for a program that is about to exit: where a supervisor guards the server process, the supervisor
    /// stops it gracefully and this does not wait for that.
    fn close_detached(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.close(within)
    }

    /// Called once with the negotiated settings that concern the transport of messages.
    fn agreed(&self, agreement: Agreement) {
        let _ = agreement;
    }

    /// Returns what may be wrong with a peer that does not respond, for the error of the caller.
    fn hint(&self) -> Option<PeerHint> {
        None
    }

    /// Checks whether this binding can carry requests whose arguments have this JSON Schema.
    ///
    /// # Errors
    /// Says what the binding cannot carry.
    fn check_schema(&self, schema: &Raw) -> Result<(), String> {
        let _ = schema;
        Ok(())
    }

    /// Returns why the connection ended, once it has.
    fn ended(&self) -> Option<LinkError> {
        None
    }

    /// Returns the counters of unexpected, damaged and dropped messages.
    fn counters(&self) -> Option<Arc<crate::link::Counters>> {
        None
    }
}

/// A request for a link to send.
#[derive(Debug)]
pub struct OutgoingRequest<'a> {
    /// The id of the request, unique on this link for its life.
    pub id: RequestId,
    /// The method.
    pub method: &'a str,
    /// The parameters, as the text of a JSON object.
    pub params: &'a str,
    /// Values that a binding may have to repeat outside the message.
    pub mirror: Mirror<'a>,
    /// How long this exchange lives, and what ends it.
    pub kind: ExchangeKind,
    /// The call that the request is part of, for observers of the link; it is not sent.
    pub call: Option<CallNumber>,
}

/// Values of a request that a binding may have to repeat outside the message. A pipe ignores them; HTTP sends them as
/// headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mirror<'a> {
    /// The revision of this request, where each request names its own.
    pub revision: Option<&'static str>,
    /// The name or URI of the tool, prompt, resource or task that the request is about.
    pub name: Option<&'a str>,
    /// The JSON Schema of the arguments, where it is known, and the arguments themselves.
    pub marked: Option<(&'a Raw, &'a Raw)>,
}

/// How long an exchange lives, and what dropping it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeKind {
    /// Until its response; dropping it cancels the request.
    Call,
    /// Until its response; dropping it sends nothing, because this request may not be cancelled.
    Handshake,
    /// Nobody waits for the response; dropping it sends nothing.
    Detached,
    /// Open-ended: a stream of notifications. Dropping it ends the stream.
    Listen,
}

/// A message that expects no response.
#[derive(Debug)]
pub enum OneWayMessage<'a> {
    /// A notification; the parameters are the text of a JSON object.
    Notification {
        /// The method.
        method: &'a str,
        /// The parameters.
        params: Option<&'a str>,
    },
    /// Our response to a request of the peer.
    Response {
        /// The id of their request.
        id: &'a RequestId,
        /// The result or the error.
        outcome: Result<&'a Raw, &'a RpcError>,
    },
}

/// A notification of the peer.
#[derive(Debug, Clone, PartialEq)]
pub struct InboundNotification {
    /// The method.
    pub method: ByteString,
    /// The parameters.
    pub params: Option<Raw>,
}

impl InboundNotification {
    /// Returns the parameter of this name.
    #[cfg(feature = "client")]
    pub(crate) fn param(&self, name: &str) -> Option<Raw> {
        member(self.params.as_ref()?, name)
    }
}

/// A request of the peer to us.
#[derive(Debug, Clone, PartialEq)]
pub struct Upcall {
    /// The id, which our response must carry.
    pub id: RequestId,
    /// The method.
    pub method: ByteString,
    /// The parameters.
    pub params: Option<Raw>,
}

impl Upcall {
    /// Returns the parameter of this name.
    #[cfg(feature = "client")]
    pub(crate) fn param(&self, name: &str) -> Option<Raw> {
        member(self.params.as_ref()?, name)
    }
}

#[cfg(feature = "client")]
fn member(params: &Raw, name: &str) -> Option<Raw> {
    params.fields().find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// An event of an exchange.
#[derive(Debug)]
pub enum ExchangeEvent {
    /// A notification that belongs to this exchange.
    Notification(InboundNotification),
    /// A copy of a notification that the session gets too, such as a log message while this exchange is open.
    Observed(InboundNotification),
    /// As [`Self::Observed`], while several exchanges are open: it may belong to any of them, and each gets a copy.
    ObservedByAll(InboundNotification),
    /// A request of the peer on this exchange.
    Upcall(Upcall),
    /// The response. Comes once, last, after all notifications.
    Done(Result<Raw, RpcError>),
}

/// One exchange in flight.
pub enum Exchange {
    /// Multiplexed over a pipe.
    Piped(Pending),
    /// Held by the caller itself: no table, no queue.
    Owned(Pin<Box<dyn OwnedExchange>>),
}

/// An exchange that lives in its caller's own task.
pub trait OwnedExchange: Send + 'static {
    /// Polls for the next event. Not polled again after [`ExchangeEvent::Done`] or an error.
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>>;

    /// Returns the id of the request, where the exchange has chosen it.
    fn request_id(&self) -> Option<&RequestId> {
        None
    }
}

impl Exchange {
    /// Polls for the next event of the exchange.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        match self {
            Self::Piped(pending) => pending.poll_event(cx),
            Self::Owned(flow) => flow.as_mut().poll_event(cx),
        }
    }

    /// Returns the id of the request while it has no response, where the exchange knows it.
    #[cfg(feature = "server")]
    pub(crate) fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Piped(pending) => pending.request_id(),
            Self::Owned(flow) => flow.request_id(),
        }
    }

    /// Returns the next event of the exchange.
    ///
    /// # Errors
    /// When the link cannot carry it to its end.
    pub async fn event(&mut self) -> Result<ExchangeEvent, LinkError> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Waits for the response and drops the notifications before it.
    ///
    /// # Errors
    /// When the link cannot carry it to its end.
    pub async fn done(&mut self) -> Result<Result<Raw, RpcError>, LinkError> {
        loop {
            if let ExchangeEvent::Done(outcome) = self.event().await? {
                return Ok(outcome);
            }
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Piped(_) => "Exchange::Piped",
            Self::Owned(_) => "Exchange::Owned",
        })
    }
}

/// How a link ended when it was closed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CloseOutcome {
    /// The peer was notified of the end, or there was no peer to notify.
    Left,
    /// The server process ended.
    Exited(crate::link::ServerExit),
    /// The supervisor of the server process stops it; nobody waited for that.
    Detached,
    /// The server could not be stopped in time and was abandoned.
    Abandoned {
        /// The abandoned process, for display.
        what: String,
    },
}

/// The negotiated settings that concern the transport of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Whether an array of messages is a message.
    pub batches: bool,
    /// The revision that is spoken from now on.
    pub revision: &'static str,
}

/// A likely cause when a peer does not respond. Ordered: the greater of two hints is more specific.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PeerHint {
    /// It writes lines that are not JSON at all.
    Chatters,
    /// It writes its JSON over several lines.
    PrettyPrints,
    /// It writes UTF-16.
    Utf16,
}

impl fmt::Display for PeerHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrettyPrints => {
                "the server seems to write its JSON over several lines; each message must be one line"
            }
            Self::Utf16 => "the server seems to write UTF-16; messages must be UTF-8",
            Self::Chatters => {
                "the server writes other text to stdout; only messages belong there, logs go to stderr"
            }
        })
    }
}

/// The messages that the peer sends on its own initiative, in order. Notifications are bounded: when the queue is full, the
/// oldest is dropped and counted.
#[derive(Debug)]
pub struct Inbound {
    queue: Arc<InboundQueue>,
    /// Shows each message that is taken.
    tap: Option<TrafficTap>,
}

/// One message that the peer sent on its own initiative.
#[derive(Debug, Clone, PartialEq)]
pub enum InboundMessage {
    /// A notification.
    Notification(InboundNotification),
    /// A request to us.
    Upcall(Upcall),
}

impl Inbound {
    /// Returns the next message, or `None` when the link has ended and the queue is empty.
    pub async fn next(&mut self) -> Option<InboundMessage> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Polls for the next message.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<InboundMessage>> {
        let polled = self.queue.poll_next(cx);
        if let (Some(tap), Poll::Ready(Some(message))) = (&self.tap, &polled) {
            tap.inbound(message);
        }
        polled
    }

    /// Shows each message that is taken from now on.
    pub(crate) fn with_tap(mut self, tap: TrafficTap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Creates both ends of a queue that holds at most `most_notes` notifications, for bindings that hold exchanges
    /// themselves.
    pub fn channel(most_notes: usize) -> (InboundSender, Self) {
        let (queue, inbound) = Self::new(most_notes);
        (InboundSender { queue }, inbound)
    }

    pub(crate) fn new(most_notes: usize) -> (Arc<InboundQueue>, Self) {
        let queue = Arc::new(InboundQueue { most_notes, state: Mutex::default() });
        (Arc::clone(&queue), Self { queue, tap: None })
    }
}

/// The writing end of [`Inbound`], for bindings.
#[derive(Debug, Clone)]
pub struct InboundSender {
    queue: Arc<InboundQueue>,
}

impl InboundSender {
    /// Enqueues a message; returns whether the oldest notification was dropped for it.
    pub fn send(&self, inward: InboundMessage) -> bool {
        self.queue.push(inward)
    }

    /// Closes the queue.
    pub fn close(&self) {
        self.queue.close();
    }
}

/// The queue between [`InboundSender`] and [`Inbound`].
#[derive(Debug)]
pub(crate) struct InboundQueue {
    most_notes: usize,
    state: Mutex<InboundQueueState>,
}

#[derive(Debug, Default)]
struct InboundQueueState {
    items: VecDeque<InboundMessage>,
    notes: usize,
    closed: bool,
    waker: Option<Waker>,
}

impl InboundQueue {
    /// Enqueues a message; returns whether the oldest notification was dropped for it.
    pub(crate) fn push(&self, inward: InboundMessage) -> bool {
        let mut state = self.state.lock();
        let mut dropped_oldest = false;
        if matches!(inward, InboundMessage::Notification(_)) {
            if state.notes == self.most_notes {
                let oldest =
                    state.items.iter().position(|item| matches!(item, InboundMessage::Notification(_)));
                dropped_oldest = oldest.and_then(|at| state.items.remove(at)).is_some();
            } else {
                state.notes += 1;
            }
        }
        state.items.push_back(inward);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
        dropped_oldest
    }

    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<InboundMessage>> {
        let mut state = self.state.lock();
        match state.items.pop_front() {
            Some(inward) => {
                state.notes -= usize::from(matches!(inward, InboundMessage::Notification(_)));
                Poll::Ready(Some(inward))
            }
            None if state.closed => Poll::Ready(None),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
