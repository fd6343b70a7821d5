//! Requests in a session of the legacy era: POST, GET and DELETE with a session id.

use std::sync::{Arc, Weak};
use std::time::Instant;

use http::{HeaderValue, StatusCode};
use switchboard_protocol::jsonrpc::{Envelope, MalformedMessage, Notification, Request, Response};
use switchboard_protocol::{CancelledParams, Raw, RequestId, RpcError};
use switchboard_session::server::{AnswerOutcome, MessageClass, Outcome, ReplyChannel};
use tokio::sync::oneshot;

use crate::http::header::{LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID};
use crate::http::message::response_text;
use crate::http::server::event_queue::{Delivery, EventQueue};
use crate::http::server::missing_scopes::MissingScopes;
use crate::http::server::pending_request::{PendingRequest, RequestMetadata};
use crate::http::server::reply::{self, Reply};
use crate::http::server::service::Inner;
use crate::http::server::session::{HttpSession, STANDALONE, read_event_id};
use crate::http::server::session_reply::SessionReplyChannel;
use crate::http::server::sessions::{SessionUse, TooManySessions};
use crate::http::server::{Accept, ReplyBody};

/// Finds the session that a request names, or returns the response that rejects it.
async fn find_session(inner: &Inner, pending: &PendingRequest) -> Result<SessionUse, Reply> {
    let headers = pending.headers();
    let mut ids = headers.get_all(SESSION_ID).iter();
    let id = ids.next().and_then(|id| id.to_str().ok());
    let Some(id) = id.filter(|_| ids.next().is_none()) else {
        let reason = "Mcp-Session-Id is missing: send initialize first";
        return Err(reply::reject(StatusCode::BAD_REQUEST, reason));
    };
    if let Some(version) = headers.get(PROTOCOL_VERSION)
        && !inner.server.supports_version(version.to_str().unwrap_or_default().trim())
    {
        let reason = "MCP-Protocol-Version names a version that is not served";
        return Err(reply::reject(StatusCode::BAD_REQUEST, reason));
    }
    let client = || pending.client_id(inner.options());
    match inner.sessions.find(id, pending.caller.as_deref(), client).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => {
            let reason = "there is no such session, or no longer: initialize a new one";
            Err(reply::reject(StatusCode::NOT_FOUND, reason))
        }
        Err(TooManySessions) => Err(too_many_sessions()),
    }
}

fn too_many_sessions() -> Reply {
    reply::reject(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are in use; try again later")
}

/// Answers a request in its session; `initialize` begins one.
pub(crate) async fn answer(
    inner: &Arc<Inner>,
    pending: &mut PendingRequest,
    accept: Accept,
    request: Request,
    class: MessageClass,
) -> Reply {
    let begins = &*request.method == "initialize"
        && !(inner.server.rejects_repeated_initialize() && pending.headers().contains_key(SESSION_ID));
    if &*request.method == "ping" && !pending.headers().contains_key(SESSION_ID) {
        // Allowed without a session, as a liveness check.
        return reply::answer(accept, StatusCode::OK, &request.id, &Ok(Raw::empty_object()));
    }
    if begins {
        return begin_session(inner, pending, accept, request, class).await;
    }
    let session = match find_session(inner, pending).await {
        Ok(session) => session,
        Err(rejection) => return rejection,
    };
    let remembers =
        matches!(&*request.method, "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe");
    let reply = answer_in_session(inner, &session, (pending, accept), request, class).await;
    if remembers {
        inner.sessions.save(&session).await;
    }
    reply
}

/// Begins a session. It is published only if the handshake succeeds.
async fn begin_session(
    inner: &Arc<Inner>,
    pending: &mut PendingRequest,
    accept: Accept,
    request: Request,
    class: MessageClass,
) -> Reply {
    let client = pending.client_id(inner.options());
    let Ok(session) = inner.sessions.begin(pending.caller.as_deref(), client.as_ref()).await else {
        return too_many_sessions();
    };
    let mut reply = answer_in_session(inner, &session, (pending, accept), request, class).await;
    if session.memory.is_open() {
        inner.sessions.publish_and_save(&session).await;
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            reply.headers_mut().insert(SESSION_ID, id);
        }
    }
    reply
}

async fn answer_in_session(
    inner: &Arc<Inner>,
    session: &SessionUse,
    (pending, accept): (&mut PendingRequest, Accept),
    request: Request,
    class: MessageClass,
) -> Reply {
    let id = request.id.clone();
    let listens = inner.server.is_long_lived(&request.method);
    if listens && !accept.events {
        return reply::needs_stream();
    }
    let permit = match listens.then(|| inner.admit_stream(pending)).transpose() {
        Ok(permit) => permit,
        Err(rejection) => return reply::rejected(rejection),
    };
    let wants_stream = inner.streams_at_once(accept, &request.method);
    let streams = accept.names_events || accept.only_events() || listens;
    let reply_channel =
        Arc::new(SessionReplyChannel::new(session, streams, Some(pending.take_metadata(inner.options()))));
    // If the connection is lost, the request goes on within its session.
    let _abandon_on_drop = AbandonOnDrop { session, reply_channel: &reply_channel };
    match inner.server.answer(
        &session.memory,
        request,
        class,
        Arc::clone(&reply_channel) as Arc<dyn ReplyChannel>,
    ) {
        AnswerOutcome::Refused(error) => {
            reply_whole(inner, session, &reply_channel, accept, (&id, &Err(error)))
        }
        AnswerOutcome::Now(outcome) if !wants_stream && reply_channel.close_unused().is_none() => {
            message(inner, accept, &id, &outcome)
        }
        AnswerOutcome::Now(outcome) => {
            let stream = reply_channel.open(session);
            finish_stream(session, &reply_channel, &id, &outcome);
            attach(session, stream)
        }
        AnswerOutcome::Later(response) => {
            let (outcome_sender, mut outcome_receiver) = oneshot::channel::<Outcome>();
            let (owner, key, back) = (session.clone(), id.clone(), Arc::clone(&reply_channel));
            let (start, started) = oneshot::channel::<()>();
            // The session owns the task: losing the connection does not cancel the request.
            let task = tokio::spawn(async move {
                // It must not finish before it is registered.
                let _ = started.await;
                let outcome = await_with_maintenance(&owner, &back, response).await;
                owner.remove_request(&key);
                if let Err(outcome) = outcome_sender.send(outcome) {
                    finish_stream(&owner, &back, &key, &outcome);
                }
            });
            let most = inner.server.most_requests();
            if let Err(error) =
                session.register_request(id.clone(), Arc::clone(&reply_channel), task.abort_handle(), most)
            {
                task.abort();
                return reply_whole(inner, session, &reply_channel, accept, (&id, &Err(error)));
            }
            let _ = start.send(());
            if wants_stream || listens {
                reply_channel.upgrade();
            }
            tokio::select! {
                biased;
                () = reply_channel.upgraded() => {
                    let stream = reply_channel.open(session);
                    // A response that is already there goes on the stream too.
                    outcome_receiver.close();
                    if let Ok(outcome) = outcome_receiver.try_recv() {
                        finish_stream(session, &reply_channel, &id, &outcome);
                    }
                    attach(session, stream).map(|body| body.with_permit(permit))
                }
                outcome = &mut outcome_receiver => match outcome {
                    Ok(outcome) => reply_whole(inner, session, &reply_channel, accept, (&id, &outcome)),
                    Err(_) => reply_cancelled(session, &reply_channel, accept),
                }
            }
        }
    }
}

/// Tells the reply channel that the connection of its request is gone.
struct AbandonOnDrop<'a> {
    session: &'a HttpSession,
    reply_channel: &'a SessionReplyChannel,
}

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.reply_channel.abandon(self.session);
    }
}

/// Waits for the outcome, and meanwhile keeps the stream of the request alive.
async fn await_with_maintenance<T>(
    session: &HttpSession,
    reply_channel: &SessionReplyChannel,
    response: impl Future<Output = T>,
) -> T {
    let mut response = std::pin::pin!(response);
    let every = session.maintenance_interval();
    // Not at once: a timer that is due before all others wakes the runtime's driver for every request.
    let mut tick = tokio::time::interval_at(tokio::time::Instant::now() + every, every);
    loop {
        tokio::select! {
            biased;
            outcome = &mut response => return outcome,
            _ = tick.tick() => if let Some(stream) = reply_channel.stream() {
                session.maintain_stream(stream);
            },
        }
    }
}

fn reply_whole(
    inner: &Inner,
    session: &HttpSession,
    reply_channel: &SessionReplyChannel,
    accept: Accept,
    (id, outcome): (&RequestId, &Outcome),
) -> Reply {
    if let Some(stream) = reply_channel.close() {
        session.drop_stream(stream);
    }
    message(inner, accept, id, outcome)
}

fn message(inner: &Inner, accept: Accept, id: &RequestId, outcome: &Outcome) -> Reply {
    let context = inner.options().challenge_context();
    reply::with_challenge(reply::answer(accept, StatusCode::OK, id, outcome), outcome, context)
}

/// Returns the reply to a cancelled request: an empty stream, because clients treat 204 as a broken server.
fn reply_cancelled(session: &HttpSession, reply_channel: &SessionReplyChannel, accept: Accept) -> Reply {
    if let Some(stream) = reply_channel.close() {
        session.drop_stream(stream);
    }
    match accept.events {
        true => reply::stream_response(ReplyBody::empty()),
        false => reply::status_response(StatusCode::NO_CONTENT),
    }
}

/// Ends the stream with the response. Without a stream nobody could receive it.
fn finish_stream(
    session: &HttpSession,
    reply_channel: &SessionReplyChannel,
    id: &RequestId,
    outcome: &Outcome,
) {
    if let Some(stream) = reply_channel.close() {
        session.send(stream, &response_text(Some(id), outcome.as_ref()), Delivery::Required);
        session.end_stream(stream);
    }
}

fn attach(session: &SessionUse, stream: Option<u64>) -> Reply {
    match stream.and_then(|stream| session.attach(stream, None)) {
        Some(queue) => reply::stream_response(ReplyBody::events_of(queue, session.clone())),
        None => reply::stream_response(ReplyBody::empty()),
    }
}

/// Opens the standalone stream, or resumes the stream of `Last-Event-ID`.
pub(crate) async fn open_stream(inner: &Arc<Inner>, pending: &PendingRequest) -> Result<Reply, Reply> {
    if !Accept::read(pending.headers()).events {
        return Err(reply::reject(StatusCode::NOT_ACCEPTABLE, "accept text/event-stream"));
    }
    let session = find_session(inner, pending).await?;
    let permit = inner.admit_stream(pending).map_err(reply::rejected)?;
    let last = pending.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).and_then(read_event_id);
    let (stream, after) = last.map_or((STANDALONE, None), |(stream, number)| (stream, Some(number)));
    let Some(queue) = session.attach(stream, after) else {
        return Err(reply::reject(StatusCode::NOT_FOUND, "this stream cannot be replayed any more"));
    };
    if stream == STANDALONE {
        tokio::spawn(maintain_standalone(Arc::clone(inner), Arc::downgrade(&session), Arc::clone(&queue)));
    }
    Ok(reply::stream_response(ReplyBody::events_of(queue, session).with_permit(Some(permit))))
}

/// Keeps the standalone stream alive until its connection or its session ends.
async fn maintain_standalone(inner: Arc<Inner>, session: Weak<HttpSession>, queue: Arc<EventQueue>) {
    let mut stored = Instant::now();
    while let Some(every) = session.upgrade().map(|session| session.maintenance_interval()) {
        tokio::time::sleep(every).await;
        let Some(session) = session.upgrade().filter(|_| !queue.is_abandoned()) else { return };
        session.maintain_stream(STANDALONE);
        if stored.elapsed() >= inner.sessions.idle() / 4 {
            // Loading counts as use: the store must not expire a session with an attached stream.
            stored = Instant::now();
            let _ = inner.sessions.store.load(&session.id).await;
        }
    }
}

/// Ends a session.
pub(crate) async fn end_session(inner: &Arc<Inner>, pending: &PendingRequest) -> Result<Reply, Reply> {
    let session = find_session(inner, pending).await?;
    inner.sessions.end(&session.id).await;
    Ok(reply::status_response(StatusCode::NO_CONTENT))
}

/// Handles a notification.
pub(crate) async fn handle_notification(
    inner: &Arc<Inner>,
    pending: &PendingRequest,
    note: Notification,
) -> Result<Reply, Reply> {
    let session = find_session(inner, pending).await?;
    dispatch_notification(inner, &session, note);
    Ok(reply::status_response(StatusCode::ACCEPTED))
}

fn dispatch_notification(inner: &Inner, session: &HttpSession, note: Notification) {
    inner.server.observe_notification(Some(&session.memory), &note);
    if &*note.method == "notifications/cancelled" {
        let params = note.params.and_then(|params| params.decode::<CancelledParams>().ok());
        if let Some(id) = params.and_then(|params| params.request_id) {
            session.cancel(&id);
        }
    } else {
        inner.server.handle_notification(Some(&session.memory), &note);
    }
}

/// Handles a response of the client to a request of the server.
pub(crate) async fn handle_response(
    inner: &Arc<Inner>,
    pending: &PendingRequest,
    response: Response,
) -> Result<Reply, Reply> {
    let session = find_session(inner, pending).await?;
    if let Some(id) = response.id {
        session.resolve_upcall(&id, response.outcome);
    }
    Ok(reply::status_response(StatusCode::ACCEPTED))
}

/// Answers a batch with one array, if the revision has batches.
pub(crate) async fn batch(
    inner: &Arc<Inner>,
    pending: &mut PendingRequest,
    elements: Vec<Result<Envelope, MalformedMessage>>,
) -> Result<Reply, Reply> {
    let session = find_session(inner, pending).await?;
    if !session.memory.has_batches() || elements.is_empty() {
        let reason = "an array is no message here: few revisions have batches, and none is empty";
        return Err(reply::reject(StatusCode::BAD_REQUEST, reason));
    }
    let (mut answers, mut missing) = (Vec::new(), MissingScopes::default());
    let http_request = pending.take_metadata(inner.options());
    for element in elements {
        match element {
            Ok(Envelope::Request(request)) => {
                let id = request.id.clone();
                let outcome = batch_element_outcome(inner, &session, request, http_request.clone()).await;
                missing.add(&outcome);
                answers.push(response_text(Some(&id), outcome.as_ref()));
            }
            Ok(Envelope::Notification(note)) => {
                missing.add(&Ok(()));
                dispatch_notification(inner, &session, note);
            }
            Ok(Envelope::Response(response)) => {
                missing.add(&Ok(()));
                if let Some(id) = response.id {
                    session.resolve_upcall(&id, response.outcome);
                }
            }
            Err(malformed) => {
                let error = RpcError::invalid_request(malformed.to_string());
                answers.push(response_text(malformed.recovered.id.as_ref(), Err(&error)));
            }
        }
    }
    if answers.is_empty() {
        return Ok(reply::status_response(StatusCode::ACCEPTED));
    }
    let answers = [b"[", &answers.join(&b',')[..], b"]"].concat();
    let mut reply = reply::message_response(Accept::JSON, StatusCode::OK, answers);
    inner.admission.challenge_scopes(&mut reply, &missing);
    Ok(reply)
}

async fn batch_element_outcome(
    inner: &Arc<Inner>,
    session: &SessionUse,
    request: Request,
    http_request: RequestMetadata,
) -> Outcome {
    if &*request.method == "initialize" {
        return Err(RpcError::invalid_request("initialize cannot be part of a batch"));
    }
    if inner.server.is_long_lived(&request.method) {
        return Err(RpcError::invalid_request("a request that never ends cannot be part of a batch"));
    }
    let class = inner.server.classify(&request);
    if class.self_contained_version().is_some() {
        return Err(RpcError::invalid_request("a request of this revision cannot be part of a batch"));
    }
    let reply_channel = SessionReplyChannel::new(session, false, Some(http_request));
    match inner.server.answer(
        &session.memory,
        request,
        class,
        Arc::new(reply_channel) as Arc<dyn ReplyChannel>,
    ) {
        AnswerOutcome::Refused(error) => Err(error),
        AnswerOutcome::Now(outcome) => outcome,
        AnswerOutcome::Later(response) => response.await,
    }
}
