//! A running method of a request.
//!
//! Hot path: polled once before it is boxed, because most methods complete on the first poll.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use switchboard_design::Error;
use switchboard_session::server::{HandlerOutcome, Reply};

use crate::CallFuture;

/// A running method, and the conversion of its outcome to a reply.
pub(crate) struct Running<T, F> {
    work: CallFuture<T>,
    answer: Option<F>,
    span: tracing::Span,
}

impl<T, F> Running<T, F>
where
    T: 'static,
    F: FnOnce(Result<T, Error>) -> Reply + Send + Unpin + 'static,
{
    pub(crate) fn new(work: CallFuture<T>, span: tracing::Span, answer: F) -> Self {
        Self { work, answer: Some(answer), span }
    }

    /// Polls once; returns the reply if it is ready.
    pub(crate) fn handled(self) -> HandlerOutcome {
        let mut running = self;
        match Pin::new(&mut running).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => HandlerOutcome::Now(reply),
            Poll::Pending => HandlerOutcome::Later(Box::pin(running)),
        }
    }
}

impl<T, F> Future for Running<T, F>
where
    F: FnOnce(Result<T, Error>) -> Reply + Unpin,
{
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let this = &mut *self;
        let _entered = this.span.enter();
        let Poll::Ready(outcome) = this.work.as_mut().poll(cx) else { return Poll::Pending };
        let Some(answer) = this.answer.take() else { return Poll::Pending };
        Poll::Ready(answer(outcome))
    }
}
