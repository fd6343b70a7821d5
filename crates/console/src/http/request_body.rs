//! Reading of request bodies, with limits of size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::BodyExt as _;

use crate::api::BodyKind;
use crate::contract::ApiError;

/// How long a client may send nothing.
const STALL: Duration = Duration::from_secs(10);
/// How long a whole body may take.
const TOTAL: Duration = Duration::from_secs(60);

/// The limit of a token exchange, which needs no key.
pub(super) const TOKEN_BYTES: usize = 4 * 1024;

/// Returns how many bytes a body may have.
pub(super) fn max_bytes(kind: BodyKind) -> usize {
    match kind {
        BodyKind::Json => 4 * 1024 * 1024,
        BodyKind::Recording => 64 * 1024 * 1024,
    }
}

/// Checks the content type. A page of another origin cannot send these types without asking first.
///
/// # Errors
/// `415 content_type`.
pub(super) fn check_content_type(headers: &HeaderMap, kind: BodyKind) -> Result<(), ApiError> {
    let expected = match kind {
        BodyKind::Json => "application/json",
        BodyKind::Recording => "application/octet-stream",
    };
    let mut types = headers.get_all(CONTENT_TYPE).into_iter();
    let media =
        types.next().and_then(|value| value.to_str().ok()).map(|text| text.split(';').next().unwrap_or(text));
    if types.next().is_none() && media.is_some_and(|media| media.trim().eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    let message = format!("the content type is not `{expected}`");
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message))
}

/// Reads a body.
///
/// # Errors
/// `413 too_large`, `408 timeout`, `400 invalid_request` if the connection fails.
pub(super) async fn read_body<B>(headers: &HeaderMap, body: B, max: usize) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let read = tokio::time::timeout(TOTAL, read_frames(body, max));
    read.await.unwrap_or_else(|_| Err(too_slow(TOTAL)))
}

async fn read_frames<B>(mut body: B, max: usize) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut bytes = BytesMut::new();
    loop {
        let frame = tokio::time::timeout(STALL, body.frame()).await.map_err(|_| too_slow(STALL))?;
        let Some(frame) = frame else { return Ok(bytes.freeze()) };
        let frame = frame.map_err(|_| ApiError::bad_request("invalid_request", "the body is incomplete"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Err(too_large(max));
        }
        bytes.extend_from_slice(&data);
    }
}

fn too_large(max: usize) -> ApiError {
    let message = format!("the body is larger than {max} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} s", limit.as_secs());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http_body::Frame;

    use super::*;

    /// Sends one byte at a time, with a pause before each.
    struct SlowBody {
        pause: Duration,
        sleep: Pin<Box<tokio::time::Sleep>>,
    }

    impl SlowBody {
        fn new(pause: Duration) -> Self {
            Self { pause, sleep: Box::pin(tokio::time::sleep(pause)) }
        }
    }

    impl Body for SlowBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            std::task::ready!(self.sleep.as_mut().poll(cx));
            self.sleep = Box::pin(tokio::time::sleep(self.pause));
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_ends_after_a_while() {
        for (pause, limit) in [(11, STALL), (9, TOTAL)] {
            let start = tokio::time::Instant::now();
            let body = SlowBody::new(Duration::from_secs(pause));
            let error = read_body(&HeaderMap::new(), body, 1024).await.unwrap_err();
            assert_eq!((error.status, error.code.as_str()), (StatusCode::REQUEST_TIMEOUT, "timeout"));
            assert_eq!(start.elapsed().as_secs(), limit.as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_without_a_length_is_limited() {
        let body = SlowBody::new(Duration::from_millis(1));
        let error = read_body(&HeaderMap::new(), body, 100).await.unwrap_err();
        assert_eq!(error.code, "too_large");
    }
}
