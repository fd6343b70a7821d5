//! A running method of a request.
//!
//! Hot path: polled once before it is boxed, because most methods complete on the first poll.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use switchboard_design::Error;
use switchboard_session::server::{HandlerOutcome, Reply};

use super::logging::Logged;
use crate::CallFuture;

/// A running method, and the conversion of its outcome to a reply.
pub(crate) struct Running<T, F> {
    work: CallFuture<T>,
    answer: Option<F>,
    log: Option<Logged>,
    span: tracing::Span,
    within: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl<T, F> Running<T, F>
where
    T: 'static,
    F: FnOnce(Result<T, Error>) -> Reply + Send + Unpin + 'static,
{
    pub(crate) fn new(work: CallFuture<T>, log: Option<Logged>, span: tracing::Span, answer: F) -> Self {
        Self { work, answer: Some(answer), log, span, within: None }
    }

    /// Sets a timeout.
    pub(crate) fn within(mut self, timeout: Option<Duration>) -> Self {
        self.within = timeout.map(|timeout| Box::pin(tokio::time::sleep(timeout)));
        self
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
        let outcome = match this.work.as_mut().poll(cx) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => {
                let late = this.within.as_mut().is_some_and(|within| within.as_mut().poll(cx).is_ready());
                if !late {
                    return Poll::Pending;
                }
                Err(Error::Timeout)
            }
        };
        let Some(answer) = this.answer.take() else { return Poll::Pending };
        let reply = answer(outcome);
        if let Some(log) = this.log.take() {
            log.end(&reply);
        }
        Poll::Ready(reply)
    }
}
