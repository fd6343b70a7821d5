//! Response bodies: complete, or an event stream that is filled while the client reads.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::server::event_queue::EventQueue;
use crate::http::server::sessions::SessionUse;
use crate::http::server::stream_limit::StreamPermit;

/// The body of a response.
#[derive(Debug)]
pub struct ReplyBody {
    kind: BodyKind,
    /// Counts the stream against its limit until the body is dropped.
    _permit: Option<Box<StreamPermit>>,
}

enum BodyKind {
    Empty,
    Whole(Bytes),
    /// The body of another endpoint on the same listener.
    Other(Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>),
    /// A complete body in several pieces, in order.
    Pieces([Bytes; 3]),
    Events(EventReader),
}

impl std::fmt::Debug for BodyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Whole(_) | Self::Pieces(_) => "Whole",
            Self::Events(_) => "Events",
            Self::Other(_) => "Other",
        })
    }
}

/// The reading end of an event queue. Dropping it signals to the writer that the client disconnected.
#[derive(Debug)]
struct EventReader {
    queue: Arc<EventQueue>,
    /// The session is busy while its stream is read.
    _session: Option<SessionUse>,
}

impl Drop for EventReader {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

impl ReplyBody {
    /// Returns an empty body.
    pub fn empty() -> Self {
        Self { kind: BodyKind::Empty, _permit: None }
    }

    /// Returns a body of these bytes.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self { kind: BodyKind::Whole(bytes.into()), _permit: None }
    }

    /// Wraps another body.
    pub fn boxed(body: impl Body<Data = Bytes, Error = Infallible> + Send + 'static) -> Self {
        Self { kind: BodyKind::Other(Box::pin(body)), _permit: None }
    }

    /// Returns a complete body whose middle piece is large and therefore not copied.
    pub(crate) fn pieces(pieces: [Bytes; 3]) -> Self {
        Self { kind: BodyKind::Pieces(pieces), _permit: None }
    }

    pub(crate) fn events(queue: Arc<EventQueue>) -> Self {
        Self { kind: BodyKind::Events(EventReader { queue, _session: None }), _permit: None }
    }

    /// Returns a body that streams the events of a session and keeps the session busy.
    pub(crate) fn events_of(queue: Arc<EventQueue>, session: SessionUse) -> Self {
        Self { kind: BodyKind::Events(EventReader { queue, _session: Some(session) }), _permit: None }
    }

    /// Counts the body as a listening stream.
    pub(crate) fn with_permit(mut self, permit: Option<StreamPermit>) -> Self {
        self._permit = permit.map(Box::new);
        self
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.kind {
            BodyKind::Empty => Poll::Ready(None),
            BodyKind::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = BodyKind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            BodyKind::Pieces(pieces) => {
                let next = pieces.iter_mut().find(|piece| !piece.is_empty()).map(std::mem::take);
                if pieces.iter().all(Bytes::is_empty) {
                    self.kind = BodyKind::Empty;
                }
                Poll::Ready(next.map(|piece| Ok(Frame::data(piece))))
            }
            BodyKind::Other(body) => body.as_mut().poll_frame(cx),
            BodyKind::Events(reader) => {
                reader.queue.poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Empty => true,
            BodyKind::Other(body) => body.is_end_stream(),
            BodyKind::Whole(_) | BodyKind::Pieces(_) | BodyKind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Empty => SizeHint::with_exact(0),
            BodyKind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyKind::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum::<u64>())
            }
            BodyKind::Other(body) => body.size_hint(),
            BodyKind::Events(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn pieces_come_in_order_and_their_length_is_known() {
        let mut body = ReplyBody::pieces(["a".into(), "bc".into(), "d".into()]);
        assert_eq!(body.size_hint().exact(), Some(4));
        let mut text = Vec::new();
        while !body.is_end_stream() {
            let next = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready(Some(Ok(frame))) = next else { panic!("{next:?}") };
            text.extend_from_slice(&frame.into_data().unwrap());
        }
        assert_eq!(text, b"abcd");
    }
}
