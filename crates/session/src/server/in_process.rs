//! An in-process link: a call runs the handler in the caller's own task, without a queue, a task or a copy.

use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{Outline, Request, Version};
use switchboard_protocol::{Raw, RpcError};

use crate::link::{
    BoxFuture, CloseOutcome, Dial, DialStep, Exchange, ExchangeEvent, ExchangeKind, Inbound,
    InboundNotification, Link, LinkError, OneWayMessage, OutgoingRequest, OwnedExchange, pair,
};
use crate::mux::{ConnectionLimits, MuxLink};
use crate::request::{Caller, Extensions, ReplyChannel};
use crate::server::{AnswerOutcome, Outcome, ResponseFuture, Server, ServerSession};

/// Notifications that may wait in an exchange; when full, the oldest is dropped.
const MAX_NOTES: usize = 1024;

/// A [`Dial`] for a server in this process.
///
/// A server that speaks a modern revision is called directly; one that does not is served over a pipe in memory.
///
/// ```
/// use switchboard::server::Caller;
/// use switchboard::{Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let dial = InProcess::new(&demo::server()).with_caller(Caller::new("ada").with_scopes(["read"]));
/// let session = Client::new().connect(dial).await?;
/// assert_eq!(session.call_tool("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct InProcess {
    server: Arc<Server>,
    extensions: Extensions,
}

/// Equal if both reach the same server object with the same extension values, by identity.
impl PartialEq for InProcess {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.server, &other.server) && self.extensions.is_same(&other.extensions)
    }
}

impl InProcess {
    /// Creates a dialer for this server.
    pub fn new(server: &Arc<Server>) -> Self {
        Self { server: Arc::clone(server), extensions: Extensions::new() }
    }

    /// Sets the caller of all requests.
    #[must_use]
    pub fn with_caller(self, caller: Caller) -> Self {
        self.with_extension(caller)
    }

    /// Adds an extension to all requests; handlers get it from
    /// [`RequestContext::extension`](crate::server::RequestContext::extension).
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns a link over an in-memory pipe, with the server at its other end.
    fn piped(&self) -> Arc<dyn Link> {
        let (near, far) = pair();
        let (server, extensions) = (Arc::clone(&self.server), self.extensions.clone());
        // Ends by itself when the near end is dropped or closed.
        tokio::spawn(async move { server.serve_with(far, extensions).await });
        MuxLink::start(near, ConnectionLimits::default())
    }
}

impl Dial for InProcess {
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            Ok(match (step, previous) {
                (DialStep::Modern, _) if self.server.serves_modern() => Arc::new(DirectLink::new(self)),
                (DialStep::Legacy, Some(previous))
                    if !self.server.serves_modern() && previous.ended().is_none() =>
                {
                    previous
                }
                _ => self.piped(),
            })
        })
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InProcess").field(&self.server.info().name).finish()
    }
}

/// A link that calls a server directly.
#[derive(Debug)]
struct DirectLink {
    server: Arc<Server>,
    session: Arc<ServerSession>,
    close_signal: Arc<CloseSignal>,
    /// Shared with every request; `None` when empty.
    extensions: Option<Arc<Extensions>>,
}

/// Wakes the exchanges when the link is closed.
#[derive(Debug, Default)]
struct CloseSignal {
    state: Mutex<CloseSignalState>,
}

#[derive(Debug, Default)]
struct CloseSignalState {
    closed: bool,
    waiting: HashMap<u64, Waker>,
    next: u64,
}

impl DirectLink {
    fn new(to: &InProcess) -> Self {
        let extensions = (!to.extensions.is_empty()).then(|| Arc::new(to.extensions.clone()));
        let server = Arc::clone(&to.server);
        Self { server, session: Arc::default(), close_signal: Arc::default(), extensions }
    }

    fn request(&self, ask: &OutgoingRequest<'_>, notes: &Arc<NoteQueue>) -> Result<AnswerOutcome, LinkError> {
        if self.close_signal.state.lock().closed {
            return Err(LinkError::Closed);
        }
        let params = match Raw::parse(ask.params.to_owned()) {
            Ok(params) => params,
            Err(error) => return Ok(AnswerOutcome::Now(Err(RpcError::invalid_params(error.to_string())))),
        };
        let request = Request {
            id: ask.id.clone(),
            method: ask.method.to_owned().into(),
            params: Some(params),
            outline: Outline::UNKNOWN,
            version: Version::Two,
        };
        let class = self.server.classify(&request);
        Ok(self.server.answer(&self.session, request, class, Arc::clone(notes) as Arc<dyn ReplyChannel>))
    }

    fn exchange(&self, state: ExchangeState, notes: Arc<NoteQueue>) -> DirectExchange {
        let mut close_signal = self.close_signal.state.lock();
        close_signal.next += 1;
        DirectExchange { state, notes, close_signal: Arc::clone(&self.close_signal), key: close_signal.next }
    }

    /// Runs a request that nobody waits for.
    fn detach(&self, state: ExchangeState, notes: Arc<NoteQueue>) -> Exchange {
        if let (ExchangeState::Running(response), Ok(runtime)) =
            (state, tokio::runtime::Handle::try_current())
        {
            // Ends by itself: it is one request, with the bounds of its handler.
            runtime.spawn(response);
        }
        Exchange::Owned(Box::pin(self.exchange(ExchangeState::Over, notes)))
    }
}

impl Link for DirectLink {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        let notes = Arc::new(NoteQueue { extensions: self.extensions.clone(), ..NoteQueue::default() });
        let state = match self.request(&ask, &notes) {
            Ok(AnswerOutcome::Refused(error)) => ExchangeState::Done(Ok(Err(error))),
            Ok(AnswerOutcome::Now(outcome)) => ExchangeState::Done(Ok(outcome)),
            Ok(AnswerOutcome::Later(response)) => ExchangeState::Running(response),
            Err(error) => ExchangeState::Done(Err(error)),
        };
        if ask.kind == ExchangeKind::Detached {
            return self.detach(state, notes);
        }
        Exchange::Owned(Box::pin(self.exchange(state, notes)))
    }

    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError> {
        // A modern client sends requests only: dropping an exchange cancels it.
        let _ = post;
        if self.close_signal.state.lock().closed { Err(LinkError::Closed) } else { Ok(()) }
    }

    fn inbound(&self) -> Option<Inbound> {
        None
    }

    fn close(&self, _within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.close_signal.close();
        Box::pin(async { CloseOutcome::Left })
    }

    fn ended(&self) -> Option<LinkError> {
        self.close_signal.state.lock().closed.then_some(LinkError::Closed)
    }
}

impl CloseSignal {
    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }
}

impl Drop for DirectLink {
    fn drop(&mut self) {
        self.close_signal.close();
    }
}

/// The notifications of a handler while its request is in flight.
#[derive(Default)]
struct NoteQueue {
    state: Mutex<NoteQueueState>,
    extensions: Option<Arc<Extensions>>,
}

#[derive(Default)]
struct NoteQueueState {
    queue: VecDeque<InboundNotification>,
    waker: Option<Waker>,
}

impl ReplyChannel for NoteQueue {
    fn note(&self, method: &str, params: Option<&Raw>) {
        let mut state = self.state.lock();
        if state.queue.len() == MAX_NOTES {
            state.queue.pop_front();
        }
        state
            .queue
            .push_back(InboundNotification { method: method.to_owned().into(), params: params.cloned() });
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    fn ask(&self, _method: &str, _params: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.extensions.as_ref()?.get()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.extensions.as_ref()?.find(of)
    }
}

/// One exchange. Its request runs in the task that polls it.
struct DirectExchange {
    state: ExchangeState,
    notes: Arc<NoteQueue>,
    close_signal: Arc<CloseSignal>,
    /// The key of its waker in the close signal.
    key: u64,
}

impl Drop for DirectExchange {
    fn drop(&mut self) {
        self.close_signal.state.lock().waiting.remove(&self.key);
    }
}

enum ExchangeState {
    Running(ResponseFuture),
    Done(Result<Outcome, LinkError>),
    Over,
}

impl OwnedExchange for DirectExchange {
    fn poll_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        if let ExchangeState::Running(response) = &mut self.state
            && let Poll::Ready(outcome) = Pin::new(response).poll(cx)
        {
            self.state = ExchangeState::Done(Ok(outcome));
        }
        {
            let mut notes = self.notes.state.lock();
            if let Some(note) = notes.queue.pop_front() {
                return Poll::Ready(Ok(ExchangeEvent::Notification(note)));
            }
            notes.waker = Some(cx.waker().clone());
        }
        if let ExchangeState::Running(_) = self.state {
            let mut close_signal = self.close_signal.state.lock();
            if !close_signal.closed {
                close_signal.waiting.insert(self.key, cx.waker().clone());
                return Poll::Pending;
            }
            drop(close_signal);
            self.state = ExchangeState::Done(Err(LinkError::Closed));
        }
        match std::mem::replace(&mut self.state, ExchangeState::Over) {
            ExchangeState::Done(done) => Poll::Ready(done.map(ExchangeEvent::Done)),
            _ => Poll::Ready(Err(LinkError::Closed)),
        }
    }
}
