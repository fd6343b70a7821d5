//! One exchange over HTTP. It runs in the task that polls it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::link::{
    BoxFuture, Exchange, ExchangeEvent, InboundNotification, LinkError, OwnedExchange, Upcall,
};

/// Messages that may wait in an exchange; beyond it the oldest notification is dropped.
const MAX_NOTES: usize = 1024;

/// The result of an exchange.
pub(crate) type Outcome = Result<Result<Raw, RpcError>, LinkError>;

/// Adds notifications, and requests of the server, to an exchange.
#[derive(Clone, Default)]
pub(crate) struct NoteSender {
    state: Arc<Mutex<NoteQueue>>,
}

#[derive(Default)]
struct NoteQueue {
    queue: VecDeque<QueuedMessage>,
    waker: Option<Waker>,
}

/// A message that waits in an exchange.
enum QueuedMessage {
    Notification(InboundNotification),
    /// A copy; the session gets it too.
    Observed(InboundNotification),
    Upcall(Upcall),
}

impl NoteSender {
    pub(crate) fn note(&self, note: InboundNotification) {
        self.push(QueuedMessage::Notification(note));
    }

    /// Adds a copy of a notification that the session gets too.
    pub(crate) fn observe(&self, note: InboundNotification) {
        self.push(QueuedMessage::Observed(note));
    }

    /// Adds a request of the server.
    pub(crate) fn upcall(&self, upcall: Upcall) {
        self.push(QueuedMessage::Upcall(upcall));
    }

    fn push(&self, message: QueuedMessage) {
        let mut state = self.state.lock();
        if state.queue.len() >= MAX_NOTES {
            let is_note = |queued: &QueuedMessage| !matches!(queued, QueuedMessage::Upcall(_));
            match state.queue.iter().position(is_note) {
                Some(oldest) => _ = state.queue.remove(oldest),
                // A server that asks a thousand questions without waiting gets no more answers.
                None => return,
            }
        }
        state.queue.push_back(message);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }
}

/// Returns an exchange that drives a future: its notifications and requests first, its outcome last. `on_drop` runs when the exchange
/// is dropped before its end.
pub(crate) fn exchange<D>(
    driver: BoxFuture<'static, Outcome>,
    notes: NoteSender,
    on_drop: Option<D>,
) -> Exchange
where
    D: FnOnce() + Send + Unpin + 'static,
{
    Exchange::Owned(Box::pin(DrivenExchange { driver: Some(driver), end: None, notes, on_drop }))
}

/// Returns an exchange that has already failed.
pub(crate) fn failed_exchange(error: LinkError) -> Exchange {
    let (notes, on_drop) = (NoteSender::default(), None::<fn()>);
    Exchange::Owned(Box::pin(DrivenExchange { driver: None, end: Some(Err(error)), notes, on_drop }))
}

/// An exchange that polls the future of its request whenever it is polled itself.
struct DrivenExchange<D: FnOnce()> {
    driver: Option<BoxFuture<'static, Outcome>>,
    end: Option<Outcome>,
    notes: NoteSender,
    on_drop: Option<D>,
}

impl<D: FnOnce() + Send + Unpin + 'static> OwnedExchange for DrivenExchange<D> {
    fn poll_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(outcome) = driver.as_mut().poll(cx)
        {
            self.driver = None;
            self.end = Some(outcome);
        }
        {
            let mut state = self.notes.state.lock();
            match state.queue.pop_front() {
                Some(QueuedMessage::Notification(note)) => {
                    return Poll::Ready(Ok(ExchangeEvent::Notification(note)));
                }
                Some(QueuedMessage::Observed(note)) => return Poll::Ready(Ok(ExchangeEvent::Observed(note))),
                Some(QueuedMessage::Upcall(upcall)) => {
                    return Poll::Ready(Ok(ExchangeEvent::Upcall(upcall)));
                }
                None => {}
            }
            let is_registered = state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            if self.driver.is_some() && !is_registered {
                state.waker = Some(cx.waker().clone());
            }
        }
        if self.driver.is_some() {
            return Poll::Pending;
        }
        self.on_drop = None;
        Poll::Ready(self.end.take().unwrap_or(Err(LinkError::Closed)).map(ExchangeEvent::Done))
    }
}

impl<D: FnOnce()> Drop for DrivenExchange<D> {
    fn drop(&mut self) {
        // Closes the connection first, so that the server sees the cancellation after it.
        self.driver = None;
        if let Some(on_drop) = self.on_drop.take() {
            on_drop();
        }
    }
}
