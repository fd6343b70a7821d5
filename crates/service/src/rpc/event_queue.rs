//! Byte-bounded queue of the events of one call. Rejected events leave a gap in the sequence numbers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

/// Events waiting for one stream. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct CallEventQueue {
    inner: Arc<QueueShared>,
}

#[derive(Debug)]
struct QueueShared {
    // Held for a push or a pop, never across an await.
    state: Mutex<CallQueueState>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct CallQueueState {
    waiting: VecDeque<Bytes>,
    bytes: usize,
    reader: Option<Waker>,
    is_closed: bool,
}

impl CallEventQueue {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { inner: Arc::new(QueueShared { state: Mutex::default(), max_bytes }) }
    }

    /// Appends text; returns false if it does not fit or the reader is gone.
    pub(crate) fn push(&self, text: Bytes) -> bool {
        let mut state = self.inner.state.lock();
        if state.is_closed || state.bytes + text.len() > self.inner.max_bytes {
            return false;
        }
        state.bytes += text.len();
        state.waiting.push_back(text);
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        true
    }

    /// Returns whether the queue is more than half full and still has a reader.
    pub(crate) fn is_behind(&self) -> bool {
        let state = self.inner.state.lock();
        !state.is_closed && state.bytes > self.inner.max_bytes / 2
    }

    /// Returns whether the reader is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.state.lock().is_closed
    }

    pub(crate) fn close(&self) {
        let mut state = self.inner.state.lock();
        state.is_closed = true;
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
