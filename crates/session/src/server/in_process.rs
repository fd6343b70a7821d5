//! In one process: a call runs the handler in the caller's own task. No queue, no task, no bytes copied.

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
    Ask, BoxFuture, CloseOutcome, Dial, Event, Exchange, Flow, Inbound, Life, Link, LinkError, Note, Post,
    Rung, pair,
};
use crate::mux::{ConnectionLimits, MuxLink};
use crate::request::{Caller, Extensions, ReplyChannel};
use crate::server::{Answered, Answering, Outcome, Server, ServerSession};

/// Notes that may wait for whoever holds an exchange; the oldest gives way.
const MOST_NOTES: usize = 1024;

/// Reaches a server in this process.
///
/// A server that speaks a modern revision is called directly; one that does not is served over a pipe in memory.
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
    /// Reaches this server.
    pub fn new(server: &Arc<Server>) -> Self {
        Self { server: Arc::clone(server), extensions: Extensions::new() }
    }

    /// Calls on behalf of this caller.
    #[must_use]
    pub fn with_caller(self, caller: Caller) -> Self {
        self.with_extension(caller)
    }

    /// What handlers get from [`RequestContext::extension`](crate::server::RequestContext::extension) with every request.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// A link over a pipe in memory, with the server at its other end.
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
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            Ok(match (rung, previous) {
                (Rung::Modern, _) if self.server.stands_alone() => Arc::new(Direct::new(self)),
                (Rung::Legacy, Some(previous))
                    if !self.server.stands_alone() && previous.ended().is_none() =>
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
struct Direct {
    server: Arc<Server>,
    session: Arc<ServerSession>,
    gate: Arc<Gate>,
    /// Shared with every request; none where there is nothing to share.
    extensions: Option<Arc<Extensions>>,
}

/// Closed when the link is.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
}

#[derive(Debug, Default)]
struct GateState {
    closed: bool,
    waiting: HashMap<u64, Waker>,
    next: u64,
}

impl Direct {
    fn new(to: &InProcess) -> Self {
        let extensions = (!to.extensions.is_empty()).then(|| Arc::new(to.extensions.clone()));
        let server = Arc::clone(&to.server);
        Self { server, session: Arc::default(), gate: Arc::default(), extensions }
    }

    fn request(&self, ask: &Ask<'_>, notes: &Arc<Notes>) -> Result<Answered, LinkError> {
        if self.gate.state.lock().closed {
            return Err(LinkError::Closed);
        }
        let params = match Raw::parse(ask.params.to_owned()) {
            Ok(params) => params,
            Err(error) => return Ok(Answered::Now(Err(RpcError::invalid_params(error.to_string())))),
        };
        let request = Request {
            id: ask.id.clone(),
            method: ask.method.to_owned().into(),
            params: Some(params),
            outline: Outline::UNKNOWN,
            version: Version::Two,
        };
        let says = self.server.look(&request);
        Ok(self.server.answer(&self.session, request, says, Arc::clone(notes) as Arc<dyn ReplyChannel>))
    }
}

impl Direct {
    fn exchange(&self, stage: Stage, notes: Arc<Notes>) -> DirectExchange {
        let mut gate = self.gate.state.lock();
        gate.next += 1;
        DirectExchange { stage, notes, gate: Arc::clone(&self.gate), key: gate.next }
    }

    /// Runs a request that nobody waits for.
    fn detach(&self, stage: Stage, notes: Arc<Notes>) -> Exchange {
        if let (Stage::Running(answering), Ok(runtime)) = (stage, tokio::runtime::Handle::try_current()) {
            // Ends by itself: it is one request, with the bounds of its handler.
            runtime.spawn(answering);
        }
        Exchange::Own(Box::pin(self.exchange(Stage::Over, notes)))
    }
}

impl Link for Direct {
    fn open(&self, ask: Ask<'_>) -> Exchange {
        let notes = Arc::new(Notes { extensions: self.extensions.clone(), ..Notes::default() });
        let stage = match self.request(&ask, &notes) {
            Ok(Answered::Refused(error)) => Stage::Done(Ok(Err(error))),
            Ok(Answered::Now(outcome)) => Stage::Done(Ok(outcome)),
            Ok(Answered::Later(answering)) => Stage::Running(answering),
            Err(error) => Stage::Done(Err(error)),
        };
        if ask.life == Life::Detached {
            return self.detach(stage, notes);
        }
        Exchange::Own(Box::pin(self.exchange(stage, notes)))
    }

    fn post(&self, post: Post<'_>) -> Result<(), LinkError> {
        // A modern client has nothing to say that is not a request: dropping an exchange cancels it.
        let _ = post;
        if self.gate.state.lock().closed { Err(LinkError::Closed) } else { Ok(()) }
    }

    fn inbound(&self) -> Option<Inbound> {
        None
    }

    fn close(&self, _within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.gate.close();
        Box::pin(async { CloseOutcome::Left })
    }

    fn ended(&self) -> Option<LinkError> {
        self.gate.state.lock().closed.then_some(LinkError::Closed)
    }
}

impl Gate {
    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.gate.close();
    }
}

/// What a handler says while its request is under way.
#[derive(Default)]
struct Notes {
    state: Mutex<NotesState>,
    extensions: Option<Arc<Extensions>>,
}

#[derive(Default)]
struct NotesState {
    queue: VecDeque<Note>,
    waker: Option<Waker>,
}

impl ReplyChannel for Notes {
    fn note(&self, method: &str, params: Option<&Raw>) {
        let mut state = self.state.lock();
        if state.queue.len() == MOST_NOTES {
            state.queue.pop_front();
        }
        state.queue.push_back(Note { method: method.to_owned().into(), params: params.cloned() });
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

/// One exchange, running in the task of whoever polls it.
struct DirectExchange {
    stage: Stage,
    notes: Arc<Notes>,
    gate: Arc<Gate>,
    /// Its place among those who wait at the gate.
    key: u64,
}

impl Drop for DirectExchange {
    fn drop(&mut self) {
        self.gate.state.lock().waiting.remove(&self.key);
    }
}

enum Stage {
    Running(Answering),
    Done(Result<Outcome, LinkError>),
    Over,
}

impl Flow for DirectExchange {
    fn poll_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        if let Stage::Running(answering) = &mut self.stage
            && let Poll::Ready(outcome) = Pin::new(answering).poll(cx)
        {
            self.stage = Stage::Done(Ok(outcome));
        }
        {
            let mut notes = self.notes.state.lock();
            if let Some(note) = notes.queue.pop_front() {
                return Poll::Ready(Ok(Event::Note(note)));
            }
            notes.waker = Some(cx.waker().clone());
        }
        if let Stage::Running(_) = self.stage {
            let mut gate = self.gate.state.lock();
            if !gate.closed {
                gate.waiting.insert(self.key, cx.waker().clone());
                return Poll::Pending;
            }
            drop(gate);
            self.stage = Stage::Done(Err(LinkError::Closed));
        }
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Done(done) => Poll::Ready(done.map(Event::Done)),
            _ => Poll::Ready(Err(LinkError::Closed)),
        }
    }
}
