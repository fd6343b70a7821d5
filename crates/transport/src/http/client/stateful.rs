//! The legacy binding: a session that the server names, a stream for what it starts by itself, and streams that are
//! gone back to when they break.
//!
//! What nobody answers is sent by one task, in order. Hanging up is not cancelling here: a dropped exchange says so.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use switchboard_http::Timeouts;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::{
    Agreement, Ask, BoxFuture, Ended, Exchange, Inbound, InboundSender, Inward, Life, Link, LinkError, Note,
    Post, Upcall,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::http::client::flow::{Emit, OnDrop, Outcome, exchange};
use crate::http::client::post::{Again, Answer, Brought, EVENTS, Events, Wire};
use crate::http::client::request_text;
use crate::http::client::stateless::{document, is_for};
use crate::http::header::{LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID};

/// Notes that may wait to be taken, and messages that may wait to be sent.
const LANE: usize = 1024;
/// How often a broken stream is gone back to without anything new.
const RESUMES: u32 = 5;
/// When to come back if the server does not say.
const COME_BACK: Duration = Duration::from_secs(1);
/// How long the first requests wait for the stream of what the server starts.
const FIRST_STREAM: Duration = Duration::from_millis(500);

/// A link over a session.
pub(crate) struct Stateful {
    session: Arc<Session>,
    posts: mpsc::Sender<Bytes>,
    inbound: Mutex<Option<Inbound>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// What all exchanges of a session share.
struct Session {
    wire: Arc<Wire>,
    state: Mutex<State>,
    lane: InboundSender,
    /// Whether the session is open for requests: the handshake is over and told.
    open: watch::Sender<Stage>,
    /// Held while a lost session is replaced.
    renewing: tokio::sync::Mutex<()>,
    /// How often that was done: each session has a stream of its own for what the server starts.
    renewals: watch::Sender<u64>,
    /// The renewal for which that stream was opened, or refused.
    heard: watch::Sender<Option<u64>>,
}

#[derive(Default)]
struct State {
    id: Option<HeaderValue>,
    revision: Option<&'static str>,
    /// The parameters of the handshake, to open another session with.
    initialize: Option<String>,
    renewed: u64,
    closed: bool,
}

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
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

    fn put(&self, text: String) -> Result<(), LinkError> {
        if self.session.state.lock().closed {
            return Err(LinkError::Closed);
        }
        self.posts
            .try_send(text.into())
            .map_err(|_| LinkError::Overloaded { what: "messages that wait to be sent" })
    }
}

impl Link for Stateful {
    fn open(&self, ask: Ask<'_>) -> Exchange {
        let emit = Emit::default();
        if self.session.state.lock().closed {
            return exchange(Box::pin(async { Err(LinkError::Closed) }), emit, None);
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
        let (session, heard) = (Arc::clone(&self.session), emit.clone());
        if ask.life == Life::Detached {
            let posts = self.posts.clone();
            let _ = posts.try_send(call.body);
            return exchange(Box::pin(async { Err(LinkError::Closed) }), emit, None);
        }
        let driver = Box::pin(async move { session.drive(&call, &heard).await });
        let on_drop = (ask.life != Life::Handshake).then(|| {
            let (posts, id) = (self.posts.clone(), ask.id.clone());
            Box::new(move || {
                let params = serde_json::json!({ "requestId": id, "reason": "the caller no longer waits" });
                let _ =
                    posts.try_send(note_text("notifications/cancelled", Some(&params.to_string())).into());
            }) as OnDrop
        });
        exchange(driver, emit, on_drop)
    }

    fn post(&self, post: Post<'_>) -> Result<(), LinkError> {
        self.put(match post {
            Post::Note { method, params } => note_text(method, params),
            Post::Answer { id, outcome } => answer_text(id, outcome),
        })
    }

    fn inbound(&self) -> Option<Inbound> {
        self.inbound.lock().take()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, Ended> {
        self.session.state.lock().closed = true;
        self.session.lane.close();
        Box::pin(async move {
            self.tasks.lock().drain(..).for_each(|task| task.abort());
            let leaving = self.session.leave();
            let _ = tokio::time::timeout(within.min(self.session.wire.limits.leave), leaving).await;
            Ended::Left
        })
    }

    fn agreed(&self, agreement: Agreement) {
        self.session.state.lock().revision = Some(agreement.revision);
    }

    fn ended(&self) -> Option<LinkError> {
        self.session.state.lock().closed.then_some(LinkError::Closed)
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
struct Call {
    id: RequestId,
    is_handshake: bool,
    again: Again,
    body: Bytes,
}

impl Session {
    /// The headers of every message once the handshake is over.
    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let state = self.state.lock();
        let mut headers = Vec::new();
        headers.extend(state.id.clone().map(|id| (SESSION_ID, id)));
        headers.extend(state.revision.map(|revision| (PROTOCOL_VERSION, HeaderValue::from_static(revision))));
        headers
    }

    async fn drive(self: &Arc<Self>, call: &Call, emit: &Emit) -> Outcome {
        if call.is_handshake {
            let (headers, answer) = self.wire.post(call.body.clone(), &[], call.again).await?;
            self.state.lock().id = headers.get(SESSION_ID).cloned();
            return self.settle(call, answer, emit).await;
        }
        // The server may refuse what comes before it was told that the session is open.
        let _ = self.open.subscribe().wait_for(|stage| *stage == Stage::Open).await;
        let renewed = self.state.lock().renewed;
        match self.wire.post(call.body.clone(), &self.headers(), call.again).await {
            Err(LinkError::Refused { status: 404, .. })
            | Ok((_, Answer::Error(StatusCode::NOT_FOUND, _)))
                if self.has_id() =>
            {
                self.renew(renewed).await?;
                if call.again == Again::Never {
                    return Err(LinkError::SessionExpired);
                }
                let (_, answer) = self.wire.post(call.body.clone(), &self.headers(), call.again).await?;
                self.settle(call, answer, emit).await
            }
            Err(error) => Err(error),
            Ok((_, answer)) => self.settle(call, answer, emit).await,
        }
    }

    fn has_id(&self) -> bool {
        self.state.lock().id.is_some()
    }

    async fn settle(self: &Arc<Self>, call: &Call, answer: Answer, emit: &Emit) -> Outcome {
        match answer {
            Answer::Error(_, error) => Ok(Err(error)),
            Answer::Taken(status) => {
                Err(LinkError::Refused { status: status.as_u16(), text: "taken, but not answered".into() })
            }
            Answer::Document(bytes) => document(bytes, &call.id),
            Answer::Stream(events) => self.follow(call, *events, emit).await,
        }
    }

    /// Reads the stream of a request to its answer, going back to it when it breaks.
    async fn follow(self: &Arc<Self>, call: &Call, mut events: Events, emit: &Emit) -> Outcome {
        let mut fruitless = 0;
        loop {
            let before = events.last_id();
            let broken = match self.read(&mut events, Some(call), emit).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => LinkError::lost("the stream ended without an answer"),
                Err(error @ (LinkError::TooLarge { .. } | LinkError::Malformed(_))) => return Err(error),
                Err(error) => error,
            };
            // Without an id there is no way back.
            let Some(last) = events.last_id() else { return Err(broken) };
            fruitless = if Some(&last) == before.as_ref() { fruitless + 1 } else { 1 };
            if fruitless > RESUMES {
                return Err(broken);
            }
            let mut wait = events.retry().unwrap_or(COME_BACK);
            events = loop {
                tokio::time::sleep(wait).await;
                match self.get(Some(&last)).await {
                    Ok(events) => break events,
                    Err(error @ (LinkError::Challenged(_) | LinkError::Refused { .. })) => return Err(error),
                    Err(error) if fruitless == RESUMES => return Err(error),
                    Err(_) => {
                        fruitless += 1;
                        wait = wait.saturating_mul(2).min(Duration::from_secs(30));
                    }
                }
            };
        }
    }

    /// Reads a stream until the answer to `call`, or its end. What concerns nobody here goes to the session.
    async fn read(
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
                    Err(malformed) if call.is_some() => return Err(LinkError::Malformed(malformed)),
                    Err(malformed) => tracing::warn!(%malformed, "the server sent something unreadable"),
                },
                Brought::Lost(id, error)
                    if call.is_some_and(|call| id.as_ref().is_none_or(|id| *id == call.id)) =>
                {
                    return Err(error);
                }
                Brought::Lost(..) | Brought::Named(..) => {}
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
                // Progress belongs to the call whose stream it comes on; everything else to the session.
                if call.is_some() && &*note.method == "notifications/progress" {
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

    /// Opens a stream: the one that belongs to no request, or the rest of one that broke.
    async fn get(&self, last: Option<&str>) -> Result<Events, LinkError> {
        let mut request = self.wire.request(Method::GET, &self.headers());
        request.headers.insert(ACCEPT, EVENTS);
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            request.headers.insert(LAST_EVENT_ID, last);
        }
        request.timeouts =
            Timeouts::default().with_headers(Some(self.wire.limits.stream_start)).with_idle(None);
        let response = self.wire.send(request).await?;
        let is_stream = response.headers.get(http::header::CONTENT_TYPE).is_some_and(|media| {
            media.to_str().unwrap_or_default().trim().to_ascii_lowercase().starts_with("text/event-stream")
        });
        if response.status == StatusCode::OK && is_stream {
            return Ok(Events::new(response.body, self.wire.limits.event_bytes));
        }
        match crate::http::client::failure::refusal(response).await {
            Ok(error) => Err(LinkError::Refused { status: 400, text: error.message }),
            Err(error) => Err(error),
        }
    }

    /// Hears what the server starts by itself, for as long as it lets us; anew in another session.
    async fn listen(self: Arc<Self>) {
        let mut renewals = self.renewals.subscribe();
        let mut last: Option<String> = None;
        let mut failures = 0;
        loop {
            let renewal = *renewals.borrow_and_update();
            let opened = self.get(last.as_deref()).await;
            self.heard.send_replace(Some(renewal));
            let wait = match opened {
                Ok(mut events) => {
                    failures = 0;
                    let quiet = Emit::default();
                    let reading = self.read(&mut events, None, &quiet);
                    tokio::select! {
                        _ = reading => {}
                        _ = renewals.changed() => {
                            last = None;
                            continue;
                        }
                    }
                    last = events.last_id().or(last);
                    Some(events.retry().unwrap_or(COME_BACK))
                }
                // Many servers have no such stream, and say so with 405 or 404: that is no trouble.
                Err(LinkError::Refused { .. } | LinkError::Challenged(_) | LinkError::SessionExpired) => None,
                Err(_) if failures == RESUMES => None,
                Err(_) => {
                    failures += 1;
                    Some(COME_BACK * 2u32.saturating_pow(failures))
                }
            };
            if self.state.lock().closed {
                return;
            }
            let coming_back = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = coming_back => {}
                _ = renewals.changed() => (last, failures) = (None, 0),
            }
        }
    }

    /// Waits until the stream of what the server starts is there, but not for long: many servers have none.
    async fn wait_to_hear(&self, renewal: u64) {
        let mut heard = self.heard.subscribe();
        let _ = tokio::time::timeout(FIRST_STREAM, heard.wait_for(|heard| *heard >= Some(renewal))).await;
    }

    /// Opens another session after the server forgot ours. What was subscribed to or listed is no longer known.
    async fn renew(self: &Arc<Self>, seen: u64) -> Result<(), LinkError> {
        let _renewing = self.renewing.lock().await;
        let params = {
            let mut state = self.state.lock();
            if state.renewed != seen {
                return Ok(()); // another call has done it
            }
            state.id = None;
            state.initialize.clone().ok_or(LinkError::SessionExpired)?
        };
        let id = RequestId::from(&*format!("renew-{seen}"));
        let body = Bytes::from(request_text(&id, "initialize", &params));
        let (headers, answer) = self.wire.post(body, &[], Again::Reads).await?;
        let call = Call { id, is_handshake: true, again: Again::Reads, body: Bytes::new() };
        Box::pin(self.settle(&call, answer, &Emit::default()))
            .await?
            .map_err(|_| LinkError::SessionExpired)?;
        let renewal = {
            let mut state = self.state.lock();
            state.id = headers.get(SESSION_ID).cloned();
            state.renewed += 1;
            state.renewed
        };
        let told = note_text("notifications/initialized", None);
        self.wire.post(told.into(), &self.headers(), Again::Never).await?;
        self.renewals.send_replace(renewal);
        self.wait_to_hear(renewal).await;
        for changed in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{changed}/list_changed").into();
            self.lane.send(Inward::Note(Note { method, params: None }));
        }
        Ok(())
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

/// Sends what nobody answers, in order; the first word that the session is open opens it here too.
async fn post_all(session: Arc<Session>, mut waiting: mpsc::Receiver<Bytes>) {
    let mut listening: Option<AbortOnDrop> = None;
    while let Some(body) = waiting.recv().await {
        let opens =
            listening.is_none() && memchr::memmem::find(&body, b"\"notifications/initialized\"").is_some();
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

fn note_text(method: &str, params: Option<&str>) -> String {
    let method = serde_json::Value::from(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

fn answer_text(id: &RequestId, outcome: Result<&Raw, &RpcError>) -> String {
    let id = serde_json::json!(id);
    match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.as_str()),
        Err(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, serde_json::json!(error)),
    }
}
