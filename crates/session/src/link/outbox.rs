//! Callers put whole frames, a flusher writes them.
//!
//! Invariant: only the flusher ever waits for the far side, so a caller that is dropped can neither lose nor tear a
//! frame, and a frame can be put from `Drop`. A frame is in the box whole or not at all.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use crate::link::{Direction, LinkError, Outlet, Part, Queue, Tap};

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
    /// Whether somebody waits for bytes to be written: the state is looked at after a write only then.
    is_watched: AtomicBool,
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
    /// Who waits for bytes to be written, or for the end.
    watchers: Vec<Waker>,
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
            is_watched: AtomicBool::new(false),
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
            tap.see(Direction::Out, &parts.iter().flat_map(Part::as_bytes).copied().collect::<Vec<_>>());
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
        self.wake_watchers();
    }

    /// Waits until at most so many bytes wait, or nothing that waits will ever leave.
    #[cfg(feature = "server")]
    pub(crate) async fn written_down_to(&self, most: u64) {
        self.watch(|waiting, is_closed| waiting <= most || is_closed).await;
    }

    /// Waits until nothing more is written: the far side was told of the end, or cannot be.
    pub(crate) async fn ended(&self) {
        self.watch(|_, is_closed| is_closed).await;
    }

    async fn watch(&self, is_done: impl Fn(u64, bool) -> bool) {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            // Before the look: a write that it misses sees this.
            self.is_watched.store(true, Ordering::SeqCst);
            let waiting = state.put - self.written.load(Ordering::SeqCst);
            if is_done(waiting, state.closed.is_some()) {
                return Poll::Ready(());
            }
            state.watchers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Must not be called with the state locked.
    fn wake_watchers(&self) {
        if self.is_watched.load(Ordering::SeqCst) {
            let mut state = self.state.lock();
            self.is_watched.store(false, Ordering::SeqCst);
            let watchers = std::mem::take(&mut state.watchers);
            drop(state);
            watchers.into_iter().for_each(Waker::wake);
        }
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
        // However it ends, whoever waits for that is told.
        let _ending = Ending(&self);
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
            self.written.fetch_add((before - writing.len()) as u64, Ordering::SeqCst);
            self.wake_watchers();
            match sent {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
    }
}

/// Closes the box when its flusher ends, even when that is stopped.
struct Ending<'a>(&'a Outbox);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // The first end counts.
        self.0.state.lock().closed.get_or_insert(LinkError::Closed);
        self.0.wake_watchers();
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use bytes::Bytes;

    use super::*;

    const ROOM: Room = Room { frames: 1024, bytes: 1024 * 1024 };
    const STALL: Duration = Duration::from_secs(5);

    /// Takes so many bytes at a time, and wants to be asked again for more.
    struct Sips {
        most: usize,
        took: Arc<Mutex<Vec<u8>>>,
        thirsty: bool,
    }

    impl Outlet for Sips {
        fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Queue) -> Poll<Result<(), LinkError>> {
            if queue.is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.thirsty = !self.thirsty;
            if self.thirsty {
                let mut slices = [IoSlice::new(&[]); 3];
                let filled = queue.slices(&mut slices);
                let sip: Vec<u8> =
                    slices[..filled].iter().flat_map(|slice| slice.iter()).take(self.most).copied().collect();
                queue.advance(sip.len());
                self.took.lock().extend(sip);
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }

        fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
            Poll::Ready(Ok(()))
        }
    }

    /// A box whose outlet takes so many bytes at a time, and what it took.
    fn sipped(most: usize, tap: Option<Tap>) -> (Arc<Outbox>, Arc<Mutex<Vec<u8>>>) {
        let took = Arc::default();
        let outlet = Sips { most, took: Arc::clone(&took), thirsty: false };
        (Arc::new(Outbox::new(Box::new(outlet), ROOM, tap)), took)
    }

    fn large() -> Bytes {
        let text: String = (0..20_000).map(|number| format!("{number},")).collect();
        Bytes::from(format!("[{text}0]"))
    }

    fn answer<'a>(value: &'a Bytes) -> [Part<'a>; 3] {
        [Part::Text(br#"{"result":"#), Part::Shared(value), Part::Text(b"}")]
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[tokio::test]
    async fn a_write_that_stops_inside_a_large_part_goes_on_at_the_right_byte() {
        let large = large();
        for most in [1, 7, 4096, 100_000] {
            let (outbox, took) = sipped(most, None);
            for flush in [Flush::Soon, Flush::Now, Flush::Soon] {
                outbox.put(&[Part::Text(b"small")], Claim::Exempt, flush).unwrap();
                outbox.put(&answer(&large), Claim::Exempt, flush).unwrap();
            }
            outbox.close();
            Arc::clone(&outbox).run(STALL).await;
            let expected = format!("small\n{{\"result\":{}}}\n", text(&large)).repeat(3);
            assert_eq!(text(&took.lock()), expected);
            assert_eq!(outbox.waiting(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn s11_waiting_for_the_box_ends_with_the_write_or_with_the_flusher() {
        let started = tokio::time::Instant::now();
        let (outbox, took) = sipped(1, None);
        outbox.put(&[Part::Text(b"small")], Claim::Exempt, Flush::Soon).unwrap();
        let flusher = tokio::spawn(Arc::clone(&outbox).run(STALL));
        outbox.watch(|waiting, _| waiting <= 2).await;
        assert!(took.lock().len() >= 4, "all but two bytes are written");
        let ended = {
            let outbox = Arc::clone(&outbox);
            tokio::spawn(async move { tokio::join!(outbox.ended(), outbox.ended()) })
        };
        outbox.close();
        ended.await.unwrap();
        assert_eq!(text(&took.lock()), "small\n");
        assert!(matches!(flusher.await.unwrap(), LinkError::Closed));
        // One that is stopped ends the wait, too.
        let (outbox, _) = sipped(1, None);
        let flusher = tokio::spawn(Arc::clone(&outbox).run(STALL));
        tokio::task::yield_now().await;
        flusher.abort();
        outbox.ended().await;
        assert_eq!(started.elapsed(), Duration::ZERO, "nothing waits for a clock");
    }

    #[tokio::test]
    async fn a_tap_sees_whole_frames_however_they_are_written() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = Arc::clone(&seen);
        let (outbox, took) = sipped(4096, Some(Tap::new(move |_, frame| sees.lock().push(frame.to_vec()))));
        let large = large();
        outbox.put(&answer(&large), Claim::Exempt, Flush::Now).unwrap();
        outbox.put(&[Part::Text(b"small")], Claim::Exempt, Flush::Soon).unwrap();
        outbox.close();
        Arc::clone(&outbox).run(STALL).await;
        let took = text(&took.lock());
        let seen: Vec<_> = seen.lock().iter().map(|frame| text(frame)).collect();
        assert_eq!(took.lines().collect::<Vec<_>>(), seen);
    }

    #[tokio::test]
    async fn what_is_shared_is_held_once_and_counted_each_time() {
        let (outbox, _) = sipped(1, None);
        let large = large();
        for times in 1..=5 {
            outbox.put(&answer(&large), Claim::Exempt, Flush::Soon).unwrap();
            assert_eq!(outbox.waiting(), times * (large.len() as u64 + 12));
        }
        let mut slices = [IoSlice::new(&[]); 16];
        let state = outbox.state.lock();
        let filled = state.pending.slices(&mut slices);
        let shared = slices[..filled].iter().filter(|slice| slice.as_ptr() == large.as_ptr()).count();
        assert_eq!(shared, 5);
        drop(state);
        // Five answers are more than half of the room; what asks for it is counted with them.
        let asks = vec![b' '; ROOM.bytes - 5 * large.len()];
        let refused = outbox.put(&[Part::Text(&asks)], Claim::Room, Flush::Soon);
        assert!(matches!(refused, Err(LinkError::Overloaded { .. })));
        outbox.put(&[Part::Text(b"small")], Claim::Room, Flush::Soon).unwrap();
    }
}
