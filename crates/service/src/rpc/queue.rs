//! Events of one call on their way to its stream: bounded by bytes, those beyond it missing by their number.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

/// What waits for one stream. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // A std-like mutex: held for a push or a pop, never across an await.
    state: Mutex<State>,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Bytes>,
    bytes: usize,
    reader: Option<Waker>,
    is_left: bool,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { inner: Arc::new(Inner { state: Mutex::default(), most_bytes }) }
    }

    /// Adds text; false when it does not fit or nobody reads any more.
    pub(crate) fn push(&self, text: Bytes) -> bool {
        let mut state = self.inner.state.lock();
        if state.is_left || state.bytes + text.len() > self.inner.most_bytes {
            return false;
        }
        state.bytes += text.len();
        state.waiting.push_back(text);
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        true
    }

    /// Whether it is half full, and somebody still reads.
    pub(crate) fn is_behind(&self) -> bool {
        let state = self.inner.state.lock();
        !state.is_left && state.bytes > self.inner.most_bytes / 2
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_left(&self) -> bool {
        self.inner.state.lock().is_left
    }

    pub(crate) fn leave(&self) {
        let mut state = self.inner.state.lock();
        state.is_left = true;
        state.waiting.clear();
    }

    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Bytes> {
        let mut state = self.inner.state.lock();
        match state.waiting.pop_front() {
            Some(text) => {
                state.bytes -= text.len();
                Poll::Ready(text)
            }
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
