//! A connection that is given up when nothing moves on it: before its first request, between requests, and while its
//! client does not read.
//!
//! Bytes that make no request do not extend the wait: a client that drips them is as idle as a silent one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// What a connection is doing: how many of its requests are being answered, and since when it is none.
#[derive(Debug, Clone)]
pub(crate) struct Active(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    answering: usize,
    /// When the last answer ended, or the connection began.
    since: Instant,
    /// Whether there was any request yet.
    begun: bool,
}

impl Active {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { answering: 0, since: Instant::now(), begun: false })))
    }

    /// One more, until the guard is dropped.
    pub(crate) fn begin(&self) -> Answering {
        let mut state = self.0.lock();
        state.answering += 1;
        state.begun = true;
        drop(state);
        Answering(self.clone())
    }

    /// Since when nothing is being answered; `None` while something is.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.answering == 0).then_some(state.since)
    }
}

/// One request being answered.
#[derive(Debug)]
pub(crate) struct Answering(Active);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.answering -= 1;
        state.since = Instant::now();
    }
}

/// How long a connection may stand still.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// From the connection to its first request.
    pub(crate) first: Duration,
    /// Between an answer and the next request.
    pub(crate) between: Duration,
    /// While the client does not read what waits for it.
    pub(crate) write: Duration,
}

/// A connection with a bound on its silence.
#[derive(Debug)]
pub(crate) struct TimedIo<S> {
    stream: S,
    active: Active,
    patience: Patience,
    silence: Pin<Box<Sleep>>,
    /// Running while a write waits.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedIo<S> {
    pub(crate) fn new(stream: S, active: Active, patience: Patience) -> Self {
        let silence = Box::pin(tokio::time::sleep(patience.first));
        Self { stream, active, patience, silence, stall: None }
    }

    /// When the silence ends, as things are now.
    fn until(&self) -> Instant {
        let state = self.active.0.lock();
        match (state.answering, state.begun) {
            (0, false) => state.since + self.patience.first,
            (0, true) => state.since + self.patience.between,
            // The silence is ours. Looked at again later.
            _ => Instant::now() + self.patience.between,
        }
    }

    /// What a write came to, or an end to it.
    fn bounded<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let patience = self.patience.write;
        let stall = self.stall.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        stall.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.silence.as_mut().poll(cx).is_ready() {
            let until = this.until();
            if until <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            this.silence.as_mut().reset(until);
        }
        Pin::new(&mut this.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.bounded(cx, written)
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
        self.bounded(cx, written)
    }
}
