//! What flows to a client as an event stream: bounded, kept alive, given up when nobody reads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

/// Text on its way to one connection.
#[derive(Debug)]
pub(crate) struct Feed {
    state: Mutex<State>,
    most_bytes: usize,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Bytes>,
    bytes: usize,
    /// Nothing more will come.
    ended: bool,
    /// Nobody reads any more.
    left: bool,
    /// When the reader last took something, or there was nothing to take.
    taken: Instant,
    /// When something was last written.
    written: Instant,
    reader: Option<Waker>,
    /// Told when the reader leaves.
    writer: Option<Waker>,
}

/// Whether something fits into a full feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Dropped when the client reads too slowly.
    Note,
    /// Kept in any case: an answer, a question.
    Must,
}

/// How many times the room of a feed may wait in it: answers and questions are never dropped alone.
const MOST_BEHIND: usize = 64;

impl Feed {
    pub(crate) fn new(most_bytes: usize) -> Arc<Self> {
        let now = Instant::now();
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            ended: false,
            left: false,
            taken: now,
            written: now,
            reader: None,
            writer: None,
        };
        Arc::new(Self { state: Mutex::new(state), most_bytes })
    }

    /// Adds text; false when nobody reads any more, or it did not fit.
    pub(crate) fn push(&self, text: Bytes, weight: Weight) -> bool {
        let mut state = self.state.lock();
        if state.left || state.ended || (weight == Weight::Note && state.bytes + text.len() > self.most_bytes)
        {
            return false;
        }
        if state.bytes > self.most_bytes.saturating_mul(MOST_BEHIND) {
            // Who reads this slowly is not read to any more: what must be kept would be kept without end.
            state.left = true;
            state.queue.clear();
            state.bytes = 0;
            let wakers = [state.reader.take(), state.writer.take()];
            drop(state);
            wakers.into_iter().flatten().for_each(Waker::wake);
            return false;
        }
        if state.queue.is_empty() {
            state.taken = Instant::now();
        }
        state.written = Instant::now();
        state.bytes += text.len();
        state.queue.push_back(text);
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
        true
    }

    /// Says that nothing more will come.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let reader = state.reader.take();
        drop(state);
        reader.inspect(Waker::wake_by_ref);
    }

    /// The reader is gone.
    pub(crate) fn leave(&self) {
        let mut state = self.state.lock();
        state.left = true;
        state.queue.clear();
        let writer = state.writer.take();
        drop(state);
        writer.inspect(Waker::wake_by_ref);
    }

    /// Ready when nobody reads any more.
    pub(crate) fn poll_left(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.left {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Whether so much waits to be read that more should wait.
    pub(crate) fn is_behind(&self) -> bool {
        let state = self.state.lock();
        !state.left && state.bytes > self.most_bytes / 2
    }

    pub(crate) fn is_left(&self) -> bool {
        self.state.lock().left
    }

    /// Keeps the stream alive, or gives it up: called now and then by whoever feeds it.
    pub(crate) fn tend(&self, keep_alive: Duration, stall: Duration) {
        let mut state = self.state.lock();
        if !state.queue.is_empty() && state.taken.elapsed() >= stall {
            drop(state);
            tracing::debug!("a client has read nothing of its event stream and is given up");
            self.leave();
            self.end();
            return;
        }
        if state.queue.is_empty() && !state.ended && state.written.elapsed() >= keep_alive {
            state.written = Instant::now();
            drop(state);
            self.push(Bytes::from_static(b":\n\n"), Weight::Note);
        }
    }

    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.lock();
        if let Some(text) = state.queue.pop_front() {
            state.bytes -= text.len();
            state.taken = Instant::now();
            return Poll::Ready(Some(text));
        }
        if state.ended || state.left {
            return Poll::Ready(None);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}
