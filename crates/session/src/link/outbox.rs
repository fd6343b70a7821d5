//! Outgoing frames of a pipe: callers enqueue whole frames, one flusher task writes them.
//!
//! Invariant: only the flusher ever waits for the peer, so dropping a caller can neither lose nor split a frame, and a
//! frame can be enqueued from `Drop`. A frame is in the outbox whole or not at all.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use crate::link::{Direction, FramePart, FrameQueue, LinkError, Outlet, Tap};

/// The most that may wait in the outbox.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutboxLimits {
    pub(crate) frames: usize,
    pub(crate) bytes: usize,
}

/// Whether a frame is refused when the outbox is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitCheck {
    /// Refused when the outbox is full: a request.
    Enforced,
    /// Always accepted: a response or a cancellation.
    Exempt,
}

/// When a frame is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Immediately, as far as the outlet accepts it without waiting.
    Now,
    /// By the flusher, in one write with the other frames of the same scheduler turn.
    Soon,
    /// When the caller calls [`Outbox::flush_now`], which it must do before its next await.
    #[cfg(feature = "server")]
    Promised,
}

/// The offset of a frame's first byte in the stream of all bytes ever enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamOffset(u64);

/// The next work of the flusher.
enum FlusherWork {
    Flush,
    Close,
}

/// The queue of outgoing frames of one pipe.
pub(crate) struct Outbox {
    // Two mutexes: enqueueing never waits for a write. Neither is held across an await.
    state: Mutex<OutboxState>,
    writer: Mutex<Writer>,
    /// Bytes accepted by the outlet so far.
    written: AtomicU64,
    /// Whether any waker is in `watchers`; without one, a write does not lock the state.
    is_watched: AtomicBool,
    limits: OutboxLimits,
    tap: Option<Tap>,
}

#[derive(Default)]
struct OutboxState {
    pending: FrameQueue,
    /// Frames enqueued and not yet written, including those that the writer holds.
    frames: usize,
    put: u64,
    closed: Option<LinkError>,
    closing: bool,
    /// A write stopped half-way and the flusher has to resume it.
    write_pending: bool,
    flusher: Option<Waker>,
    /// Tasks that wait for bytes to be written or for the outbox to close.
    watchers: Vec<Waker>,
}

struct Writer {
    outlet: Box<dyn Outlet>,
    writing: FrameQueue,
    frames: usize,
    /// The flusher waits for the outlet. The outlet keeps one waker: polling it now would replace the flusher's.
    flusher_waits: bool,
    /// The outlet has not finished sending the bytes that it accepted.
    sending: bool,
}

impl Outbox {
    pub(crate) fn new(outlet: Box<dyn Outlet>, limits: OutboxLimits, tap: Option<Tap>) -> Self {
        Self {
            state: Mutex::default(),
            writer: Mutex::new(Writer {
                outlet,
                writing: FrameQueue::default(),
                frames: 0,
                flusher_waits: false,
                sending: false,
            }),
            written: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
            limits,
            tap,
        }
    }

    /// Enqueues one frame, given in parts. Never waits.
    pub(crate) fn put(
        &self,
        parts: &[FramePart<'_>],
        check: LimitCheck,
        flush: Flush,
    ) -> Result<StreamOffset, LinkError> {
        let len = parts.iter().map(|part| part.as_bytes().len()).sum::<usize>() + 1;
        let mut state = self.state.lock();
        if let Some(error) = &state.closed {
            return Err(error.clone().unsent());
        }
        if state.closing {
            return Err(LinkError::Closed);
        }
        if check == LimitCheck::Enforced {
            let waiting = state.put - self.written.load(Ordering::Relaxed);
            if state.frames >= self.limits.frames {
                return Err(LinkError::Overloaded { what: "messages that wait to be written" });
            }
            if waiting.saturating_add(len as u64) > self.limits.bytes as u64 {
                return Err(LinkError::Overloaded { what: "bytes that wait to be written" });
            }
        }
        let offset = StreamOffset(state.put);
        state.pending.push(parts, len);
        state.put += len as u64;
        state.frames += 1;
        let waker = if flush == Flush::Soon { state.flusher.take() } else { None };
        drop(state);
        // After the checks: the tap must not see a frame that was refused.
        if let Some(tap) = &self.tap {
            tap.see(Direction::Out, &parts.iter().flat_map(FramePart::as_bytes).copied().collect::<Vec<_>>());
        }
        match flush {
            Flush::Now => self.flush_now(),
            Flush::Soon => waker.into_iter().for_each(Waker::wake),
            #[cfg(feature = "server")]
            Flush::Promised => {}
        }
        Ok(offset)
    }

    /// Returns whether any byte of the frame may have been written.
    pub(crate) fn may_have_left(&self, offset: StreamOffset) -> bool {
        offset.0 < self.written.load(Ordering::Acquire)
    }

    /// Returns whether the outbox is closed, so that waiting frames are never written.
    #[cfg(feature = "server")]
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().closed.is_some()
    }

    /// Returns the number of bytes that wait to be written.
    pub(crate) fn waiting(&self) -> u64 {
        self.state.lock().put - self.written.load(Ordering::Relaxed)
    }

    /// Writes the waiting frames as far as the outlet accepts them without waiting; the flusher does the rest.
    pub(crate) fn flush_now(&self) {
        let mut writer = self.writer.lock();
        if writer.flusher_waits {
            return;
        }
        let done = self.poll_flush(&mut writer, &mut Context::from_waker(Waker::noop()));
        drop(writer);
        let mut state = self.state.lock();
        match done {
            Poll::Ready(Ok(())) => return,
            Poll::Ready(Err(error)) => _ = state.closed.get_or_insert(error),
            Poll::Pending => state.write_pending = true,
        }
        let waker = state.flusher.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
        self.wake_watchers();
    }

    /// Waits until at most `most` bytes are left to be written, or the outbox is closed.
    #[cfg(feature = "server")]
    pub(crate) async fn wait_until_at_most(&self, most: u64) {
        self.wait_until(|waiting, is_closed| waiting <= most || is_closed).await;
    }

    /// Waits until the outbox is closed.
    pub(crate) async fn ended(&self) {
        self.wait_until(|_, is_closed| is_closed).await;
    }

    async fn wait_until(&self, is_done: impl Fn(u64, bool) -> bool) {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            // Set before `written` is read: a write that the read misses sees the flag.
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

    /// Wakes all watchers. Must not be called with the state locked.
    fn wake_watchers(&self) {
        if self.is_watched.load(Ordering::SeqCst) {
            let mut state = self.state.lock();
            self.is_watched.store(false, Ordering::SeqCst);
            let watchers = std::mem::take(&mut state.watchers);
            drop(state);
            watchers.into_iter().for_each(Waker::wake);
        }
    }

    /// Lets the flusher write the waiting frames and then close the outlet.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        let waker = state.flusher.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }

    /// Runs the flusher until the outbox is closed or the outlet fails.
    pub(crate) async fn run(self: Arc<Self>, stall: Duration) -> LinkError {
        // Closes the outbox however this task ends.
        let _guard = FlusherGuard(&self);
        loop {
            let work = poll_fn(|cx| self.poll_work(cx)).await;
            if let FlusherWork::Flush = work {
                // All ready tasks enqueue their frames first; then one system call writes them together.
                tokio::task::yield_now().await;
            }
            if let Err(error) = self.flush(stall).await {
                self.state.lock().closed.get_or_insert_with(|| error.clone());
                return error;
            }
            if let FlusherWork::Close = work {
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

    /// Writes until nothing is left; fails when the peer has accepted no byte for `stall`.
    async fn flush(&self, stall: Duration) -> Result<(), LinkError> {
        let mut stall_timer = pin!(tokio::time::sleep(stall));
        let mut before = self.written.load(Ordering::Relaxed);
        poll_fn(|cx| {
            {
                let mut writer = self.writer.lock();
                let done = self.poll_flush(&mut writer, cx);
                writer.flusher_waits = done.is_pending();
                if done.is_ready() {
                    return done;
                }
            }
            let written = self.written.load(Ordering::Relaxed);
            if written > before {
                before = written;
                stall_timer.set(tokio::time::sleep(stall));
            }
            stall_timer.as_mut().poll(cx).map(|()| {
                self.writer.lock().flusher_waits = false;
                Err(LinkError::lost(format!("the peer has read nothing for {stall:?}")))
            })
        })
        .await
    }

    fn poll_work(&self, cx: &mut Context<'_>) -> Poll<FlusherWork> {
        let mut state = self.state.lock();
        if !state.pending.is_empty() || std::mem::take(&mut state.write_pending) || state.closed.is_some() {
            return Poll::Ready(FlusherWork::Flush);
        }
        if state.closing {
            return Poll::Ready(FlusherWork::Close);
        }
        state.flusher = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_flush(&self, writer: &mut Writer, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let Writer { outlet, writing, frames, sending, .. } = writer;
        loop {
            // An outlet may have accepted all bytes and still be sending them.
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

/// Closes the outbox when its flusher ends, also when the task is aborted.
struct FlusherGuard<'a>(&'a Outbox);

impl Drop for FlusherGuard<'_> {
    fn drop(&mut self) {
        // The first error counts.
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

    const LIMITS: OutboxLimits = OutboxLimits { frames: 1024, bytes: 1024 * 1024 };
    const STALL: Duration = Duration::from_secs(5);

    /// An outlet that accepts at most `most` bytes at every second poll.
    struct SlowOutlet {
        most: usize,
        written_bytes: Arc<Mutex<Vec<u8>>>,
        is_ready: bool,
    }

    impl Outlet for SlowOutlet {
        fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
            if queue.is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.is_ready = !self.is_ready;
            if self.is_ready {
                let mut slices = [IoSlice::new(&[]); 3];
                let filled = queue.slices(&mut slices);
                let chunk: Vec<u8> =
                    slices[..filled].iter().flat_map(|slice| slice.iter()).take(self.most).copied().collect();
                queue.advance(chunk.len());
                self.written_bytes.lock().extend(chunk);
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }

        fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Returns an outbox with a [`SlowOutlet`], and the bytes that the outlet accepted.
    fn slow_outbox(most: usize, tap: Option<Tap>) -> (Arc<Outbox>, Arc<Mutex<Vec<u8>>>) {
        let written_bytes = Arc::default();
        let outlet = SlowOutlet { most, written_bytes: Arc::clone(&written_bytes), is_ready: false };
        (Arc::new(Outbox::new(Box::new(outlet), LIMITS, tap)), written_bytes)
    }

    fn large() -> Bytes {
        let text: String = (0..20_000).map(|number| format!("{number},")).collect();
        Bytes::from(format!("[{text}0]"))
    }

    fn answer<'a>(value: &'a Bytes) -> [FramePart<'a>; 3] {
        [FramePart::Text(br#"{"result":"#), FramePart::Shared(value), FramePart::Text(b"}")]
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[tokio::test]
    async fn a_partial_write_of_a_large_part_resumes_at_the_right_byte() {
        let large = large();
        for most in [1, 7, 4096, 100_000] {
            let (outbox, written_bytes) = slow_outbox(most, None);
            for flush in [Flush::Soon, Flush::Now, Flush::Soon] {
                outbox.put(&[FramePart::Text(b"small")], LimitCheck::Exempt, flush).unwrap();
                outbox.put(&answer(&large), LimitCheck::Exempt, flush).unwrap();
            }
            outbox.close();
            Arc::clone(&outbox).run(STALL).await;
            let expected = format!("small\n{{\"result\":{}}}\n", text(&large)).repeat(3);
            assert_eq!(text(&written_bytes.lock()), expected);
            assert_eq!(outbox.waiting(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn s11_waiting_for_the_outbox_ends_with_the_write_or_with_the_flusher() {
        let started = tokio::time::Instant::now();
        let (outbox, written_bytes) = slow_outbox(1, None);
        outbox.put(&[FramePart::Text(b"small")], LimitCheck::Exempt, Flush::Soon).unwrap();
        let flusher = tokio::spawn(Arc::clone(&outbox).run(STALL));
        outbox.wait_until(|waiting, _| waiting <= 2).await;
        assert!(written_bytes.lock().len() >= 4, "all but two bytes are written");
        let ended = {
            let outbox = Arc::clone(&outbox);
            tokio::spawn(async move { tokio::join!(outbox.ended(), outbox.ended()) })
        };
        outbox.close();
        ended.await.unwrap();
        assert_eq!(text(&written_bytes.lock()), "small\n");
        assert!(matches!(flusher.await.unwrap(), LinkError::Closed));
        // An aborted flusher ends the wait, too.
        let (outbox, _) = slow_outbox(1, None);
        let flusher = tokio::spawn(Arc::clone(&outbox).run(STALL));
        tokio::task::yield_now().await;
        flusher.abort();
        outbox.ended().await;
        assert_eq!(started.elapsed(), Duration::ZERO, "nothing waits for a clock");
    }

    #[tokio::test]
    async fn a_tap_sees_whole_frames_however_they_are_written() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let (outbox, written_bytes) =
            slow_outbox(4096, Some(Tap::new(move |_, frame| sink.lock().push(frame.to_vec()))));
        let large = large();
        outbox.put(&answer(&large), LimitCheck::Exempt, Flush::Now).unwrap();
        outbox.put(&[FramePart::Text(b"small")], LimitCheck::Exempt, Flush::Soon).unwrap();
        outbox.close();
        Arc::clone(&outbox).run(STALL).await;
        let written_bytes = text(&written_bytes.lock());
        let seen: Vec<_> = seen.lock().iter().map(|frame| text(frame)).collect();
        assert_eq!(written_bytes.lines().collect::<Vec<_>>(), seen);
    }

    #[tokio::test]
    async fn a_shared_part_is_stored_once_and_counted_each_time() {
        let (outbox, _) = slow_outbox(1, None);
        let large = large();
        for times in 1..=5 {
            outbox.put(&answer(&large), LimitCheck::Exempt, Flush::Soon).unwrap();
            assert_eq!(outbox.waiting(), times * (large.len() as u64 + 12));
        }
        let mut slices = [IoSlice::new(&[]); 16];
        let state = outbox.state.lock();
        let filled = state.pending.slices(&mut slices);
        let shared = slices[..filled].iter().filter(|slice| slice.as_ptr() == large.as_ptr()).count();
        assert_eq!(shared, 5);
        drop(state);
        // Five answers fill more than half of the limit; the request is counted together with them.
        let asks = vec![b' '; LIMITS.bytes - 5 * large.len()];
        let refused = outbox.put(&[FramePart::Text(&asks)], LimitCheck::Enforced, Flush::Soon);
        assert!(matches!(refused, Err(LinkError::Overloaded { .. })));
        outbox.put(&[FramePart::Text(b"small")], LimitCheck::Enforced, Flush::Soon).unwrap();
    }
}
