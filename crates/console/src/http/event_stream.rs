//! The event stream: text of the log, comments that keep it alive, and its end.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::{Body, Frame};
use switchboard_transport::http::server::ReplyBody;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::access_keys::AccessKeys;
use super::reply::{Reply, reply};
use crate::contract::ApiError;
use crate::events::EventReader;

/// Streams at a time.
const STREAMS: usize = 16;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The streams of a console.
#[derive(Debug)]
pub(super) struct EventStreams {
    permits: Arc<Semaphore>,
    closed: watch::Sender<bool>,
}

impl EventStreams {
    pub(super) fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(STREAMS)), closed: watch::Sender::new(false) }
    }

    /// Ends all streams, and those that are opened later.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Opens a stream. It ends with its key, too.
    ///
    /// # Errors
    /// `429 too_many_streams`.
    pub(super) fn open(
        &self,
        reader: EventReader,
        keys: Arc<AccessKeys>,
        key: String,
    ) -> Result<Reply, ApiError> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| {
            let message = format!("{STREAMS} pages read events already");
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", message)
                .with_next_step("Close other tabs of the console.")
        })?;
        let source = EventSource { reader, keys, key, closed: self.closed.subscribe(), _permit: permit };
        let body = EventStreamBody { next: Box::pin(source.start()) };
        Ok(stream_reply(ReplyBody::boxed(body)))
    }
}

/// Returns the head of a stream with this body.
pub(super) fn stream_reply(body: ReplyBody) -> Reply {
    let mut reply = reply(StatusCode::OK, "text/event-stream", body);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

/// Returns the number in `Last-Event-ID`.
///
/// # Errors
/// `400 invalid_request` if it is not a number.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let invalid =
        || ApiError::bad_request("invalid_request", "`Last-Event-ID` is not the number of an event");
    number.and_then(|text| text.parse().ok()).map(Some).ok_or_else(invalid)
}

/// Where the text of a stream comes from.
struct EventSource {
    reader: EventReader,
    keys: Arc<AccessKeys>,
    key: String,
    closed: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
}

impl EventSource {
    /// Returns a comment, so that the client sees that the stream is open.
    async fn start(self) -> Option<(Self, Bytes)> {
        Some((self, Bytes::from_static(b": open\n\n")))
    }

    /// Waits for the next text.
    async fn next(mut self) -> Option<(Self, Bytes)> {
        let text = tokio::select! {
            biased;
            _ = self.closed.wait_for(|closed| *closed) => None,
            text = self.reader.next() => text,
            () = tokio::time::sleep(KEEP_ALIVE) => Some(Bytes::from_static(b": keep-alive\n\n")),
        }?;
        self.keys.is_valid(&self.key, Instant::now()).then_some((self, text))
    }
}

type NextText = Pin<Box<dyn Future<Output = Option<(EventSource, Bytes)>> + Send>>;

/// The body of a stream. The next text is fetched when the connection has room: a slow reader falls behind in the log.
struct EventStreamBody {
    next: NextText,
}

impl Body for EventStreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match std::task::ready!(self.next.as_mut().poll(cx)) {
            Some((source, text)) => {
                self.next = Box::pin(source.next());
                Poll::Ready(Some(Ok(Frame::data(text))))
            }
            None => {
                self.next = Box::pin(std::future::ready(None));
                Poll::Ready(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use tokio::time::timeout;

    use super::*;
    use crate::contract::ConsoleEvent;
    use crate::events::EventLog;
    use crate::http::KeyLimits;

    struct OpenStream {
        log: EventLog,
        streams: EventStreams,
        body: ReplyBody,
    }

    impl OpenStream {
        fn open(limits: KeyLimits) -> Self {
            let (keys, now) = (Arc::new(AccessKeys::new(limits)), Instant::now());
            let token = keys.create_token(now).unwrap();
            let key = keys.exchange(&token, now).unwrap().unwrap();
            let (log, streams) = (EventLog::default(), EventStreams::new());
            let body = streams.open(log.reader(None), keys, key).unwrap().into_body();
            Self { log, streams, body }
        }

        /// Returns the next text; `None` at the end.
        async fn next(&mut self) -> Option<String> {
            let frame = timeout(Duration::from_secs(3600), self.body.frame()).await.expect("text in time")?;
            Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive() {
        let mut stream = OpenStream::open(KeyLimits::default());
        assert_eq!(stream.next().await.unwrap(), ": open\n\n");
        let start = tokio::time::Instant::now();
        for _ in 0..3 {
            assert_eq!(stream.next().await.unwrap(), ": keep-alive\n\n");
        }
        assert_eq!(start.elapsed().as_secs(), 45);
        stream.log.publish(ConsoleEvent::LoginsChanged);
        assert_eq!(stream.next().await.unwrap(), "id: 1\ndata: {\"type\":\"loginsChanged\"}\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_a_gap_and_no_buffer() {
        let mut stream = OpenStream::open(KeyLimits::default());
        stream.next().await.unwrap();
        for number in 0..10_000 {
            stream.log.publish(ConsoleEvent::ServerRemoved { name: format!("server {number}") });
        }
        let gap = stream.next().await.unwrap();
        assert_eq!(gap, "id: 5904\ndata: {\"type\":\"gap\",\"lost\":5904}\n\n");
        let rest = stream.next().await.unwrap();
        assert!(rest.starts_with("id: 5905\n") && rest.len() <= 256 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_its_key() {
        let mut stream = OpenStream::open(KeyLimits { key_idle: Duration::ZERO, ..KeyLimits::default() });
        stream.next().await.unwrap();
        stream.log.publish(ConsoleEvent::LoginsChanged);
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_ends_streams() {
        let mut stream = OpenStream::open(KeyLimits::default());
        stream.next().await.unwrap();
        stream.streams.close();
        assert_eq!(stream.next().await, None);
    }
}
