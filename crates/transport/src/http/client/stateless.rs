//! The modern binding: each request is a separate post, and closing its connection cancels it. There is no session.
//!
//! A request whose stream breaks is lost. It is not retried, because the tool may have run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use switchboard_protocol::jsonrpc::{self, Envelope, Message, RecoveredMessage};
use switchboard_protocol::{Raw, RequestId};
use switchboard_session::link::{
    BoxFuture, CloseOutcome, Exchange, ExchangeKind, Inbound, InboundNotification, Link, LinkError,
    OneWayMessage, OutgoingRequest,
};

use crate::http::client::exchange::{NoteSender, Outcome, exchange, failed_exchange};
use crate::http::client::post::{EventStream, HttpSender, PostReply, RetryPolicy, StreamEvent};
use crate::http::header::{METHOD, NAME, PROTOCOL_VERSION, encode, mirror, mirrored_parameters};
use crate::http::message::request_text;

/// Timeout of a detached request.
const DETACHED_TIMEOUT: Duration = Duration::from_secs(30);

/// A link without a session.
pub(crate) struct StatelessLink {
    sender: Arc<HttpSender>,
    closed: Arc<AtomicBool>,
}

impl StatelessLink {
    pub(crate) fn new(sender: Arc<HttpSender>) -> Self {
        Self { sender, closed: Arc::default() }
    }
}

impl Link for StatelessLink {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        if self.closed.load(Ordering::Acquire) {
            return failed_exchange(LinkError::Closed);
        }
        let notes = NoteSender::default();
        let headers = mirror_headers(&ask);
        let body = Bytes::from(request_text(&ask.id, ask.method, ask.params));
        let (sender, listened) = (Arc::clone(&self.sender), notes.clone());
        let expected = RequestParameters {
            id: ask.id.clone(),
            retry_policy: RetryPolicy::of(ask.method),
            listens: ask.kind == ExchangeKind::Listen,
        };
        let driver = Box::pin(async move { drive(&sender, body, headers, expected, listened).await });
        if ask.kind == ExchangeKind::Detached {
            // Detached: the task ends with the timeout at the latest.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(tokio::time::timeout(DETACHED_TIMEOUT, driver));
            }
            return failed_exchange(LinkError::Closed);
        }
        // Closing the connection cancels the request, so nothing has to be sent.
        exchange(driver, notes, None::<fn()>)
    }

    fn post(&self, _post: OneWayMessage<'_>) -> Result<(), LinkError> {
        // This binding has no messages besides requests.
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
        mirrored_parameters(schema.as_str()).map(drop).map_err(|invalid| invalid.to_string())
    }

    fn ended(&self) -> Option<LinkError> {
        self.closed.load(Ordering::Acquire).then_some(LinkError::Closed)
    }
}

/// Returns the headers that mirror the body of a request.
fn mirror_headers(ask: &OutgoingRequest<'_>) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    if let Some(revision) = ask.mirror.revision {
        headers.push((PROTOCOL_VERSION, HeaderValue::from_static(revision)));
    }
    headers.push((METHOD, encode(ask.method)));
    if let Some(name) = ask.mirror.name.filter(|_| crate::http::header::name_parameter(ask.method).is_some())
    {
        headers.push((NAME, encode(name)));
    }
    if let Some((schema, arguments)) = ask.mirror.marked {
        let marks = mirrored_parameters(schema.as_str()).unwrap_or_default();
        headers.extend(mirror(&marks, arguments.as_str()));
    }
    headers
}

/// The properties of a request that its driver needs.
struct RequestParameters {
    id: RequestId,
    retry_policy: RetryPolicy,
    /// Whether it is a listening stream, which has no timeout of a caller.
    listens: bool,
}

async fn drive(
    sender: &HttpSender,
    body: Bytes,
    headers: Vec<(HeaderName, HeaderValue)>,
    expected: RequestParameters,
    notes: NoteSender,
) -> Outcome {
    let RequestParameters { id, retry_policy, listens } = expected;
    match sender.post(body, &headers, retry_policy).await?.1 {
        PostReply::Error(_, error) => Ok(Err(error)),
        PostReply::Accepted(status) => {
            Err(LinkError::Refused { status: status.as_u16(), text: "taken, but not answered".into() })
        }
        PostReply::Document(bytes) => parse_document(bytes, &id),
        PostReply::Stream(events) if listens => {
            read_stream(events.with_idle(sender.limits.stream_idle), &id, &notes).await
        }
        PostReply::Stream(events) => read_stream(*events, &id, &notes).await,
    }
}

/// Parses a document as the response.
pub(crate) fn parse_document(bytes: Bytes, id: &RequestId) -> Outcome {
    match jsonrpc::parse(bytes) {
        Ok(Message::Single(Envelope::Response(answer))) if answers_request(answer.id.as_ref(), id) => {
            Ok(answer.outcome)
        }
        Ok(_) => Err(LinkError::lost("the server answered something else")),
        Err(malformed) => Err(LinkError::Malformed(malformed)),
    }
}

/// Returns whether a response is for this request: same id, or none because the server could not read it.
pub(crate) fn answers_request(id: Option<&RequestId>, expected: &RequestId) -> bool {
    id.is_none_or(|id| {
        id == expected || id.canonical_number().map(RequestId::Number).as_ref() == Some(expected)
    })
}

/// Logs a damaged event and goes on, or fails if it was the response to this request.
pub(crate) fn skip_unless_answer(
    recovered: &RecoveredMessage,
    expected: Option<&RequestId>,
    error: LinkError,
) -> Result<(), LinkError> {
    let is_answer = expected.filter(|_| !recovered.has_method).is_some_and(|expected| match &recovered.id {
        Some(id) => answers_request(Some(id), expected),
        // An oversized message may not have been read up to the telling member.
        None => recovered.has_outcome || matches!(error, LinkError::TooLarge { .. }),
    });
    if is_answer {
        return Err(error);
    }
    tracing::warn!(%error, "skipped a damaged event");
    Ok(())
}

async fn read_stream(mut events: EventStream, id: &RequestId, notes: &NoteSender) -> Outcome {
    loop {
        match events.next().await? {
            Some(StreamEvent::Message(bytes)) => match jsonrpc::parse(bytes) {
                Ok(Message::Single(Envelope::Response(answer)))
                    if answers_request(answer.id.as_ref(), id) =>
                {
                    return Ok(answer.outcome);
                }
                Ok(Message::Single(Envelope::Notification(note))) => {
                    notes.note(InboundNotification { method: note.method, params: note.params });
                }
                // Responses to other requests, and requests, which this revision does not have.
                Ok(_) => {}
                Err(malformed) => {
                    let recovered = malformed.recovered.clone();
                    skip_unless_answer(&recovered, Some(id), LinkError::Malformed(malformed))?;
                }
            },
            Some(StreamEvent::Lost(recovered, error)) => skip_unless_answer(&recovered, Some(id), error)?,
            Some(StreamEvent::Other(name, _)) => {
                tracing::debug!(event = name, "skipped an event of an unknown type");
            }
            None => return Err(LinkError::lost("the stream ended without an answer")),
        }
    }
}
