//! The legacy binding: a session whose id the server assigns, a listening stream, and resumable streams.
//!
//! Notifications and responses are posted by one task, in order. Closing a connection does not cancel a request here, so a
//! dropped exchange sends a cancellation.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use switchboard_protocol::NotificationMethod;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::method::Initialized;
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::{
    Agreement, BoxFuture, CloseOutcome, Exchange, ExchangeKind, Inbound, InboundMessage, InboundNotification,
    InboundSender, Link, LinkError, OneWayMessage, OutgoingRequest, Upcall,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::http::client::exchange::{NoteSender, Outcome, exchange, failed_exchange};
use crate::http::client::post::{EventStream, HttpSender, PostReply, RetryPolicy, StreamEvent};
use crate::http::client::stateless::{answers_request, parse_document, skip_unless_answer};
use crate::http::header::{PROTOCOL_VERSION, SESSION_ID};
use crate::http::message::{note_text, request_text, response_text};

/// Capacity of the inbound queue and of the queue of outgoing messages.
const QUEUE_CAPACITY: usize = 1024;

/// A link with a session.
pub(crate) struct StatefulLink {
    session: Arc<Session>,
    outgoing: mpsc::Sender<OutgoingMessage>,
    inbound: Mutex<Option<Inbound>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A notification or response to send.
struct OutgoingMessage {
    body: Bytes,
    /// Whether it is `notifications/initialized`.
    opens_session: bool,
}

impl OutgoingMessage {
    fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), opens_session: false }
    }
}

/// The state that all exchanges of a session share.
pub(super) struct Session {
    pub(super) sender: Arc<HttpSender>,
    pub(super) state: Mutex<HttpSessionState>,
    pub(super) inbound_sender: InboundSender,
    /// Whether requests may be sent: `notifications/initialized` was posted.
    pub(super) open: watch::Sender<HandshakeStage>,
    /// Held while a dropped session is renewed.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// The number of renewals; each session has its own listening stream.
    pub(super) renewals: watch::Sender<u64>,
    /// The renewal whose listening stream was opened or refused.
    pub(super) listened: watch::Sender<Option<u64>>,
}

#[derive(Default)]
pub(super) struct HttpSessionState {
    pub(super) id: Option<HeaderValue>,
    pub(super) revision: Option<&'static str>,
    /// The parameters of the handshake, for a renewal.
    pub(super) initialize: Option<String>,
    pub(super) renewed: u64,
    pub(super) closed: bool,
    /// Why the link is lost.
    pub(super) lost: Option<LinkError>,
}

/// The stage of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HandshakeStage {
    /// In progress.
    Opening,
    /// Complete.
    Open,
}

impl StatefulLink {
    pub(crate) fn new(sender: Arc<HttpSender>) -> Self {
        let (inbound_sender, inbound) = Inbound::channel(QUEUE_CAPACITY);
        let open = watch::Sender::new(HandshakeStage::Opening);
        let session = Arc::new(Session {
            sender,
            state: Mutex::default(),
            inbound_sender,
            open,
            renewing: tokio::sync::Mutex::new(()),
            renewals: watch::Sender::new(0),
            listened: watch::Sender::new(None),
        });
        let (outgoing, waiting) = mpsc::channel(QUEUE_CAPACITY);
        let poster = tokio::spawn(post_queued(Arc::clone(&session), waiting));
        Self { session, outgoing, inbound: Mutex::new(Some(inbound)), tasks: Mutex::new(vec![poster]) }
    }

    fn enqueue(&self, outgoing: OutgoingMessage) -> Result<(), LinkError> {
        if self.session.state.lock().closed {
            return Err(LinkError::Closed);
        }
        self.outgoing
            .try_send(outgoing)
            .map_err(|_| LinkError::Overloaded { what: "messages that wait to be sent" })
    }
}

impl Link for StatefulLink {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        if self.session.state.lock().closed {
            return failed_exchange(LinkError::Closed);
        }
        let call = PendingCall {
            id: ask.id.clone(),
            is_handshake: ask.method == "initialize",
            retry_policy: RetryPolicy::of(ask.method),
            body: Bytes::from(request_text(&ask.id, ask.method, ask.params)),
        };
        if call.is_handshake {
            self.session.state.lock().initialize = Some(ask.params.to_owned());
        }
        if ask.kind == ExchangeKind::Detached {
            let outgoing = self.outgoing.clone();
            let _ = outgoing.try_send(OutgoingMessage::new(call.body));
            return failed_exchange(LinkError::Closed);
        }
        let notes = NoteSender::default();
        let (session, listened) = (Arc::clone(&self.session), notes.clone());
        let driver = Box::pin(async move { session.drive(&call, &listened).await });
        let on_drop = (ask.kind != ExchangeKind::Handshake).then(|| {
            let (outgoing, id) = (self.outgoing.clone(), ask.id.clone());
            move || {
                let params = serde_json::json!({ "requestId": id, "reason": "the caller no longer waits" });
                let text = note_text("notifications/cancelled", Some(&params.to_string()));
                let _ = outgoing.try_send(OutgoingMessage::new(text));
            }
        });
        exchange(driver, notes, on_drop)
    }

    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError> {
        self.enqueue(match post {
            OneWayMessage::Notification { method, params } => {
                let opens_session = method == Initialized::NAME;
                OutgoingMessage { opens_session, ..OutgoingMessage::new(note_text(method, params)) }
            }
            OneWayMessage::Response { id, outcome } => OutgoingMessage::new(response_text(Some(id), outcome)),
        })
    }

    fn inbound(&self) -> Option<Inbound> {
        self.inbound.lock().take()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.session.state.lock().closed = true;
        self.session.inbound_sender.close();
        Box::pin(async move {
            self.tasks.lock().drain(..).for_each(|task| task.abort());
            let leaving = self.session.delete_session();
            let _ = tokio::time::timeout(within.min(self.session.sender.limits.session_end), leaving).await;
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

impl Drop for StatefulLink {
    fn drop(&mut self) {
        self.session.state.lock().closed = true;
        self.session.inbound_sender.close();
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

/// A request in progress.
pub(super) struct PendingCall {
    pub(super) id: RequestId,
    pub(super) is_handshake: bool,
    pub(super) retry_policy: RetryPolicy,
    pub(super) body: Bytes,
}

impl Session {
    /// Returns the session and version headers, as far as they are known.
    pub(super) fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let state = self.state.lock();
        let mut headers = Vec::new();
        headers.extend(state.id.clone().map(|id| (SESSION_ID, id)));
        headers.extend(state.revision.map(|revision| (PROTOCOL_VERSION, HeaderValue::from_static(revision))));
        headers
    }

    pub(super) async fn drive(self: &Arc<Self>, call: &PendingCall, notes: &NoteSender) -> Outcome {
        if call.is_handshake {
            let (headers, answer) = self.sender.post(call.body.clone(), &[], call.retry_policy).await?;
            self.state.lock().id = headers.get(SESSION_ID).cloned();
            return self.read_reply(call, answer, notes).await;
        }
        // Servers may reject requests that arrive before `notifications/initialized`.
        if *self.open.borrow() != HandshakeStage::Open {
            let _ = self.open.subscribe().wait_for(|stage| *stage == HandshakeStage::Open).await;
        }
        let renewed = self.state.lock().renewed;
        match self.sender.post(call.body.clone(), &self.headers(), call.retry_policy).await {
            Err(LinkError::Refused { status: 404, .. })
            | Ok((_, PostReply::Error(StatusCode::NOT_FOUND, _)))
                if self.has_id() =>
            {
                self.renew(renewed).await?;
                let renewal = self.state.lock().renewed;
                self.wait_for_listen_stream(renewal).await;
                if call.retry_policy == RetryPolicy::Never {
                    return Err(LinkError::SessionExpired);
                }
                let (_, answer) =
                    self.sender.post(call.body.clone(), &self.headers(), call.retry_policy).await?;
                self.read_reply(call, answer, notes).await
            }
            Err(gone @ LinkError::Refused { status: 410, .. }) if self.has_id() => {
                // This call fails with that error; the next one finds a new session.
                self.renew(renewed).await?;
                Err(gone)
            }
            Err(error) => Err(error),
            Ok((_, answer)) => self.read_reply(call, answer, notes).await,
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.state.lock().id.is_some()
    }

    pub(super) async fn read_reply(
        self: &Arc<Self>,
        call: &PendingCall,
        answer: PostReply,
        notes: &NoteSender,
    ) -> Outcome {
        match answer {
            PostReply::Error(_, error) => Ok(Err(error)),
            PostReply::Accepted(status) => {
                Err(LinkError::Refused { status: status.as_u16(), text: "taken, but not answered".into() })
            }
            PostReply::Document(bytes) => parse_document(bytes, &call.id),
            PostReply::Stream(events) => self.follow(call, *events, notes).await,
        }
    }

    /// Reads a stream up to the response to `call`, or its end. Other messages go to the session.
    pub(super) async fn read(
        self: &Arc<Self>,
        events: &mut EventStream,
        call: Option<&PendingCall>,
        notes: &NoteSender,
    ) -> Result<Option<Result<Raw, RpcError>>, LinkError> {
        let expected = call.map(|call| &call.id);
        while let Some(event) = events.next().await? {
            match event {
                StreamEvent::Message(bytes) => match jsonrpc::parse(bytes) {
                    Ok(Message::Single(envelope)) => {
                        if let Some(outcome) = self.dispatch(envelope, call, notes) {
                            return Ok(Some(outcome));
                        }
                    }
                    Ok(Message::Batch(elements)) => {
                        let outcomes =
                            elements.into_iter().flatten().filter_map(|one| self.dispatch(one, call, notes));
                        if let Some(outcome) = outcomes.last() {
                            return Ok(Some(outcome));
                        }
                    }
                    Err(malformed) => {
                        let recovered = malformed.recovered.clone();
                        skip_unless_answer(&recovered, expected, LinkError::Malformed(malformed))?;
                    }
                },
                StreamEvent::Lost(recovered, error) => skip_unless_answer(&recovered, expected, error)?,
                StreamEvent::Other(name, _) => {
                    tracing::debug!(event = name, "skipped an event of an unknown type");
                }
            }
        }
        Ok(None)
    }

    /// Dispatches one message of a stream; returns the response to `call`.
    fn dispatch(
        &self,
        envelope: Envelope,
        call: Option<&PendingCall>,
        notes: &NoteSender,
    ) -> Option<Result<Raw, RpcError>> {
        match envelope {
            Envelope::Response(answer) => {
                let call = call?;
                answers_request(answer.id.as_ref(), &call.id).then_some(answer.outcome)
            }
            Envelope::Notification(note) => {
                let note = InboundNotification { method: note.method, params: note.params };
                // Progress and notifications of extensions belong to the call whose stream they come on; all others to
                // the session. The call observes its log messages.
                let is_of_call = &*note.method == "notifications/progress"
                    || switchboard_protocol::surface::find(&note.method).next().is_none();
                if call.is_some() && is_of_call {
                    notes.note(note);
                } else {
                    if call.is_some() && &*note.method == "notifications/message" {
                        notes.observe(note.clone());
                    }
                    self.inbound_sender.send(InboundMessage::Notification(note));
                }
                None
            }
            Envelope::Request(request) => {
                let upcall = Upcall { id: request.id, method: request.method, params: request.params };
                // A question on the stream of a call belongs to that call.
                if call.is_some_and(|call| !call.is_handshake) {
                    notes.upcall(upcall);
                } else {
                    self.inbound_sender.send(InboundMessage::Upcall(upcall));
                }
                None
            }
        }
    }

    /// Ends the session on the server, as far as that supports it.
    async fn delete_session(&self) {
        if !self.has_id() {
            return;
        }
        let request = self.sender.request(Method::DELETE, &self.headers());
        let _ = self.sender.send(request).await;
    }
}

/// Posts queued messages in order. After the first `notifications/initialized` it opens the listening stream and admits
/// requests.
async fn post_queued(session: Arc<Session>, mut waiting: mpsc::Receiver<OutgoingMessage>) {
    let mut listening: Option<AbortOnDrop> = None;
    while let Some(OutgoingMessage { body, opens_session }) = waiting.recv().await {
        let opens_session = opens_session && listening.is_none();
        let sent = session.sender.post(body, &session.headers(), RetryPolicy::Never).await;
        match sent {
            Ok((_, PostReply::Stream(mut events))) => {
                // Some servers send messages in reply to a response.
                let session = Arc::clone(&session);
                tokio::spawn(async move { session.read(&mut events, None, &NoteSender::default()).await });
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "a message could not be sent"),
        }
        if opens_session {
            listening = Some(AbortOnDrop(tokio::spawn(Arc::clone(&session).listen())));
            session.wait_for_listen_stream(0).await;
            session.open.send_replace(HandshakeStage::Open);
        }
    }
}

/// Aborts a task when dropped.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
