//! Requests in a session of the legacy era: POST, GET and DELETE with a session id.

use std::sync::{Arc, Weak};
use std::time::Instant;

use http::{HeaderValue, StatusCode};
use switchboard_protocol::jsonrpc::{Envelope, Malformed, Notification, Request, Response};
use switchboard_protocol::{CancelledParams, Raw, RequestId, RpcError};
use switchboard_session::server::{Answered, MessageClass, Outcome, ReplyChannel};
use tokio::sync::oneshot;

use crate::http::header::{LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID};
use crate::http::message::response_text;
use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::door::Inner;
use crate::http::server::guard::Turned;
use crate::http::server::lane::Lane;
use crate::http::server::reply::{self, Reply};
use crate::http::server::session::{HttpSession, STANDALONE, read_event_id};
use crate::http::server::sessions::{SessionUse, TooManySessions};
use crate::http::server::stream::{Feed, Weight};
use crate::http::server::visitor::{Known, Visitor};

/// The session a request names; the reply that says why there is none.
async fn session_of(inner: &Inner, visitor: &Visitor) -> Result<SessionUse, Reply> {
    let turned = |status, reason: &str| reply::turned(Turned::new(status, reason));
    let headers = visitor.headers();
    let mut ids = headers.get_all(SESSION_ID).iter();
    let id = ids.next().and_then(|id| id.to_str().ok());
    let Some(id) = id.filter(|_| ids.next().is_none()) else {
        return Err(turned(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing: send initialize first"));
    };
    if let Some(version) = headers.get(PROTOCOL_VERSION)
        && !inner.known_version.is(version)
    {
        let named = version.to_str().unwrap_or_default().trim();
        if !inner.server.speaks(named) {
            return Err(turned(
                StatusCode::BAD_REQUEST,
                "MCP-Protocol-Version names a version that is not served",
            ));
        }
        inner.known_version.keep(version);
    }
    let client = || visitor.client(&inner.options);
    match inner.sessions.find(id, visitor.caller.as_ref(), client).await {
        Ok(Some(session)) => Ok(session),
        Ok(None) => {
            Err(turned(StatusCode::NOT_FOUND, "there is no such session, or no longer: initialize a new one"))
        }
        Err(TooManySessions) => Err(too_many_sessions()),
    }
}

fn too_many_sessions() -> Reply {
    let reason = "too many sessions are in use; try again later";
    reply::turned(Turned::new(StatusCode::SERVICE_UNAVAILABLE, reason))
}

/// Answers a request in its session; `initialize` begins one.
pub(crate) async fn answer(
    inner: &Arc<Inner>,
    visitor: &mut Visitor,
    accept: Accept,
    request: Request,
    says: MessageClass,
) -> Reply {
    let begins = &*request.method == "initialize"
        && !(inner.server.opens_once() && visitor.headers().contains_key(SESSION_ID));
    if &*request.method == "ping" && !visitor.headers().contains_key(SESSION_ID) {
        // Allowed before there is a session, to see whether anybody is there.
        return reply::answer(accept, StatusCode::OK, &request.id, &Ok(Raw::empty_object()));
    }
    if begins {
        return begin(inner, visitor, accept, request, says).await;
    }
    let session = match session_of(inner, visitor).await {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    let remembers =
        matches!(&*request.method, "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe");
    let reply = in_session(inner, &session, (visitor, accept), request, says).await;
    if remembers {
        inner.sessions.save(&session).await;
    }
    reply
}

/// Begins a session. It is kept only when the handshake succeeds.
async fn begin(
    inner: &Arc<Inner>,
    visitor: &mut Visitor,
    accept: Accept,
    request: Request,
    says: MessageClass,
) -> Reply {
    let client = visitor.client(&inner.options);
    let Ok(session) = inner.sessions.begin(visitor.caller.as_ref(), client.as_ref()).await else {
        return too_many_sessions();
    };
    let mut reply = in_session(inner, &session, (visitor, accept), request, says).await;
    if session.memory.is_open() {
        inner.sessions.keep(&session).await;
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            reply.headers_mut().insert(SESSION_ID, id);
        }
    }
    reply
}

async fn in_session(
    inner: &Arc<Inner>,
    session: &SessionUse,
    (visitor, accept): (&mut Visitor, Accept),
    request: Request,
    says: MessageClass,
) -> Reply {
    let id = request.id.clone();
    let listens = inner.server.is_long_lived(&request.method);
    if listens && !accept.events {
        return reply::needs_stream();
    }
    let permit = match listens.then(|| inner.admit_stream(visitor)).transpose() {
        Ok(permit) => permit,
        Err(refused) => return reply::turned(refused),
    };
    let wants_stream = inner.streams_at_once(accept, &request.method);
    let streams = accept.names_events || accept.only_events() || listens;
    let lane = Arc::new(Lane::new(session, streams, Some(visitor.take(&inner.options))));
    // Dropped early, the request is not waited for any more; the session goes on with it.
    let _waiting = Waiting { session, lane: &lane };
    match inner.server.answer(&session.memory, request, says, Arc::clone(&lane) as Arc<dyn ReplyChannel>) {
        Answered::Refused(error) => whole(inner, session, &lane, accept, (&id, &Err(error))),
        Answered::Now(outcome) if !wants_stream && lane.close_unused().is_none() => {
            message(inner, accept, &id, &outcome)
        }
        Answered::Now(outcome) => {
            let stream = lane.open(session);
            finish(session, &lane, &id, &outcome);
            attach(session, stream)
        }
        Answered::Later(answering) => {
            let (give, mut take) = oneshot::channel::<Outcome>();
            let (owner, key, back) = (session.clone(), id.clone(), Arc::clone(&lane));
            let (go, entered) = oneshot::channel::<()>();
            // The session owns it: hanging up is not cancelling here.
            let task = tokio::spawn(async move {
                // It cannot be done before it is known to run.
                let _ = entered.await;
                let outcome = tend(&owner, &back, answering).await;
                owner.leave(&key);
                if let Err(outcome) = give.send(outcome) {
                    finish(&owner, &back, &key, &outcome);
                }
            });
            let most = inner.server.most_requests();
            if let Err(error) = session.enter(id.clone(), Arc::clone(&lane), task.abort_handle(), most) {
                task.abort();
                return whole(inner, session, &lane, accept, (&id, &Err(error)));
            }
            let _ = go.send(());
            if wants_stream || listens {
                lane.upgrade();
            }
            tokio::select! {
                biased;
                () = lane.upgraded() => {
                    let stream = lane.open(session);
                    // What was answered meanwhile goes on the stream too.
                    take.close();
                    if let Ok(outcome) = take.try_recv() {
                        finish(session, &lane, &id, &outcome);
                    }
                    attach(session, stream).map(|body| body.with_permit(permit))
                }
                outcome = &mut take => match outcome {
                    Ok(outcome) => whole(inner, session, &lane, accept, (&id, &outcome)),
                    Err(_) => cancelled(session, &lane, accept),
                }
            }
        }
    }
}

/// A request that is waited for by the connection it came on.
struct Waiting<'a> {
    session: &'a HttpSession,
    lane: &'a Lane,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.lane.abandon(self.session);
    }
}

/// Waits for the answer, looking after whoever reads the stream meanwhile.
async fn tend<T>(session: &HttpSession, lane: &Lane, answering: impl Future<Output = T>) -> T {
    let mut answering = std::pin::pin!(answering);
    let mut tick = tokio::time::interval(session.tend_every());
    loop {
        tokio::select! {
            biased;
            outcome = &mut answering => return outcome,
            _ = tick.tick() => if let Some(stream) = lane.stream() {
                session.tend(stream);
            },
        }
    }
}

fn whole(
    inner: &Inner,
    session: &HttpSession,
    lane: &Lane,
    accept: Accept,
    (id, outcome): (&RequestId, &Outcome),
) -> Reply {
    if let Some(stream) = lane.close() {
        session.drop_stream(stream);
    }
    message(inner, accept, id, outcome)
}

fn message(inner: &Inner, accept: Accept, id: &RequestId, outcome: &Outcome) -> Reply {
    let metadata = inner.options.resource_metadata.as_deref();
    reply::challenged(reply::answer(accept, StatusCode::OK, id, outcome), outcome, metadata)
}

/// A cancelled request gets no answer. Clients take that as a stream without one; 204 they take for a broken server.
fn cancelled(session: &HttpSession, lane: &Lane, accept: Accept) -> Reply {
    if let Some(stream) = lane.close() {
        session.drop_stream(stream);
    }
    match accept.events {
        true => reply::stream(ReplyBody::empty()),
        false => reply::bare(StatusCode::NO_CONTENT),
    }
}

/// Ends the stream with the answer. Where there is none, nobody reads, and nobody can come back for it.
fn finish(session: &HttpSession, lane: &Lane, id: &RequestId, outcome: &Outcome) {
    if let Some(stream) = lane.close() {
        session.send(stream, &response_text(Some(id), outcome.as_ref()), Weight::Must);
        session.end_stream(stream);
    }
}

fn attach(session: &SessionUse, stream: Option<u64>) -> Reply {
    match stream.and_then(|stream| session.attach(stream, None)) {
        Some(feed) => reply::stream(ReplyBody::events_of(feed, session.clone())),
        None => reply::stream(ReplyBody::empty()),
    }
}

/// Opens the stream that belongs to no request, or goes on with one that broke off.
pub(crate) async fn listen(inner: &Arc<Inner>, visitor: &Visitor) -> Reply {
    if !Accept::read(visitor.headers()).events {
        let reason = "accept text/event-stream";
        return reply::turned(Turned::new(StatusCode::NOT_ACCEPTABLE, reason));
    }
    let session = match session_of(inner, visitor).await {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    let permit = match inner.admit_stream(visitor) {
        Ok(permit) => permit,
        Err(refused) => return reply::turned(refused),
    };
    let last = visitor.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).and_then(read_event_id);
    let (stream, after) = last.map_or((STANDALONE, None), |(stream, number)| (stream, Some(number)));
    let Some(feed) = session.attach(stream, after) else {
        return reply::turned(Turned::new(StatusCode::NOT_FOUND, "this stream cannot be replayed any more"));
    };
    if stream == STANDALONE {
        tokio::spawn(tend_standalone(Arc::clone(inner), Arc::downgrade(&session), Arc::clone(&feed)));
    }
    reply::stream(ReplyBody::events_of(feed, session).with_permit(Some(permit)))
}

/// Looks after the stream that belongs to no request, until its connection or its session ends.
async fn tend_standalone(inner: Arc<Inner>, session: Weak<HttpSession>, feed: Arc<Feed>) {
    let mut stored = Instant::now();
    while let Some(every) = session.upgrade().map(|session| session.tend_every()) {
        tokio::time::sleep(every).await;
        let Some(session) = session.upgrade().filter(|_| !feed.is_left()) else { return };
        session.tend(STANDALONE);
        if stored.elapsed() >= inner.sessions.idle() / 4 {
            // The store has a clock of its own, and a session whose stream is read is not idle.
            stored = Instant::now();
            let _ = inner.sessions.store.load(&session.id).await;
        }
    }
}

/// Ends a session.
pub(crate) async fn leave(inner: &Arc<Inner>, visitor: &Visitor) -> Reply {
    match session_of(inner, visitor).await {
        Ok(session) => {
            inner.sessions.end(&session.id).await;
            reply::bare(StatusCode::NO_CONTENT)
        }
        Err(refused) => refused,
    }
}

/// Hears a notification.
pub(crate) async fn hear(inner: &Arc<Inner>, visitor: &Visitor, note: Notification) -> Reply {
    let session = match session_of(inner, visitor).await {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    heard(inner, &session, note);
    reply::bare(StatusCode::ACCEPTED)
}

fn heard(inner: &Inner, session: &HttpSession, note: Notification) {
    if &*note.method == "notifications/cancelled" {
        let params = note.params.and_then(|params| params.decode::<CancelledParams>().ok());
        if let Some(id) = params.and_then(|params| params.request_id) {
            session.cancel(&id);
        }
    } else {
        inner.server.hear(&note);
    }
}

/// Takes the client's answer to a question.
pub(crate) async fn answered(inner: &Arc<Inner>, visitor: &Visitor, response: Response) -> Reply {
    let session = match session_of(inner, visitor).await {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    if let Some(id) = response.id {
        session.answered(&id, response.outcome);
    }
    reply::bare(StatusCode::ACCEPTED)
}

/// Answers an array of messages with one array, where the revision has them.
pub(crate) async fn batch(
    inner: &Arc<Inner>,
    visitor: &mut Visitor,
    elements: Vec<Result<Envelope, Malformed>>,
) -> Reply {
    let session = match session_of(inner, visitor).await {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    if !session.memory.has_batches() || elements.is_empty() {
        let reason = "an array is no message here: few revisions have batches, and none is empty";
        return reply::refusal(None, StatusCode::BAD_REQUEST, RpcError::invalid_request(reason));
    }
    let mut answers = Vec::new();
    let known = visitor.take(&inner.options);
    for element in elements {
        match element {
            Ok(Envelope::Request(request)) => {
                let id = request.id.clone();
                let outcome = element_outcome(inner, &session, request, known.clone()).await;
                answers.push(response_text(Some(&id), outcome.as_ref()));
            }
            Ok(Envelope::Notification(note)) => heard(inner, &session, note),
            Ok(Envelope::Response(response)) => {
                if let Some(id) = response.id {
                    session.answered(&id, response.outcome);
                }
            }
            Err(malformed) => {
                let error = RpcError::invalid_request(malformed.to_string());
                answers.push(response_text(malformed.salvaged.id.as_ref(), Err(&error)));
            }
        }
    }
    if answers.is_empty() {
        return reply::bare(StatusCode::ACCEPTED);
    }
    let accept = Accept { json: true, events: false, names_events: false, at_once: false };
    let answers = [b"[", &answers.join(&b',')[..], b"]"].concat();
    reply::message(accept, StatusCode::OK, answers)
}

async fn element_outcome(
    inner: &Arc<Inner>,
    session: &SessionUse,
    request: Request,
    known: Known,
) -> Outcome {
    if &*request.method == "initialize" {
        return Err(RpcError::invalid_request("initialize cannot be part of a batch"));
    }
    if inner.server.is_long_lived(&request.method) {
        return Err(RpcError::invalid_request("a request that never ends cannot be part of a batch"));
    }
    let says = inner.server.classify(&request);
    if says.alone().is_some() {
        return Err(RpcError::invalid_request("a request of this revision cannot be part of a batch"));
    }
    let lane = Lane::new(session, false, Some(known));
    match inner.server.answer(&session.memory, request, says, Arc::new(lane) as Arc<dyn ReplyChannel>) {
        Answered::Refused(error) => Err(error),
        Answered::Now(outcome) => outcome,
        Answered::Later(answering) => answering.await,
    }
}
