//! What flows to a client as an event stream: bounded, kept alive, given up when nobody reads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::http::server::budget::{Account, Budget, Holder};
use crate::http::server::client_id::ClientId;

/// Text on its way to one connection.
#[derive(Debug)]
pub(crate) struct Feed {
    state: Mutex<State>,
    most_bytes: usize,
    /// What waits is counted here.
    account: Account,
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
    /// Woken when the reader leaves, or is no longer behind.
    writer: Option<Waker>,
}

impl State {
    /// Nobody reads any more. Returns how many bytes are dropped, and who is to be woken.
    fn leave(&mut self) -> (usize, [Option<Waker>; 2]) {
        self.left = true;
        self.queue.clear();
        (std::mem::take(&mut self.bytes), [self.reader.take(), self.writer.take()])
    }
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
const MOST_BEHIND: usize = 16;

/// The largest piece that is handed to a connection: what it has taken is no longer counted.
const PIECE: usize = 64 * 1024;

impl Feed {
    pub(crate) fn new(most_bytes: usize, budget: &Arc<Budget>, client: Option<&ClientId>) -> Arc<Self> {
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
        Arc::new_cyclic(|feed: &std::sync::Weak<Self>| {
            let account = budget.open(client, feed.clone());
            account.set_idle();
            Self { state: Mutex::new(state), most_bytes, account }
        })
    }

    /// Adds text; false when nobody reads any more, or it did not fit.
    pub(crate) fn push(&self, text: Bytes, weight: Weight) -> bool {
        let mut state = self.state.lock();
        if state.left || state.ended || (weight == Weight::Note && state.bytes + text.len() > self.most_bytes)
        {
            return false;
        }
        let added = self.account.add(text.len());
        let is_behind = state.bytes > self.most_bytes.saturating_mul(MOST_BEHIND);
        // A message that waits alone is delivered whatever its size: others have given way for it.
        let is_over = added.excess > 0 && state.bytes > 0;
        if is_behind || is_over {
            self.account.remove(text.len());
            if weight == Weight::Must {
                // What must be delivered would be kept without end for a client that reads this slowly.
                drop(state);
                self.leave();
            } else {
                drop(state);
            }
            added.evicted.give_up();
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
        added.evicted.give_up();
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
        let (dropped, wakers) = state.leave();
        self.account.remove(dropped);
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
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

    /// Ready when the reader is no longer behind, or has left.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.left || state.bytes <= self.most_bytes / 2 {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
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
        if let Some(first) = state.queue.front_mut() {
            let text = if first.len() > PIECE { first.split_to(PIECE) } else { std::mem::take(first) };
            if first.is_empty() {
                state.queue.pop_front();
            }
            let was_behind = state.bytes > self.most_bytes / 2;
            state.bytes -= text.len();
            state.taken = Instant::now();
            self.account.take(text.len());
            if was_behind && state.bytes <= self.most_bytes / 2 {
                let writer = state.writer.take();
                drop(state);
                writer.inspect(Waker::wake_by_ref);
            }
            return Poll::Ready(Some(text));
        }
        if state.ended || state.left {
            return Poll::Ready(None);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Holder for Feed {
    fn give_up(&self) {
        tracing::debug!("an event stream that is not read has been ended to make room for others");
        self.leave();
    }
}
