//! The body of an answer: a whole one, or an event stream fed while it is read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::http::server::stream::Feed;

/// The body of an answer.
#[derive(Debug)]
pub struct ReplyBody {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Empty,
    Whole(Bytes),
    Events(Reading),
}

/// The reading end of a feed. Dropping it tells the writing end that the client is gone.
#[derive(Debug)]
struct Reading(Arc<Feed>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl ReplyBody {
    pub(crate) fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { kind: Kind::Whole(bytes.into()) }
    }

    pub(crate) fn events(feed: Arc<Feed>) -> Self {
        Self { kind: Kind::Events(Reading(feed)) }
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
            Kind::Events(reading) => {
                reading.0.poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.kind, Kind::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}
