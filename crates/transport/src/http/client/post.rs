//! Sending one message, and reading what comes back: one JSON document, or an event stream.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use std::sync::Arc;
use switchboard_http::{Address, Authorizer, Body, HttpClient, Request, Response, Timeouts};
use switchboard_protocol::jsonrpc::Salvaged;
use switchboard_session::link::LinkError;

use crate::http::client::endpoint::HttpLimits;
use crate::http::client::failure::{jittered, link_error, refusal, retry_after, shown};
use crate::sse::{Decoder, Item};

/// Everything that is the same for all messages to one server.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) client: HttpClient,
    pub(crate) address: Address,
    /// On every request.
    headers: HeaderMap,
    /// On every message that is posted: those, and what is taken and brought.
    post_headers: HeaderMap,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) limits: HttpLimits,
}

/// Both kinds of answer are fine, for every request.
pub(crate) const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
pub(crate) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// What came back.
pub(crate) enum Answer {
    /// One document.
    Document(Bytes),
    /// A stream of events.
    Stream(Box<Events>),
    /// Nothing: the message was taken.
    Taken(StatusCode),
    /// An error of the protocol, and the status it came with.
    Error(StatusCode, switchboard_protocol::RpcError),
}

impl Wire {
    pub(crate) fn new(
        client: HttpClient,
        address: Address,
        headers: HeaderMap,
        authorizer: Arc<dyn Authorizer>,
        limits: HttpLimits,
    ) -> Self {
        let mut post_headers = headers.clone();
        post_headers.insert(ACCEPT, BOTH);
        post_headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { client, address, headers, post_headers, authorizer, limits }
    }

    /// Sends one message. Reads are sent again when the server is busy or broken for a moment.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        headers: &[(HeaderName, HeaderValue)],
        again: Again,
    ) -> Result<(HeaderMap, Answer), LinkError> {
        let mut tried = 0;
        loop {
            let mut request = Request::new(Method::POST, self.address.clone()).with_body(body.clone());
            request.headers = with_all(&self.post_headers, headers);
            // The call has its own clock; the document has one for its bytes.
            request.timeouts = Timeouts::default().with_headers(None).with_idle(Some(self.limits.body_idle));
            let response = self.send(request).await?;
            let busy = matches!(response.status.as_u16(), 429 | 500 | 502 | 503 | 504);
            if !busy || again == Again::Never || tried == self.limits.retries {
                return self.read(response).await;
            }
            let wait =
                retry_after(&response.headers).unwrap_or(self.limits.backoff * 2u32.saturating_pow(tried));
            tried += 1;
            drop(response);
            tokio::time::sleep(jittered(wait)).await;
        }
    }

    pub(crate) async fn send(&self, request: Request) -> Result<Response, LinkError> {
        self.client.send_authorized(request, &*self.authorizer).await.map_err(|error| link_error(&error))
    }

    pub(crate) fn request(&self, method: Method, headers: &[(HeaderName, HeaderValue)]) -> Request {
        let mut request = Request::new(method, self.address.clone());
        request.headers = with_all(&self.headers, headers);
        request
    }

    /// Reads an answer to a message.
    async fn read(&self, response: Response) -> Result<(HeaderMap, Answer), LinkError> {
        if !response.status.is_success() {
            let (status, headers) = (response.status, response.headers.clone());
            return refusal(response).await.map(|error| (headers, Answer::Error(status, error)));
        }
        let Response { status, headers, body, .. } = response;
        let named = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
        let media = named.split(';').next().unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("text/event-stream") {
            let events = Box::new(Events::new(body, self.limits.event_bytes));
            return Ok((headers, Answer::Stream(events)));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            body.drain(switchboard_http::ERROR_BODY_LIMIT, Duration::from_secs(1)).await;
            return Ok((headers, Answer::Taken(status)));
        }
        let bytes = body.collect(self.limits.event_bytes).await.map_err(|error| link_error(&error))?;
        let answer = if media.eq_ignore_ascii_case("application/json") && is_utf8(named) {
            Answer::Document(bytes)
        } else if media.is_empty() && bytes.trim_ascii().is_empty() {
            Answer::Taken(status)
        } else if media.is_empty() && bytes.trim_ascii().starts_with(b"{") {
            // A server that does not say what it sends, and sends an object.
            Answer::Document(bytes)
        } else {
            let text = format!("{}: {}", shown(named.as_bytes()), shown(&bytes));
            return Err(LinkError::Refused { status: status.as_u16(), text });
        };
        Ok((headers, answer))
    }
}

/// These headers and those, in a map that does not have to grow. A name that is in both has the latter value.
fn with_all(base: &HeaderMap, headers: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    // The client adds a few.
    let mut all = HeaderMap::with_capacity(base.len() + headers.len() + 4);
    for (name, value) in base {
        all.append(name, value.clone());
    }
    for (name, value) in headers {
        all.insert(name, value.clone());
    }
    all
}

/// Whether a content type names no other character set than the one JSON has.
fn is_utf8(media: &str) -> bool {
    media.split(';').skip(1).filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
    })
}

/// Whether a message may be sent again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It only reads.
    Reads,
    /// It may do something.
    Never,
}

impl Again {
    /// What the method says: what only reads may be repeated, a call never.
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
        if reads { Self::Reads } else { Self::Never }
    }
}

/// The events of a stream.
pub(crate) struct Events {
    body: Body,
    decoder: Decoder,
    /// Events taken so far: now and then others get their turn.
    taken: u32,
}

/// What a stream brings.
pub(crate) enum Brought {
    /// A message, and whether the server gave it an id to come back with.
    Message(Bytes),
    /// A named event that is no message (the endpoint of 2024).
    Named(String, Bytes),
    /// A message that was too large, as far as it is known.
    Lost(Salvaged, LinkError),
}

impl Events {
    pub(crate) fn new(mut body: Body, limit: usize) -> Self {
        // Streams may be silent for long; whoever reads has a clock.
        body.set_idle_timeout(None);
        Self { body: body.with_limit(usize::MAX), decoder: Decoder::new().with_limit(limit), taken: 0 }
    }

    /// Given up when not even a comment comes for this long.
    pub(crate) fn with_idle(mut self, idle: Duration) -> Self {
        self.body.set_idle_timeout(Some(idle));
        self
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Brought>, LinkError> {
        loop {
            while let Some(item) = self.decoder.next_item() {
                self.taken = self.taken.wrapping_add(1);
                if self.taken.is_multiple_of(256) {
                    tokio::task::yield_now().await;
                }
                match item {
                    Item::Event(event) if event.data.is_empty() => {}
                    Item::Event(event) if event.name == "message" => {
                        return Ok(Some(Brought::Message(event.data)));
                    }
                    Item::Event(event) => {
                        return Ok(Some(Brought::Named(event.name.into_owned(), event.data)));
                    }
                    Item::Lost(lost) => {
                        let error = LinkError::TooLarge { limit: lost.limit };
                        return Ok(Some(Brought::Lost(lost.salvaged, error)));
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

    /// The id of the last event, to come back with.
    pub(crate) fn last_id(&self) -> Option<String> {
        self.decoder.last_id().map(str::to_owned)
    }

    /// When the server says to come back.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }
}
