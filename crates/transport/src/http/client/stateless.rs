//! The modern binding: each request is a post of its own, and hanging up cancels it. No session, no table.
//!
//! A stream that breaks loses its request; it is never sent again by itself, because the tool may have run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use switchboard_protocol::jsonrpc::{self, Envelope, Message, Salvaged};
use switchboard_protocol::{Raw, RequestId};
use switchboard_session::link::{
    Ask, BoxFuture, CloseOutcome, Exchange, Inbound, Life, Link, LinkError, Note, Post,
};

use crate::http::client::flow::{Emit, Outcome, exchange, failed};
use crate::http::client::post::{Again, Answer, Brought, Events, Wire};
use crate::http::header::{METHOD, NAME, PROTOCOL_VERSION, encode, marked, mirror};
use crate::http::message::request_text;

/// How long a request may take that nobody waits for.
const DETACHED: Duration = Duration::from_secs(30);

/// A link on which every request stands alone.
pub(crate) struct Stateless {
    wire: Arc<Wire>,
    closed: Arc<AtomicBool>,
}

impl Stateless {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, closed: Arc::default() }
    }
}

impl Link for Stateless {
    fn open(&self, ask: Ask<'_>) -> Exchange {
        if self.closed.load(Ordering::Acquire) {
            return failed(LinkError::Closed);
        }
        let emit = Emit::default();
        let headers = mirrored(&ask);
        let body = Bytes::from(request_text(&ask.id, ask.method, ask.params));
        let (wire, heard) = (Arc::clone(&self.wire), emit.clone());
        let asked =
            Asked { id: ask.id.clone(), again: Again::of(ask.method), listens: ask.life == Life::Listen };
        let driver = Box::pin(async move { drive(&wire, body, headers, asked, heard).await });
        if ask.life == Life::Detached {
            // Nobody waits for it. It is one post, which the limits of the wire end.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(tokio::time::timeout(DETACHED, driver));
            }
            return failed(LinkError::Closed);
        }
        // Hanging up cancels: there is nothing to say.
        exchange(driver, emit, None::<fn()>)
    }

    fn post(&self, _post: Post<'_>) -> Result<(), LinkError> {
        // Requests that stand alone have nothing beside them to say.
        if self.closed.load(Ordering::Acquire) { Err(LinkError::Closed) } else { Ok(()) }
    }

    fn inbound(&self) -> Option<Inbound> {
        None
    }

    fn close(&self, _within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.closed.store(true, Ordering::Release);
        Box::pin(async { CloseOutcome::Left })
    }

    fn check_schema(&self, schema: &Raw) -> Result<(), String> {
        marked(schema.as_str()).map(drop).map_err(|invalid| invalid.to_string())
    }

    fn ended(&self) -> Option<LinkError> {
        self.closed.load(Ordering::Acquire).then_some(LinkError::Closed)
    }
}

/// The headers that repeat what the request says.
fn mirrored(ask: &Ask<'_>) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    if let Some(revision) = ask.mirror.revision {
        headers.push((PROTOCOL_VERSION, HeaderValue::from_static(revision)));
    }
    headers.push((METHOD, encode(ask.method)));
    if let Some(name) = ask.mirror.name.filter(|_| crate::http::header::subject(ask.method).is_some()) {
        headers.push((NAME, encode(name)));
    }
    if let Some((schema, arguments)) = ask.mirror.marked {
        let marks = marked(schema.as_str()).unwrap_or_default();
        headers.extend(mirror(&marks, arguments.as_str()));
    }
    headers
}

/// What is remembered of a request under way.
struct Asked {
    id: RequestId,
    again: Again,
    /// Its stream goes on until one side ends it, with no clock of a caller.
    listens: bool,
}

async fn drive(
    wire: &Wire,
    body: Bytes,
    headers: Vec<(HeaderName, HeaderValue)>,
    asked: Asked,
    emit: Emit,
) -> Outcome {
    let Asked { id, again, listens } = asked;
    match wire.post(body, &headers, again).await?.1 {
        Answer::Error(_, error) => Ok(Err(error)),
        Answer::Taken(status) => {
            Err(LinkError::Refused { status: status.as_u16(), text: "taken, but not answered".into() })
        }
        Answer::Document(bytes) => document(bytes, &id),
        Answer::Stream(events) if listens => {
            stream(events.with_idle(wire.limits.stream_idle), &id, &emit).await
        }
        Answer::Stream(events) => stream(*events, &id, &emit).await,
    }
}

/// Reads one document as the answer.
pub(crate) fn document(bytes: Bytes, id: &RequestId) -> Outcome {
    match jsonrpc::parse(bytes) {
        Ok(Message::Single(Envelope::Response(answer))) if is_for(answer.id.as_ref(), id) => {
            Ok(answer.outcome)
        }
        Ok(_) => Err(LinkError::lost("the server answered something else")),
        Err(malformed) => Err(LinkError::Malformed(malformed)),
    }
}

/// Whether an answer is for this request: by its id, or without one where the server could not read ours.
pub(crate) fn is_for(answered: Option<&RequestId>, asked: &RequestId) -> bool {
    answered
        .is_none_or(|id| id == asked || id.canonical_number().map(RequestId::Number).as_ref() == Some(asked))
}

/// Logs a damaged event, so that its stream is read on; one that was the answer to this request fails it.
pub(crate) fn skip_unless_answer(
    salvaged: &Salvaged,
    asked: &RequestId,
    error: LinkError,
) -> Result<(), LinkError> {
    let is_answer = match &salvaged.id {
        _ if salvaged.has_method => false,
        Some(id) => is_for(Some(id), asked),
        // What is too large may not have been read to the member that tells.
        None => salvaged.has_outcome || matches!(error, LinkError::TooLarge { .. }),
    };
    if is_answer {
        return Err(error);
    }
    tracing::warn!(%error, "skipped a damaged event");
    Ok(())
}

async fn stream(mut events: Events, id: &RequestId, emit: &Emit) -> Outcome {
    loop {
        match events.next().await? {
            Some(Brought::Message(bytes)) => match jsonrpc::parse(bytes) {
                Ok(Message::Single(Envelope::Response(answer))) if is_for(answer.id.as_ref(), id) => {
                    return Ok(answer.outcome);
                }
                Ok(Message::Single(Envelope::Notification(note))) => {
                    emit.note(Note { method: note.method, params: note.params });
                }
                // Answers to others, and requests, which this revision has none of.
                Ok(_) => {}
                Err(malformed) => {
                    let salvaged = malformed.salvaged.clone();
                    skip_unless_answer(&salvaged, id, LinkError::Malformed(malformed))?;
                }
            },
            Some(Brought::Lost(salvaged, error)) => skip_unless_answer(&salvaged, id, error)?,
            Some(Brought::Named(name, _)) => {
                tracing::debug!(event = name, "skipped an event of an unknown type");
            }
            None => return Err(LinkError::lost("the stream ended without an answer")),
        }
    }
}
