//! One exchange over HTTP, running in the task of whoever waits for it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::link::{BoxFuture, Event, Exchange, Flow, LinkError, Note};

/// Notes that may wait for whoever holds the exchange; the oldest gives way.
const MOST_NOTES: usize = 1024;

/// How an exchange ends.
pub(crate) type Outcome = Result<Result<Raw, RpcError>, LinkError>;

/// Says things on an exchange.
#[derive(Clone, Default)]
pub(crate) struct Emit {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    notes: VecDeque<Note>,
    waker: Option<Waker>,
}

impl Emit {
    pub(crate) fn note(&self, note: Note) {
        let mut state = self.state.lock();
        if state.notes.len() == MOST_NOTES {
            state.notes.pop_front();
        }
        state.notes.push_back(note);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }
}

/// An exchange that runs a future: what that says comes first, its end last. `on_drop` is done when it is dropped before
/// its end.
pub(crate) fn exchange<D>(driver: BoxFuture<'static, Outcome>, emit: Emit, on_drop: Option<D>) -> Exchange
where
    D: FnOnce() + Send + Unpin + 'static,
{
    Exchange::Own(Box::pin(Running { driver: Some(driver), end: None, emit, on_drop }))
}

/// An exchange that has failed already.
pub(crate) fn failed(error: LinkError) -> Exchange {
    let (emit, on_drop) = (Emit::default(), None::<fn()>);
    Exchange::Own(Box::pin(Running { driver: None, end: Some(Err(error)), emit, on_drop }))
}

struct Running<D: FnOnce()> {
    driver: Option<BoxFuture<'static, Outcome>>,
    end: Option<Outcome>,
    emit: Emit,
    on_drop: Option<D>,
}

impl<D: FnOnce() + Send + Unpin + 'static> Flow for Running<D> {
    fn poll_event(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(outcome) = driver.as_mut().poll(cx)
        {
            self.driver = None;
            self.end = Some(outcome);
        }
        {
            let mut state = self.emit.state.lock();
            if let Some(note) = state.notes.pop_front() {
                return Poll::Ready(Ok(Event::Note(note)));
            }
            let is_known = state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            if self.driver.is_some() && !is_known {
                state.waker = Some(cx.waker().clone());
            }
        }
        if self.driver.is_some() {
            return Poll::Pending;
        }
        self.on_drop = None;
        Poll::Ready(self.end.take().unwrap_or(Err(LinkError::Closed)).map(Event::Done))
    }
}

impl<D: FnOnce()> Drop for Running<D> {
    fn drop(&mut self) {
        // Hang up first: whatever is said next is said to somebody who listens.
        self.driver = None;
        if let Some(on_drop) = self.on_drop.take() {
            on_drop();
        }
    }
}
