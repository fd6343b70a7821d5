//! I/O timeouts of a connection: before its first request, between requests, and while a write stalls.
//!
//! Bytes that do not complete a request head do not extend the timeout, so trickling them does not help.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::http::server::head_check::HeadCheck;

/// Tracks the requests in progress on a connection, and since when it is idle.
#[derive(Debug, Clone)]
pub(crate) struct ActivityTracker(Arc<Mutex<Activity>>);

#[derive(Debug)]
struct Activity {
    in_progress: usize,
    /// When the last response ended, or the connection was accepted.
    since: Instant,
    /// Number of requests so far.
    started: u64,
}

impl ActivityTracker {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Activity { in_progress: 0, since: Instant::now(), started: 0 })))
    }

    /// Counts a request as in progress until the guard is dropped.
    pub(crate) fn begin(&self) -> RequestInProgress {
        let mut state = self.0.lock();
        state.in_progress += 1;
        state.started += 1;
        drop(state);
        RequestInProgress(self.clone())
    }

    /// Returns since when the connection is idle; `None` while a request is in progress.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.in_progress == 0).then_some(state.since)
    }
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct RequestInProgress(ActivityTracker);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.in_progress -= 1;
        state.since = Instant::now();
    }
}

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IoTimeouts {
    /// From accept to the first request, and for the head of each request.
    pub(crate) head: Duration,
    /// Between a response and the next request.
    pub(crate) between: Duration,
    /// For a stalled write.
    pub(crate) write: Duration,
}

/// The HTTP version of a connection, detected from its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HttpVersion {
    Http1,
    Http2,
}

/// Successful reads in a row after which the timeouts are checked anyway.
const MAX_UNCHECKED_READS: u8 = 32;

/// A connection with timeouts.
#[derive(Debug)]
pub(crate) struct TimedIo<S> {
    stream: S,
    activity: ActivityTracker,
    timeouts: IoTimeouts,
    /// Fires no later than the earliest possible deadline, which is computed when it fires. So a request does not reset a
    /// timer.
    idle_timer: Pin<Box<Sleep>>,
    /// Reads since the timeouts were last checked.
    reads_since_check: u8,
    /// When the current head began, and after how many requests.
    head: Option<(Instant, u64)>,
    /// HTTP/2 has frames between requests that do not begin a head.
    version: Option<HttpVersion>,
    /// Runs while a write is pending.
    write_timer: Option<Pin<Box<Sleep>>>,
    head_check: HeadCheck,
}

impl<S> TimedIo<S> {
    pub(crate) fn new(stream: S, activity: ActivityTracker, timeouts: IoTimeouts) -> Self {
        let idle_timer = Box::pin(tokio::time::sleep(timeouts.head));
        let head_check = HeadCheck::default();
        Self {
            stream,
            activity,
            timeouts,
            idle_timer,
            reads_since_check: 0,
            head: None,
            version: None,
            write_timer: None,
            head_check,
        }
    }

    /// Returns the deadline as of now.
    fn idle_deadline(&self) -> Instant {
        let state = self.activity.0.lock();
        match self.head {
            // The client waits for us. Checked again later.
            _ if state.in_progress > 0 => Instant::now() + self.timeouts.between,
            Some((since, before)) if before == state.started => since + self.timeouts.head,
            _ if state.started == 0 => state.since + self.timeouts.head,
            _ => state.since + self.timeouts.between,
        }
    }

    /// Notes when received bytes begin the next head.
    fn observe(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let is_http2 = bytes.len() > 1 && b"PRI".starts_with(&bytes[..bytes.len().min(3)]);
        let version =
            *self.version.get_or_insert(if is_http2 { HttpVersion::Http2 } else { HttpVersion::Http1 });
        let started = {
            let state = self.activity.0.lock();
            (state.in_progress == 0 && state.started > 0).then_some(state.started)
        };
        if let Some(started) = started
            && version == HttpVersion::Http1
            && self.head.is_none_or(|(_, before)| before != started)
        {
            self.head = Some((Instant::now(), started));
        }
    }

    /// Returns whether the deadline has passed, and registers the task to be woken at it.
    fn is_timed_out(&mut self, cx: &mut Context<'_>) -> bool {
        self.reads_since_check = 0;
        while self.idle_timer.as_mut().poll(cx).is_ready() {
            let (deadline, now) = (self.idle_deadline(), Instant::now());
            if deadline <= now {
                return true;
            }
            // A head that begins right after this check is due no earlier than that.
            self.idle_timer.as_mut().reset(deadline.min(now + self.timeouts.head));
        }
        false
    }

    /// Passes the result of a write on, or a timeout if it has been pending for too long.
    fn with_write_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let timeouts = self.timeouts.write;
        let write_timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeouts)));
        write_timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        this.reads_since_check = this.reads_since_check.saturating_add(1);
        // A client that sends without pause must not keep the timeouts from being checked.
        if (read.is_pending() || this.reads_since_check == MAX_UNCHECKED_READS) && this.is_timed_out(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        this.observe(&buf.filled()[before..]);
        if !this.head_check.inspect(&mut buf.filled_mut()[before..]) {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.with_write_timeout(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.with_write_timeout(cx, written)
    }
}
