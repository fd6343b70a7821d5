//! The body of an answer: a whole one, or an event stream fed while it is read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::server::sessions::SessionUse;
use crate::http::server::stream::Feed;
use crate::http::server::stream_limit::StreamPermit;

/// The body of an answer.
#[derive(Debug)]
pub struct ReplyBody {
    kind: Kind,
    /// Counted until the body is gone.
    _permit: Option<Box<StreamPermit>>,
}

enum Kind {
    Empty,
    Whole(Bytes),
    /// That of another endpoint on the same listener.
    Other(Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>),
    /// Pieces of a whole one, in order.
    Pieces([Bytes; 3]),
    Events(Reading),
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Whole(_) | Self::Pieces(_) => "Whole",
            Self::Events(_) => "Events",
            Self::Other(_) => "Other",
        })
    }
}

/// The reading end of a feed. Dropping it tells the writing end that the client is gone.
#[derive(Debug)]
struct Reading {
    feed: Arc<Feed>,
    /// The session is busy while its stream is read.
    _session: Option<SessionUse>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.feed.leave();
    }
}

impl ReplyBody {
    /// Nothing.
    pub fn empty() -> Self {
        Self { kind: Kind::Empty, _permit: None }
    }

    /// All of it at once.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { kind: Kind::Whole(bytes.into()), _permit: None }
    }

    /// As another body has it.
    pub fn other(body: impl Body<Data = Bytes, Error = Infallible> + Send + 'static) -> Self {
        Self { kind: Kind::Other(Box::pin(body)), _permit: None }
    }

    /// A whole answer whose middle is large, and is not copied to stand between the others.
    pub(crate) fn pieces(pieces: [Bytes; 3]) -> Self {
        Self { kind: Kind::Pieces(pieces), _permit: None }
    }

    pub(crate) fn events(feed: Arc<Feed>) -> Self {
        Self { kind: Kind::Events(Reading { feed, _session: None }), _permit: None }
    }

    /// The events of a session.
    pub(crate) fn events_of(feed: Arc<Feed>, session: SessionUse) -> Self {
        Self { kind: Kind::Events(Reading { feed, _session: Some(session) }), _permit: None }
    }

    /// The same body, counted as a stream that only listens.
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
            Kind::Empty => Poll::Ready(None),
            Kind::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Pieces(pieces) => {
                let next = pieces.iter_mut().find(|piece| !piece.is_empty()).map(std::mem::take);
                if pieces.iter().all(Bytes::is_empty) {
                    self.kind = Kind::Empty;
                }
                Poll::Ready(next.map(|piece| Ok(Frame::data(piece))))
            }
            Kind::Other(body) => body.as_mut().poll_frame(cx),
            Kind::Events(reading) => {
                reading.feed.poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Other(body) => body.is_end_stream(),
            Kind::Whole(_) | Kind::Pieces(_) | Kind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Pieces(pieces) => {
                SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum::<u64>())
            }
            Kind::Other(body) => body.size_hint(),
            Kind::Events(_) => SizeHint::default(),
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
