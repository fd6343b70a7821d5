//! Posts a message and reads the reply: a JSON document or an event stream.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::sync::Arc;
use switchboard_http::{Address, Authorizer, Body, HttpClient, Request, Response, Timeouts};
use switchboard_protocol::jsonrpc::RecoveredMessage;
use switchboard_session::link::LinkError;

use crate::http::client::endpoint::HttpLimits;
use crate::http::client::failure::{jittered, link_error, printable, read_error, retry_after};
use crate::sse::{Decoder, SseItem};

/// Sends requests to one server: HTTP client, address, common headers, authorizer and limits.
#[derive(Clone)]
pub(crate) struct HttpSender {
    pub(crate) client: HttpClient,
    pub(crate) address: Address,
    /// The headers of every request.
    headers: HeaderMap,
    /// The headers of every post: those, `Accept` and `Content-Type`.
    post_headers: HeaderMap,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) limits: HttpLimits,
}

/// The `Accept` value of posts.
pub(crate) const JSON_AND_EVENTS: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The reply to a post.
pub(crate) enum PostReply {
    /// A JSON document.
    Document(Bytes),
    /// An event stream.
    Stream(Box<EventStream>),
    /// No content: the message was accepted.
    Accepted(StatusCode),
    /// A JSON-RPC error and its HTTP status.
    Error(StatusCode, switchboard_protocol::RpcError),
}

impl HttpSender {
    pub(crate) fn new(
        client: HttpClient,
        address: Address,
        headers: HeaderMap,
        authorizer: Arc<dyn Authorizer>,
        limits: HttpLimits,
    ) -> Self {
        let mut post_headers = headers.clone();
        post_headers.insert(ACCEPT, JSON_AND_EVENTS);
        post_headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { client, address, headers, post_headers, authorizer, limits }
    }

    /// Posts one message. Read-only requests are retried with backoff when the server is overloaded.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        headers: &[(HeaderName, HeaderValue)],
        retry_policy: RetryPolicy,
    ) -> Result<(HeaderMap, PostReply), LinkError> {
        let mut attempt = 0;
        loop {
            let mut request = Request::new(Method::POST, self.address.clone()).with_body(body.clone());
            request.headers = merged_headers(&self.post_headers, headers);
            // The caller has a timeout for the call; this one is for pauses within the document.
            request.timeouts = Timeouts::default().with_headers(None).with_idle(Some(self.limits.body_idle));
            let response = self.send(request).await?;
            let is_overloaded = matches!(response.status.as_u16(), 429 | 500 | 502 | 503 | 504);
            if !is_overloaded || retry_policy == RetryPolicy::Never || attempt == self.limits.retries {
                return self.read(response).await;
            }
            let wait =
                retry_after(&response.headers).unwrap_or(self.limits.backoff * 2u32.saturating_pow(attempt));
            attempt += 1;
            drop(response);
            tokio::time::sleep(jittered(wait)).await;
        }
    }

    pub(crate) async fn send(&self, request: Request) -> Result<Response, LinkError> {
        self.client.send_authorized(request, &*self.authorizer).await.map_err(|error| link_error(&error))
    }

    pub(crate) fn request(&self, method: Method, headers: &[(HeaderName, HeaderValue)]) -> Request {
        let mut request = Request::new(method, self.address.clone());
        request.headers = merged_headers(&self.headers, headers);
        request
    }

    /// Returns the request that opens an event stream.
    pub(crate) fn stream_request(&self, headers: &[(HeaderName, HeaderValue)]) -> Request {
        let mut request = self.request(Method::GET, headers);
        request.headers.insert(ACCEPT, EVENTS);
        request.timeouts = Timeouts::default().with_headers(Some(self.limits.stream_start)).with_idle(None);
        request
    }

    /// Reads the reply to a message.
    async fn read(&self, response: Response) -> Result<(HeaderMap, PostReply), LinkError> {
        if !response.status.is_success() {
            let (status, headers) = (response.status, response.headers.clone());
            return read_error(response).await.map(|error| (headers, PostReply::Error(status, error)));
        }
        let Response { status, headers, body, .. } = response;
        let named = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
        let media = named.split(';').next().unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("text/event-stream") {
            let events = Box::new(EventStream::new(body, self.limits.event_bytes));
            return Ok((headers, PostReply::Stream(events)));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            body.drain(switchboard_http::ERROR_BODY_LIMIT, Duration::from_secs(1)).await;
            return Ok((headers, PostReply::Accepted(status)));
        }
        let bytes = body.collect(self.limits.event_bytes).await.map_err(|error| link_error(&error))?;
        let answer = if media.eq_ignore_ascii_case("application/json") && is_utf8(named) {
            PostReply::Document(bytes)
        } else if media.is_empty() && bytes.trim_ascii().is_empty() {
            PostReply::Accepted(status)
        } else if media.is_empty() && bytes.trim_ascii().starts_with(b"{") {
            // Some servers send an object without a content type.
            PostReply::Document(bytes)
        } else {
            let text = format!("{}: {}", printable(named.as_bytes()), printable(&bytes));
            return Err(LinkError::Refused { status: status.as_u16(), text });
        };
        Ok((headers, answer))
    }
}

/// Merges both into a map with spare capacity. `headers` override `base`.
fn merged_headers(base: &HeaderMap, headers: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    // The HTTP client adds a few.
    let mut all = HeaderMap::with_capacity(base.len() + headers.len() + 4);
    for (name, value) in base {
        all.append(name, value.clone());
    }
    for (name, value) in headers {
        all.insert(name, value.clone());
    }
    all
}

/// Returns whether the charset of a content type is absent or compatible with UTF-8.
fn is_utf8(media: &str) -> bool {
    media.split(';').skip(1).filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
    })
}

/// Whether a request may be retried automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryPolicy {
    /// Yes: the request has no side effects.
    ReadOnly,
    /// No: the request may have side effects.
    Never,
}

impl RetryPolicy {
    /// Returns the policy of a method.
    pub(crate) fn of(method: &str) -> Self {
        let reads = method.ends_with("/list")
            || matches!(
                method,
                "server/discover"
                    | "initialize"
                    | "ping"
                    | "resources/read"
                    | "prompts/get"
                    | "completion/complete"
            );
        if reads { Self::ReadOnly } else { Self::Never }
    }
}

/// Decodes the events of a response body.
pub(crate) struct EventStream {
    body: Body,
    decoder: Decoder,
    /// Events read so far; every 256th yields to other tasks.
    read_count: u32,
}

/// An item of an event stream.
pub(crate) enum StreamEvent {
    /// A message.
    Message(Bytes),
    /// An event of another type, such as `endpoint` of the 2024 binding.
    Other(String, Bytes),
    /// The recovered parts of a message that was too large, and the error.
    Lost(RecoveredMessage, LinkError),
}

impl EventStream {
    pub(crate) fn new(mut body: Body, limit: usize) -> Self {
        // Streams may be silent for long; the caller has a timeout.
        body.set_idle_timeout(None);
        Self { body: body.with_limit(usize::MAX), decoder: Decoder::new().with_limit(limit), read_count: 0 }
    }

    /// Sets how long the stream may be silent, comments included.
    pub(crate) fn with_idle(mut self, idle: Duration) -> Self {
        self.body.set_idle_timeout(Some(idle));
        self
    }

    /// Returns the next item; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<StreamEvent>, LinkError> {
        loop {
            while let Some(item) = self.decoder.next_item() {
                self.read_count = self.read_count.wrapping_add(1);
                if self.read_count.is_multiple_of(256) {
                    tokio::task::yield_now().await;
                }
                match item {
                    SseItem::Event(event) if event.data.is_empty() => {}
                    SseItem::Event(event) if event.name == "message" => {
                        return Ok(Some(StreamEvent::Message(event.data)));
                    }
                    SseItem::Event(event) => {
                        return Ok(Some(StreamEvent::Other(event.name.into_owned(), event.data)));
                    }
                    SseItem::Lost(lost) => {
                        let error = LinkError::TooLarge { limit: lost.limit };
                        return Ok(Some(StreamEvent::Lost(lost.recovered, error)));
                    }
                }
            }
            match self.body.chunk().await {
                Some(Ok(chunk)) => self.decoder.push(chunk),
                Some(Err(error)) => return Err(link_error(&error)),
                None => return Ok(None),
            }
        }
    }

    /// Returns the id of the last event, to resume from.
    pub(crate) fn last_id(&self) -> Option<String> {
        self.decoder.last_id().map(str::to_owned)
    }

    /// Returns the reconnection delay that the server asked for.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }
}
