//! The future of a method call that answers a request.
//!
//! Hot path: polled once before it is boxed, because most methods complete on the first poll.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use switchboard_design::Error;
use switchboard_session::server::{HandlerOutcome, Reply};

use crate::CallFuture;

/// Runs a method and converts its outcome to a reply, in the span of the request.
pub(crate) struct MethodFuture<T, F> {
    work: CallFuture<T>,
    into_reply: Option<F>,
    span: tracing::Span,
}

impl<T, F> MethodFuture<T, F>
where
    T: 'static,
    F: FnOnce(Result<T, Error>) -> Reply + Send + Unpin + 'static,
{
    pub(crate) fn new(work: CallFuture<T>, span: tracing::Span, into_reply: F) -> Self {
        Self { work, into_reply: Some(into_reply), span }
    }

    /// Polls once: [`HandlerOutcome::Now`] if the reply is ready, else [`HandlerOutcome::Later`].
    pub(crate) fn into_outcome(self) -> HandlerOutcome {
        let mut future = self;
        match Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reply) => HandlerOutcome::Now(reply),
            Poll::Pending => HandlerOutcome::Later(Box::pin(future)),
        }
    }
}

impl<T, F> Future for MethodFuture<T, F>
where
    F: FnOnce(Result<T, Error>) -> Reply + Unpin,
{
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let this = &mut *self;
        let _entered = this.span.enter();
        let Poll::Ready(outcome) = this.work.as_mut().poll(cx) else { return Poll::Pending };
        let Some(into_reply) = this.into_reply.take() else { return Poll::Pending };
        Poll::Ready(into_reply(outcome))
    }
}
