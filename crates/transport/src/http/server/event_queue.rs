//! Event queue: events that wait for one client to read its event stream. Bounded, kept alive with comments, and
//! abandoned when the client stops reading.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::http::server::budget::{Account, Budget, Holder};
use crate::http::server::client_id::ClientId;

/// Encoded events for one connection.
#[derive(Debug)]
pub(crate) struct EventQueue {
    state: Mutex<QueueState>,
    max_bytes: usize,
    /// Counts the waiting bytes against the budget.
    account: Account,
}

#[derive(Debug)]
struct QueueState {
    queue: VecDeque<Bytes>,
    bytes: usize,
    /// No event will be added any more.
    ended: bool,
    /// The client is gone.
    abandoned: bool,
    /// When the client last read, or the queue was last empty.
    last_read: Instant,
    /// When an event was last added.
    last_write: Instant,
    reader_waker: Option<Waker>,
    /// Woken when the client is gone or no longer behind.
    writer_waker: Option<Waker>,
}

impl QueueState {
    /// Drops all events. Returns the number of dropped bytes and the wakers to wake.
    fn abandon(&mut self) -> (usize, [Option<Waker>; 2]) {
        self.abandoned = true;
        self.queue.clear();
        (std::mem::take(&mut self.bytes), [self.reader_waker.take(), self.writer_waker.take()])
    }
}

/// Whether an event may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Dropped when the queue is full.
    Droppable,
    /// Never dropped alone: responses and requests.
    Required,
}

/// The backlog, in multiples of `max_bytes`, beyond which a client is abandoned: required events are never dropped alone.
const MAX_BACKLOG_FACTOR: usize = 16;

/// The largest chunk handed to a connection; from then on it is no longer counted.
const MAX_CHUNK: usize = 64 * 1024;

impl EventQueue {
    pub(crate) fn new(max_bytes: usize, budget: &Arc<Budget>, client: Option<&ClientId>) -> Arc<Self> {
        let now = Instant::now();
        let state = QueueState {
            queue: VecDeque::new(),
            bytes: 0,
            ended: false,
            abandoned: false,
            last_read: now,
            last_write: now,
            reader_waker: None,
            writer_waker: None,
        };
        Arc::new_cyclic(|queue: &std::sync::Weak<Self>| {
            let account = budget.open(client, queue.clone());
            account.set_idle();
            Self { state: Mutex::new(state), max_bytes, account }
        })
    }

    /// Adds an event. Returns false if the client is gone or the event did not fit.
    pub(crate) fn push(&self, text: Bytes, delivery: Delivery) -> bool {
        let mut state = self.state.lock();
        if state.abandoned
            || state.ended
            || (delivery == Delivery::Droppable && state.bytes + text.len() > self.max_bytes)
        {
            return false;
        }
        let added = self.account.add(text.len());
        let is_behind = state.bytes > self.max_bytes.saturating_mul(MAX_BACKLOG_FACTOR);
        // The only event of a queue is delivered whatever its size: others were evicted for it.
        let is_over = added.excess > 0 && state.bytes > 0;
        if is_behind || is_over {
            self.account.remove(text.len());
            drop(state);
            if delivery == Delivery::Required {
                // Required events of a client that reads this slowly would pile up without end.
                self.abandon();
            }
            added.evicted.release_bytes();
            return false;
        }
        if state.queue.is_empty() {
            state.last_read = Instant::now();
        }
        state.last_write = Instant::now();
        state.bytes += text.len();
        state.queue.push_back(text);
        let reader_waker = state.reader_waker.take();
        drop(state);
        added.evicted.release_bytes();
        reader_waker.inspect(Waker::wake_by_ref);
        true
    }

    /// Ends the stream after the events that wait.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let reader_waker = state.reader_waker.take();
        drop(state);
        reader_waker.inspect(Waker::wake_by_ref);
    }

    /// Drops all events because the client is gone or too slow.
    pub(crate) fn abandon(&self) {
        let mut state = self.state.lock();
        let (dropped, wakers) = state.abandon();
        self.account.remove(dropped);
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Ready when the client is gone.
    pub(crate) fn poll_abandoned(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.abandoned {
            return Poll::Ready(());
        }
        state.writer_waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns whether producers should wait before adding more.
    pub(crate) fn is_behind(&self) -> bool {
        let state = self.state.lock();
        !state.abandoned && state.bytes > self.max_bytes / 2
    }

    /// Ready when the client is no longer behind, or is gone.
    pub(crate) fn poll_not_behind(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.abandoned || state.bytes <= self.max_bytes / 2 {
            return Poll::Ready(());
        }
        state.writer_waker = Some(cx.waker().clone());
        Poll::Pending
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.lock().abandoned
    }

    /// Adds a keep-alive comment or abandons a stalled client when one is due. Called periodically by the producer.
    pub(crate) fn maintain(&self, keep_alive: Duration, stall: Duration) {
        let mut state = self.state.lock();
        if !state.queue.is_empty() && state.last_read.elapsed() >= stall {
            drop(state);
            tracing::debug!("event stream abandoned: the client stopped reading");
            self.abandon();
            self.end();
            return;
        }
        if state.queue.is_empty() && !state.ended && state.last_write.elapsed() >= keep_alive {
            state.last_write = Instant::now();
            drop(state);
            self.push(Bytes::from_static(b":\n\n"), Delivery::Droppable);
        }
    }

    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.lock();
        if let Some(first) = state.queue.front_mut() {
            let text =
                if first.len() > MAX_CHUNK { first.split_to(MAX_CHUNK) } else { std::mem::take(first) };
            if first.is_empty() {
                state.queue.pop_front();
            }
            let was_behind = state.bytes > self.max_bytes / 2;
            state.bytes -= text.len();
            state.last_read = Instant::now();
            self.account.remove_and_touch(text.len());
            if was_behind && state.bytes <= self.max_bytes / 2 {
                let writer_waker = state.writer_waker.take();
                drop(state);
                writer_waker.inspect(Waker::wake_by_ref);
            }
            return Poll::Ready(Some(text));
        }
        if state.ended || state.abandoned {
            return Poll::Ready(None);
        }
        state.reader_waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Holder for EventQueue {
    fn release_bytes(&self) {
        tracing::debug!("event stream evicted: the byte budget is exhausted");
        self.abandon();
    }
}
