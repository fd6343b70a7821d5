//! Streaming response bodies, with limits and decompression.
//!
//! Invariants: waiting for bytes has a timeout; limits count decompressed bytes and are checked before bytes are kept;
//! dropping a body that has not ended ends the exchange (over HTTP/1.1 the connection closes, over HTTP/2 the stream
//! is reset). After an error there is nothing more.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, HeaderMap};
use http::response::Parts;
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::error::{HttpError, TimeoutPhase};
use crate::gzip::{Gunzip, GunzipStep};
use crate::pool::Lease;
use crate::sanitize::printable;

/// The maximum number of bytes read from the body of an error response.
pub const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// The body of a response.
pub struct Body {
    /// `None` once it has ended.
    incoming: Option<Incoming>,
    /// The connection to return to the pool, if it can be reused.
    lease: Option<Lease>,
    gunzip: Option<Box<Gunzip>>,
    idle: IdleTimer,
    limit: Option<usize>,
    read_bytes: usize,
}

/// The first bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyPrefix {
    /// The bytes.
    pub bytes: Bytes,
    /// Whether there was more.
    pub cut: bool,
}

impl Body {
    /// Splits a response into its head and body.
    pub(crate) fn new(
        response: http::Response<Incoming>,
        idle: Option<Duration>,
        lease: Option<Lease>,
    ) -> Result<(Parts, Self), HttpError> {
        let (head, incoming) = response.into_parts();
        let gunzip = if is_gzip(&head.headers)? { Some(Box::new(Gunzip::new())) } else { None };
        let idle = IdleTimer { after: idle, timer: None, armed: false };
        let mut body = Self { incoming: Some(incoming), lease, gunzip, idle, limit: None, read_bytes: 0 };
        body.check_end();
        Ok((head, body))
    }

    /// Fails with [`HttpError::TooLarge`] beyond this many bytes, after decompression.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets how long to wait for further bytes from now on; `None` waits forever.
    pub fn set_idle_timeout(&mut self, idle: Option<Duration>) {
        self.idle = IdleTimer { after: idle, timer: None, armed: false };
    }

    /// Returns the next bytes, never empty, or `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks, the idle timeout passes, decompression fails, or the limit is exceeded.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let next = ready!(self.poll_decoded(cx));
        let next = next.map(|chunk| {
            let chunk = chunk?;
            self.read_bytes = self.read_bytes.saturating_add(chunk.len());
            match self.limit {
                Some(limit) if self.read_bytes > limit => Err(HttpError::TooLarge { limit }),
                _ => Ok(chunk),
            }
        });
        match &next {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.incoming = None,
            None => self.end(),
        }
        Poll::Ready(next)
    }

    /// Returns the next bytes, never empty, or `None` at the end.
    ///
    /// # Errors
    /// As [`Body::poll_chunk`].
    ///
    /// # Cancellation
    /// Nothing is lost when the future is dropped.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, HttpError>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// Returns the whole body, if it is no larger than `limit`.
    ///
    /// # Errors
    /// As [`Body::poll_chunk`]; at once when the server announces more.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, HttpError> {
        let announced = self.incoming.as_ref().map(|body| body.size_hint().lower()).unwrap_or_default();
        if self.gunzip.is_none() && usize::try_from(announced).map_or(true, |announced| announced > limit) {
            return Err(HttpError::TooLarge { limit });
        }
        self.limit = Some(self.limit.unwrap_or(limit).min(limit));
        let Some(first) = self.chunk().await.transpose()? else { return Ok(Bytes::new()) };
        // Most bodies arrive in one chunk and are not copied.
        let Some(second) = self.chunk().await.transpose()? else { return Ok(first) };
        let mut all = BytesMut::from(first);
        all.extend_from_slice(&second);
        while let Some(chunk) = self.chunk().await.transpose()? {
            all.extend_from_slice(&chunk);
        }
        Ok(all.freeze())
    }

    /// Returns at most `limit` bytes of the body; the rest is not read. For the text of an error, see [`ERROR_BODY_LIMIT`].
    ///
    /// Returns what was received before a failure: even a truncated error text is useful.
    pub async fn prefix(mut self, limit: usize) -> BodyPrefix {
        let mut bytes = BytesMut::new();
        loop {
            match self.chunk().await {
                Some(Ok(chunk)) if chunk.len() <= limit - bytes.len() => bytes.extend_from_slice(&chunk),
                Some(Ok(chunk)) => {
                    bytes.extend_from_slice(&chunk[..limit - bytes.len()]);
                    return BodyPrefix { bytes: bytes.freeze(), cut: true };
                }
                Some(Err(_)) => return BodyPrefix { bytes: bytes.freeze(), cut: true },
                None => return BodyPrefix { bytes: bytes.freeze(), cut: false },
            }
        }
    }

    /// Discards the rest of the body, so that the connection can be reused; gives up beyond
    /// the limit, or when more does not come in time.
    pub async fn drain(mut self, limit: usize, within: Duration) {
        let mut left = limit;
        let reading = async {
            while let Some(Ok(chunk)) = self.chunk().await {
                match left.checked_sub(chunk.len()) {
                    Some(less) => left = less,
                    None => return,
                }
            }
        };
        let _ = tokio::time::timeout(within, reading).await;
    }

    /// Ends the body early if its length was announced and all bytes have arrived.
    fn check_end(&mut self) {
        if self.incoming.as_ref().is_some_and(http_body::Body::is_end_stream) {
            self.end();
        }
    }

    /// Marks the body as read to its end, and returns the connection to the pool.
    fn end(&mut self) {
        self.incoming = None;
        if let Some(lease) = self.lease.take() {
            lease.give_back();
        }
    }

    fn poll_decoded(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        loop {
            if let Some(gunzip) = &mut self.gunzip {
                match gunzip.step() {
                    Ok(GunzipStep::Out(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                    Ok(GunzipStep::NeedsInput) => {}
                    Err(error) => return Poll::Ready(Some(Err(HttpError::protocol(error.to_string())))),
                }
            }
            match (ready!(self.poll_raw(cx)), &mut self.gunzip) {
                (Some(Ok(chunk)), _) if chunk.is_empty() => {}
                (Some(Ok(chunk)), Some(gunzip)) => gunzip.feed(chunk),
                (None, Some(gunzip)) if !gunzip.may_end() => {
                    return Poll::Ready(Some(Err(HttpError::Broken { sent: true, source: None })));
                }
                (other, _) => return Poll::Ready(other),
            }
        }
    }

    /// Returns the next bytes before decompression. Trailers are ignored.
    fn poll_raw(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
        loop {
            match Pin::new(&mut *incoming).poll_frame(cx) {
                Poll::Ready(frame) => {
                    self.idle.armed = false;
                    return Poll::Ready(match frame {
                        Some(Ok(frame)) => match frame.into_data() {
                            Ok(data) => {
                                self.check_end();
                                Some(Ok(data))
                            }
                            Err(_) => continue,
                        },
                        Some(Err(error)) => {
                            Some(Err(HttpError::Broken { sent: true, source: Some(Arc::new(error)) }))
                        }
                        None => None,
                    });
                }
                Poll::Pending => return self.idle.poll(cx).map(|error| Some(Err(error))),
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.incoming = None;
        if let Some(lease) = self.lease.take() {
            lease.abandon();
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("read_bytes", &self.read_bytes)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The idle timeout. It runs only while the body is polled without data, so a slow reader does not trigger it.
struct IdleTimer {
    after: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    armed: bool,
}

impl IdleTimer {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        let Some(after) = self.after else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(after)));
        if !self.armed {
            timer.as_mut().reset(Instant::now() + after);
            self.armed = true;
        }
        timer.as_mut().poll(cx).map(|()| HttpError::Timeout { phase: TimeoutPhase::Body, after })
    }
}

/// Returns whether the body is gzip, the only coding that was offered.
fn is_gzip(headers: &HeaderMap) -> Result<bool, HttpError> {
    let mut is_gzip = false;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().unwrap_or("?").split(',').map(str::trim) {
            match name.to_ascii_lowercase().as_str() {
                "" | "identity" => {}
                "gzip" | "x-gzip" if !is_gzip => is_gzip = true,
                _ => {
                    let reason =
                        format!("the body is packed as `{}`, which was not offered", printable(name));
                    return Err(HttpError::protocol(reason));
                }
            }
        }
    }
    Ok(is_gzip)
}
