//! The link, and the exchange that is its unit: one question, what is said meanwhile, one answer.
//!
//! Nothing here waits but the exchange itself. Dropping an exchange cancels it.

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

use crate::link::{LinkError, Pending};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What any binding offers a session.
pub trait Link: Send + Sync + 'static {
    /// Starts one exchange. A full pipe, a dead server, a refused login is the first thing the exchange says,
    /// never an error here.
    fn open(&self, ask: Ask<'_>) -> Exchange;

    /// Sends what nobody answers: a notification, or our answer to an upcall. May be called from `Drop`.
    ///
    /// # Errors
    /// When the link is gone or full.
    fn post(&self, post: Post<'_>) -> Result<(), LinkError>;

    /// What the peer starts by itself. Taken once; `None` where there is no such direction, or it was taken.
    fn inbound(&self) -> Option<Inbound>;

    /// Leaves in the binding's way and says how it ended.
    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome>;

    /// As [`Self::close`], for a program that is about to end: where a supervisor guards the server process, that stops it
    /// in order and is not waited for.
    fn close_detached(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.close(within)
    }

    /// Is told once what was agreed on, as far as it concerns how messages travel.
    fn agreed(&self, agreement: Agreement) {
        let _ = agreement;
    }

    /// What may be wrong with the peer when it does not answer, for the error a caller gets.
    fn hint(&self) -> Option<Hint> {
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

    /// How the connection ended, once it has.
    fn ended(&self) -> Option<LinkError> {
        None
    }

    /// What went by that nobody asked for.
    fn counters(&self) -> Option<Arc<crate::link::Counters>> {
        None
    }
}

/// One question for a link.
#[derive(Debug)]
pub struct Ask<'a> {
    /// The id of the request, unique on this link for its life.
    pub id: RequestId,
    /// The method.
    pub method: &'a str,
    /// The parameters, as the text of a JSON object.
    pub params: &'a str,
    /// What a binding may have to say outside the message as well.
    pub mirror: Mirror<'a>,
    /// How long this exchange lives, and what ends it.
    pub life: Life,
}

/// What a binding may have to say outside the message as well. A pipe ignores it; HTTP spells it as headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mirror<'a> {
    /// The revision of this request, where it says it for itself.
    pub revision: Option<&'static str>,
    /// What the request is about, where it names one thing.
    pub name: Option<&'a str>,
    /// The JSON Schema of the arguments, where it is known, and the arguments themselves.
    pub marked: Option<(&'a Raw, &'a Raw)>,
}

/// How long an exchange lives, and what dropping it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Until its answer; dropping it cancels the request.
    Call,
    /// Until its answer; dropping it says nothing, because this request may not be cancelled.
    Handshake,
    /// Nobody waits for the answer; dropping it says nothing.
    Detached,
    /// Open-ended: what is said meanwhile is the point. Dropping it ends it.
    Listen,
}

/// What nobody answers.
#[derive(Debug)]
pub enum Post<'a> {
    /// A notification; the parameters are the text of a JSON object.
    Note {
        /// What happened.
        method: &'a str,
        /// The details.
        params: Option<&'a str>,
    },
    /// Our answer to a request of the peer.
    Answer {
        /// The id of their request.
        id: &'a RequestId,
        /// What we say.
        outcome: Result<&'a Raw, &'a RpcError>,
    },
}

/// A notification of the peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// What happened.
    pub method: ByteString,
    /// The details.
    pub params: Option<Raw>,
}

impl Note {
    /// One of the details.
    #[cfg(feature = "client")]
    pub(crate) fn param(&self, name: &str) -> Option<Raw> {
        member(self.params.as_ref()?, name)
    }
}

/// A request of the peer to us.
#[derive(Debug, Clone, PartialEq)]
pub struct Upcall {
    /// What our answer must carry.
    pub id: RequestId,
    /// What is asked.
    pub method: ByteString,
    /// With what.
    pub params: Option<Raw>,
}

impl Upcall {
    /// One of its parameters.
    #[cfg(feature = "client")]
    pub(crate) fn param(&self, name: &str) -> Option<Raw> {
        member(self.params.as_ref()?, name)
    }
}

#[cfg(feature = "client")]
fn member(params: &Raw, name: &str) -> Option<Raw> {
    params.fields().find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// What an exchange says.
#[derive(Debug)]
pub enum Event {
    /// Something that belongs to this exchange.
    Note(Note),
    /// The peer asks something on this exchange.
    Upcall(Upcall),
    /// The answer. Comes once, last, after all the notes.
    Done(Result<Raw, RpcError>),
}

/// One exchange under way.
pub enum Exchange {
    /// Multiplexed over a pipe.
    Piped(Pending),
    /// Held by the caller itself: no table, no queue.
    Own(Pin<Box<dyn Flow>>),
}

/// An exchange that lives in its caller's own task.
pub trait Flow: Send + 'static {
    /// The next thing it says. Not polled again after [`Event::Done`] or an error.
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>>;
}

impl Exchange {
    /// The next thing the exchange says.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        match self {
            Self::Piped(pending) => pending.poll_event(cx),
            Self::Own(flow) => flow.as_mut().poll_event(cx),
        }
    }

    /// The next thing the exchange says.
    ///
    /// # Errors
    /// When the link cannot carry it to its end.
    pub async fn event(&mut self) -> Result<Event, LinkError> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Waits for the answer, passing over what is said meanwhile.
    ///
    /// # Errors
    /// When the link cannot carry it to its end.
    pub async fn done(&mut self) -> Result<Result<Raw, RpcError>, LinkError> {
        loop {
            if let Event::Done(outcome) = self.event().await? {
                return Ok(outcome);
            }
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Piped(_) => "Exchange::Piped",
            Self::Own(_) => "Exchange::Own",
        })
    }
}

/// How a link ended when it was left.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CloseOutcome {
    /// The peer was told, or there was nobody to tell.
    Left,
    /// The server process ended.
    Exited(crate::link::Exit),
    /// The supervisor of the server process stops it, and was not waited for.
    Detached,
    /// The server could not be ended in time and was given up.
    Abandoned {
        /// What is left behind.
        what: String,
    },
}

/// What both sides agreed on, as far as it concerns how messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Whether an array of messages is a message.
    pub batches: bool,
    /// The revision that is spoken from now on.
    pub revision: &'static str,
}

/// What may be wrong with a peer that does not answer. Ordered: of two hints the greater says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Hint {
    /// It writes lines that are not JSON at all.
    Chatters,
    /// It writes its JSON over several lines.
    PrettyPrints,
    /// It writes UTF-16.
    Utf16,
}

impl fmt::Display for Hint {
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

/// What the peer starts by itself, in order. Notes are bounded: the oldest gives way, and is counted.
#[derive(Debug)]
pub struct Inbound {
    lane: Arc<Lane>,
}

/// One thing the peer started.
#[derive(Debug, Clone, PartialEq)]
pub enum Inward {
    /// Something happened.
    Note(Note),
    /// It asks us.
    Upcall(Upcall),
}

impl Inbound {
    /// The next thing, or `None` when the link has ended and all was said.
    pub async fn next(&mut self) -> Option<Inward> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for whoever waits for something else as well.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Inward>> {
        self.lane.poll_next(cx)
    }

    /// Both ends: for bindings that hold exchanges themselves. At most this many notes wait.
    pub fn channel(most_notes: usize) -> (InboundSender, Self) {
        let (lane, inbound) = Self::new(most_notes);
        (InboundSender { lane }, inbound)
    }

    pub(crate) fn new(most_notes: usize) -> (Arc<Lane>, Self) {
        let lane = Arc::new(Lane { most_notes, state: Mutex::default() });
        (Arc::clone(&lane), Self { lane })
    }
}

/// The writing end of [`Inbound`], for bindings.
#[derive(Debug, Clone)]
pub struct InboundSender {
    lane: Arc<Lane>,
}

impl InboundSender {
    /// Adds something; returns whether an older note had to give way.
    pub fn send(&self, inward: Inward) -> bool {
        self.lane.push(inward)
    }

    /// Says that nothing more will come.
    pub fn close(&self) {
        self.lane.close();
    }
}

/// The writing end of [`Inbound`].
#[derive(Debug)]
pub(crate) struct Lane {
    most_notes: usize,
    state: Mutex<LaneState>,
}

#[derive(Debug, Default)]
struct LaneState {
    queue: VecDeque<Inward>,
    notes: usize,
    closed: bool,
    waker: Option<Waker>,
}

impl Lane {
    /// Adds something; returns whether an older note had to give way.
    pub(crate) fn push(&self, inward: Inward) -> bool {
        let mut state = self.state.lock();
        let mut gave_way = false;
        if matches!(inward, Inward::Note(_)) {
            if state.notes == self.most_notes {
                let oldest = state.queue.iter().position(|item| matches!(item, Inward::Note(_)));
                gave_way = oldest.and_then(|at| state.queue.remove(at)).is_some();
            } else {
                state.notes += 1;
            }
        }
        state.queue.push_back(inward);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
        gave_way
    }

    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Inward>> {
        let mut state = self.state.lock();
        match state.queue.pop_front() {
            Some(inward) => {
                state.notes -= usize::from(matches!(inward, Inward::Note(_)));
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
