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

/// What is done when an exchange is dropped before its end.
pub(crate) type OnDrop = Box<dyn FnOnce() + Send>;

/// An exchange that runs a future: what that says comes first, its end last.
pub(crate) fn exchange(driver: BoxFuture<'static, Outcome>, emit: Emit, on_drop: Option<OnDrop>) -> Exchange {
    Exchange::Own(Box::pin(Running { driver: Some(driver), end: None, emit, on_drop }))
}

struct Running {
    driver: Option<BoxFuture<'static, Outcome>>,
    end: Option<Outcome>,
    emit: Emit,
    on_drop: Option<OnDrop>,
}

impl Flow for Running {
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
            state.waker = Some(cx.waker().clone());
        }
        if self.driver.is_some() {
            return Poll::Pending;
        }
        self.on_drop = None;
        Poll::Ready(self.end.take().unwrap_or(Err(LinkError::Closed)).map(Event::Done))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Hang up first: whatever is said next is said to somebody who listens.
        self.driver = None;
        if let Some(on_drop) = self.on_drop.take() {
            on_drop();
        }
    }
}
