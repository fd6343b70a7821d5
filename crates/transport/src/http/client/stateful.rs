//! The legacy binding: a session that the server names, a stream for what it starts by itself, and streams that are
//! gone back to when they break.
//!
//! What nobody answers is sent by one task, in order. Hanging up is not cancelling here: a dropped exchange says so.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use switchboard_protocol::Notice;
use switchboard_protocol::jsonrpc::{self, Envelope, Message, Salvaged};
use switchboard_protocol::method::Initialized;
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::{
    Agreement, Ask, BoxFuture, CloseOutcome, Exchange, Inbound, InboundSender, Inward, Life, Link, LinkError,
    Note, Post, Upcall,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::http::client::flow::{Emit, Outcome, exchange, failed};
use crate::http::client::post::{Again, Answer, Brought, Events, Wire};
use crate::http::client::stateless::{document, is_for, skip_unless_answer};
use crate::http::header::{PROTOCOL_VERSION, SESSION_ID};
use crate::http::message::{note_text, request_text, response_text};

/// Notes that may wait to be taken, and messages that may wait to be sent.
const LANE: usize = 1024;

/// A link over a session.
pub(crate) struct Stateful {
    session: Arc<Session>,
    posts: mpsc::Sender<Outgoing>,
    inbound: Mutex<Option<Inbound>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A message that nobody answers.
struct Outgoing {
    body: Bytes,
    /// Whether it tells the server that the session is open.
    opens: bool,
}

impl Outgoing {
    fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), opens: false }
    }
}

/// What all exchanges of a session share.
pub(super) struct Session {
    pub(super) wire: Arc<Wire>,
    pub(super) state: Mutex<State>,
    pub(super) lane: InboundSender,
    /// Whether the session is open for requests: the handshake is over and told.
    pub(super) open: watch::Sender<Stage>,
    /// Held while a lost session is replaced.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// How often that was done: each session has a stream of its own for what the server starts.
    pub(super) renewals: watch::Sender<u64>,
    /// The renewal for which that stream was opened, or refused.
    pub(super) heard: watch::Sender<Option<u64>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) id: Option<HeaderValue>,
    pub(super) revision: Option<&'static str>,
    /// The parameters of the handshake, to open another session with.
    pub(super) initialize: Option<String>,
    pub(super) renewed: u64,
    pub(super) closed: bool,
    /// Why the server is given up, once it is.
    pub(super) lost: Option<LinkError>,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The handshake is under way.
    Opening,
    /// Both sides may speak.
    Open,
}

impl Stateful {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        let (lane, inbound) = Inbound::channel(LANE);
        let open = watch::Sender::new(Stage::Opening);
        let session = Arc::new(Session {
            wire,
            state: Mutex::default(),
            lane,
            open,
            renewing: tokio::sync::Mutex::new(()),
            renewals: watch::Sender::new(0),
            heard: watch::Sender::new(None),
        });
        let (posts, waiting) = mpsc::channel(LANE);
        let poster = tokio::spawn(post_all(Arc::clone(&session), waiting));
        Self { session, posts, inbound: Mutex::new(Some(inbound)), tasks: Mutex::new(vec![poster]) }
    }

    fn put(&self, outgoing: Outgoing) -> Result<(), LinkError> {
        if self.session.state.lock().closed {
            return Err(LinkError::Closed);
        }
        self.posts
            .try_send(outgoing)
            .map_err(|_| LinkError::Overloaded { what: "messages that wait to be sent" })
    }
}

impl Link for Stateful {
    fn open(&self, ask: Ask<'_>) -> Exchange {
        if self.session.state.lock().closed {
            return failed(LinkError::Closed);
        }
        let call = Call {
            id: ask.id.clone(),
            is_handshake: ask.method == "initialize",
            again: Again::of(ask.method),
            body: Bytes::from(request_text(&ask.id, ask.method, ask.params)),
        };
        if call.is_handshake {
            self.session.state.lock().initialize = Some(ask.params.to_owned());
        }
        if ask.life == Life::Detached {
            let posts = self.posts.clone();
            let _ = posts.try_send(Outgoing::new(call.body));
            return failed(LinkError::Closed);
        }
        let emit = Emit::default();
        let (session, heard) = (Arc::clone(&self.session), emit.clone());
        let driver = Box::pin(async move { session.drive(&call, &heard).await });
        let on_drop = (ask.life != Life::Handshake).then(|| {
            let (posts, id) = (self.posts.clone(), ask.id.clone());
            move || {
                let params = serde_json::json!({ "requestId": id, "reason": "the caller no longer waits" });
                let text = note_text("notifications/cancelled", Some(&params.to_string()));
                let _ = posts.try_send(Outgoing::new(text));
            }
        });
        exchange(driver, emit, on_drop)
    }

    fn post(&self, post: Post<'_>) -> Result<(), LinkError> {
        self.put(match post {
            Post::Note { method, params } => {
                let opens = method == Initialized::NAME;
                Outgoing { opens, ..Outgoing::new(note_text(method, params)) }
            }
            Post::Answer { id, outcome } => Outgoing::new(response_text(Some(id), outcome)),
        })
    }

    fn inbound(&self) -> Option<Inbound> {
        self.inbound.lock().take()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.session.state.lock().closed = true;
        self.session.lane.close();
        Box::pin(async move {
            self.tasks.lock().drain(..).for_each(|task| task.abort());
            let leaving = self.session.leave();
            let _ = tokio::time::timeout(within.min(self.session.wire.limits.leave), leaving).await;
            CloseOutcome::Left
        })
    }

    fn agreed(&self, agreement: Agreement) {
        self.session.state.lock().revision = Some(agreement.revision);
    }

    fn ended(&self) -> Option<LinkError> {
        let state = self.session.state.lock();
        if state.closed { Some(LinkError::Closed) } else { state.lost.clone() }
    }
}

impl Drop for Stateful {
    fn drop(&mut self) {
        self.session.state.lock().closed = true;
        self.session.lane.close();
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

/// One request.
pub(super) struct Call {
    pub(super) id: RequestId,
    pub(super) is_handshake: bool,
    pub(super) again: Again,
    pub(super) body: Bytes,
}

impl Session {
    /// The headers of every message once the handshake is over.
    pub(super) fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let state = self.state.lock();
        let mut headers = Vec::new();
        headers.extend(state.id.clone().map(|id| (SESSION_ID, id)));
        headers.extend(state.revision.map(|revision| (PROTOCOL_VERSION, HeaderValue::from_static(revision))));
        headers
    }

    pub(super) async fn drive(self: &Arc<Self>, call: &Call, emit: &Emit) -> Outcome {
        if call.is_handshake {
            let (headers, answer) = self.wire.post(call.body.clone(), &[], call.again).await?;
            self.state.lock().id = headers.get(SESSION_ID).cloned();
            return self.settle(call, answer, emit).await;
        }
        // The server may refuse what comes before it was told that the session is open.
        if *self.open.borrow() != Stage::Open {
            let _ = self.open.subscribe().wait_for(|stage| *stage == Stage::Open).await;
        }
        let renewed = self.state.lock().renewed;
        match self.wire.post(call.body.clone(), &self.headers(), call.again).await {
            Err(LinkError::Refused { status: 404, .. })
            | Ok((_, Answer::Error(StatusCode::NOT_FOUND, _)))
                if self.has_id() =>
            {
                self.renew(renewed).await?;
                let renewal = self.state.lock().renewed;
                self.wait_to_hear(renewal).await;
                if call.again == Again::Never {
                    return Err(LinkError::SessionExpired);
                }
                let (_, answer) = self.wire.post(call.body.clone(), &self.headers(), call.again).await?;
                self.settle(call, answer, emit).await
            }
            Err(gone @ LinkError::Refused { status: 410, .. }) if self.has_id() => {
                // Gone for good: this call fails for that reason, and the next finds another session.
                self.renew(renewed).await?;
                Err(gone)
            }
            Err(error) => Err(error),
            Ok((_, answer)) => self.settle(call, answer, emit).await,
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.state.lock().id.is_some()
    }

    pub(super) async fn settle(self: &Arc<Self>, call: &Call, answer: Answer, emit: &Emit) -> Outcome {
        match answer {
            Answer::Error(_, error) => Ok(Err(error)),
            Answer::Taken(status) => {
                Err(LinkError::Refused { status: status.as_u16(), text: "taken, but not answered".into() })
            }
            Answer::Document(bytes) => document(bytes, &call.id),
            Answer::Stream(events) => self.follow(call, *events, emit).await,
        }
    }

    /// Reads a stream until the answer to `call`, or its end. What concerns nobody here goes to the session.
    pub(super) async fn read(
        self: &Arc<Self>,
        events: &mut Events,
        call: Option<&Call>,
        emit: &Emit,
    ) -> Result<Option<Result<Raw, RpcError>>, LinkError> {
        while let Some(brought) = events.next().await? {
            match brought {
                Brought::Message(bytes) => match jsonrpc::parse(bytes) {
                    Ok(Message::Single(envelope)) => {
                        if let Some(outcome) = self.take(envelope, call, emit) {
                            return Ok(Some(outcome));
                        }
                    }
                    Ok(Message::Batch(elements)) => {
                        let taken =
                            elements.into_iter().flatten().filter_map(|one| self.take(one, call, emit));
                        if let Some(outcome) = taken.last() {
                            return Ok(Some(outcome));
                        }
                    }
                    Err(malformed) => {
                        let salvaged = malformed.salvaged.clone();
                        skip(&salvaged, call, LinkError::Malformed(malformed))?;
                    }
                },
                Brought::Lost(salvaged, error) => skip(&salvaged, call, error)?,
                Brought::Named(name, _) => {
                    tracing::debug!(event = name, "skipped an event of an unknown type");
                }
            }
        }
        Ok(None)
    }

    /// Takes one message of a stream; gives the answer to `call`.
    fn take(&self, envelope: Envelope, call: Option<&Call>, emit: &Emit) -> Option<Result<Raw, RpcError>> {
        match envelope {
            Envelope::Response(answer) => {
                let call = call?;
                is_for(answer.id.as_ref(), &call.id).then_some(answer.outcome)
            }
            Envelope::Notification(note) => {
                let note = Note { method: note.method, params: note.params };
                // Progress, and what an extension says, belong to the call whose stream they come on; everything else to
                // the session.
                let is_of_call = &*note.method == "notifications/progress"
                    || switchboard_protocol::surface::find(&note.method).next().is_none();
                if call.is_some() && is_of_call {
                    emit.note(note);
                } else {
                    self.lane.send(Inward::Note(note));
                }
                None
            }
            Envelope::Request(request) => {
                let upcall = Upcall { id: request.id, method: request.method, params: request.params };
                self.lane.send(Inward::Upcall(upcall));
                None
            }
        }
    }

    /// Ends the session on the server; it may not have a way to.
    async fn leave(&self) {
        if !self.has_id() {
            return;
        }
        let request = self.wire.request(Method::DELETE, &self.headers());
        let _ = self.wire.send(request).await;
    }
}

/// Logs a damaged event, unless it was the answer to `call`.
fn skip(salvaged: &Salvaged, call: Option<&Call>, error: LinkError) -> Result<(), LinkError> {
    match call {
        Some(call) => skip_unless_answer(salvaged, &call.id, error),
        None => {
            tracing::warn!(%error, "skipped a damaged event");
            Ok(())
        }
    }
}

/// Sends what nobody answers, in order; the first word that the session is open opens it here too.
async fn post_all(session: Arc<Session>, mut waiting: mpsc::Receiver<Outgoing>) {
    let mut listening: Option<AbortOnDrop> = None;
    while let Some(Outgoing { body, opens }) = waiting.recv().await {
        let opens = opens && listening.is_none();
        let sent = session.wire.post(body, &session.headers(), Again::Never).await;
        match sent {
            Ok((_, Answer::Stream(mut events))) => {
                // An answer to an answer: some servers speak on that stream.
                let session = Arc::clone(&session);
                tokio::spawn(async move { session.read(&mut events, None, &Emit::default()).await });
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a message could not be sent"),
        }
        if opens {
            listening = Some(AbortOnDrop(tokio::spawn(Arc::clone(&session).listen())));
            session.wait_to_hear(0).await;
            session.open.send_replace(Stage::Open);
        }
    }
}

/// Stops a task when it is dropped.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
