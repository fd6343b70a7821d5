//! Callers put whole frames, a flusher writes them.
//!
//! Invariant: only the flusher ever waits for the far side, so a caller that is dropped can neither lose nor tear a
//! frame, and a frame can be put from `Drop`. A frame is in the box whole or not at all.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use crate::link::{LinkError, Outlet, Part, Queue, Tap, Way};

/// How full the box may get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) frames: usize,
    pub(crate) bytes: usize,
}

/// Whether a frame counts against the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It does: a request, refused when the box is full.
    Room,
    /// It does not: an answer or a cancellation, which must not be refused.
    Exempt,
}

/// When a frame should leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// At once, as far as it goes without waiting.
    Now,
    /// With the others that are put in the same turn.
    Soon,
    /// When whoever puts it calls [`Outbox::flush_now`], which it promises to do before it waits.
    #[cfg(feature = "server")]
    Promised,
}

/// Where a frame begins in the stream of all bytes ever put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// What the flusher woke up for.
enum Work {
    Flush,
    Close,
}

pub(crate) struct Outbox {
    // A mutex of its own for each side: putting never waits for a write. Neither is held across an await.
    state: Mutex<State>,
    writer: Mutex<Writer>,
    /// How many bytes the outlet has taken.
    written: AtomicU64,
    room: Room,
    tap: Option<Tap>,
}

#[derive(Default)]
struct State {
    pending: Queue,
    /// Frames put and not yet written, those in the writer's hands included.
    frames: usize,
    put: u64,
    closed: Option<LinkError>,
    closing: bool,
    /// A write stopped half-way: the flusher has to go on with it.
    stuck: bool,
    flusher: Option<Waker>,
}

struct Writer {
    outlet: Box<dyn Outlet>,
    writing: Queue,
    frames: usize,
    /// The flusher waits for the outlet, which keeps one waker: polling it now would take the flusher's away.
    awaited: bool,
    /// The outlet has not finished with what it took.
    sending: bool,
}

impl Outbox {
    pub(crate) fn new(outlet: Box<dyn Outlet>, room: Room, tap: Option<Tap>) -> Self {
        Self {
            state: Mutex::default(),
            writer: Mutex::new(Writer {
                outlet,
                writing: Queue::default(),
                frames: 0,
                awaited: false,
                sending: false,
            }),
            written: AtomicU64::new(0),
            room,
            tap,
        }
    }

    /// Adds one frame, given in parts. Waits for nothing.
    pub(crate) fn put(&self, parts: &[Part<'_>], claim: Claim, flush: Flush) -> Result<Ticket, LinkError> {
        let len = parts.iter().map(|part| part.as_bytes().len()).sum::<usize>() + 1;
        let mut state = self.state.lock();
        if let Some(error) = &state.closed {
            return Err(error.clone().unsent());
        }
        if state.closing {
            return Err(LinkError::Closed);
        }
        if claim == Claim::Room {
            let waiting = state.put - self.written.load(Ordering::Relaxed);
            if state.frames >= self.room.frames {
                return Err(LinkError::Overloaded { what: "messages that wait to be written" });
            }
            if waiting.saturating_add(len as u64) > self.room.bytes as u64 {
                return Err(LinkError::Overloaded { what: "bytes that wait to be written" });
            }
        }
        let ticket = Ticket(state.put);
        state.pending.push(parts, len);
        state.put += len as u64;
        state.frames += 1;
        let waker = if flush == Flush::Soon { state.flusher.take() } else { None };
        drop(state);
        // Only what is really put: a frame that was refused never leaves.
        if let Some(tap) = &self.tap {
            tap.see(Way::Out, &parts.iter().flat_map(Part::as_bytes).copied().collect::<Vec<_>>());
        }
        match flush {
            Flush::Now => self.flush_now(),
            Flush::Soon => waker.into_iter().for_each(Waker::wake),
            #[cfg(feature = "server")]
            Flush::Promised => {}
        }
        Ok(ticket)
    }

    /// Whether any byte of the frame may have left.
    pub(crate) fn has_left(&self, ticket: Ticket) -> bool {
        ticket.0 < self.written.load(Ordering::Acquire)
    }

    /// Whether nothing that waits will ever leave.
    #[cfg(feature = "server")]
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().closed.is_some()
    }

    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.state.lock().put - self.written.load(Ordering::Relaxed)
    }

    /// Writes what has gathered, as far as it goes without waiting; the flusher does the rest.
    pub(crate) fn flush_now(&self) {
        let mut writer = self.writer.lock();
        if writer.awaited {
            return;
        }
        let done = self.poll_flush(&mut writer, &mut Context::from_waker(Waker::noop()));
        drop(writer);
        let mut state = self.state.lock();
        match done {
            Poll::Ready(Ok(())) => return,
            Poll::Ready(Err(error)) => _ = state.closed.get_or_insert(error),
            Poll::Pending => state.stuck = true,
        }
        let waker = state.flusher.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    /// Writes out what is there, then says to the far side that nothing more will come.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        let waker = state.flusher.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    /// The flusher: runs until the box is closed or the far side can no longer be written to.
    pub(crate) async fn run(self: Arc<Self>, stall: Duration) -> LinkError {
        loop {
            let work = poll_fn(|cx| self.poll_work(cx)).await;
            if let Work::Flush = work {
                // Everyone who is ready puts first; then one system call writes it all.
                tokio::task::yield_now().await;
            }
            if let Err(error) = self.flush(stall).await {
                self.state.lock().closed.get_or_insert_with(|| error.clone());
                return error;
            }
            if let Work::Close = work {
                let closed =
                    tokio::time::timeout(stall, poll_fn(|cx| self.writer.lock().outlet.poll_close(cx))).await;
                self.state.lock().closed = Some(LinkError::Closed);
                return match closed {
                    Ok(Err(error)) => error,
                    Ok(Ok(())) | Err(_) => LinkError::Closed,
                };
            }
        }
    }

    /// Writes until nothing is left; an error when the far side took not one byte for as long as `stall`.
    async fn flush(&self, stall: Duration) -> Result<(), LinkError> {
        let mut patience = pin!(tokio::time::sleep(stall));
        let mut before = self.written.load(Ordering::Relaxed);
        poll_fn(|cx| {
            {
                let mut writer = self.writer.lock();
                let done = self.poll_flush(&mut writer, cx);
                writer.awaited = done.is_pending();
                if done.is_ready() {
                    return done;
                }
            }
            let written = self.written.load(Ordering::Relaxed);
            if written > before {
                before = written;
                patience.set(tokio::time::sleep(stall));
            }
            patience.as_mut().poll(cx).map(|()| {
                self.writer.lock().awaited = false;
                Err(LinkError::lost(format!("the peer has read nothing for {stall:?}")))
            })
        })
        .await
    }

    fn poll_work(&self, cx: &mut Context<'_>) -> Poll<Work> {
        let mut state = self.state.lock();
        if !state.pending.is_empty() || std::mem::take(&mut state.stuck) || state.closed.is_some() {
            return Poll::Ready(Work::Flush);
        }
        if state.closing {
            return Poll::Ready(Work::Close);
        }
        state.flusher = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_flush(&self, writer: &mut Writer, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let Writer { outlet, writing, frames, sending, .. } = writer;
        loop {
            // An outlet may have taken all there was and still be on its way with it.
            if writing.is_empty() && !*sending {
                let mut state = self.state.lock();
                if let Some(error) = &state.closed {
                    return Poll::Ready(Err(error.clone()));
                }
                state.frames -= std::mem::take(frames);
                if state.pending.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                *frames = state.frames;
                writing.append(&mut state.pending);
            }
            let before = writing.len();
            let sent = outlet.poll_send(cx, writing);
            *sending = sent.is_pending();
            self.written.fetch_add((before - writing.len()) as u64, Ordering::Release);
            match sent {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}
