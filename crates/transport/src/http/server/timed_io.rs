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

use crate::http::server::head_check::HeadCheck;

/// What a connection is doing: how many of its requests are being answered, and since when it is none.
#[derive(Debug, Clone)]
pub(crate) struct Active(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    answering: usize,
    /// When the last answer ended, or the connection began.
    since: Instant,
    /// Requests so far.
    begun: u64,
}

impl Active {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { answering: 0, since: Instant::now(), begun: 0 })))
    }

    /// One more, until the guard is dropped.
    pub(crate) fn begin(&self) -> Answering {
        let mut state = self.0.lock();
        state.answering += 1;
        state.begun += 1;
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
    /// From the connection to its first request, and for the headers of each.
    pub(crate) head: Duration,
    /// Between an answer and the next request.
    pub(crate) between: Duration,
    /// While the client does not read what waits for it.
    pub(crate) write: Duration,
}

/// Which HTTP a connection began to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    One,
    Two,
}

/// Reads in a row that find something, without a look at the clock.
const MOST_UNWATCHED: u8 = 32;

/// A connection with a bound on its silence.
#[derive(Debug)]
pub(crate) struct TimedIo<S> {
    stream: S,
    active: Active,
    patience: Patience,
    /// Fires at the latest when the next headers could be overdue; what is due then is looked at then. So a request
    /// costs no turn of a clock.
    silence: Pin<Box<Sleep>>,
    /// Reads since the clock was last looked at.
    unwatched: u8,
    /// When the next headers began to come, and after how many requests.
    head: Option<(Instant, u64)>,
    /// How it began. HTTP/2 has words between requests that belong to none.
    opening: Option<Opening>,
    /// Running while a write waits.
    stall: Option<Pin<Box<Sleep>>>,
    heads: HeadCheck,
}

impl<S> TimedIo<S> {
    pub(crate) fn new(stream: S, active: Active, patience: Patience) -> Self {
        let silence = Box::pin(tokio::time::sleep(patience.head));
        let heads = HeadCheck::default();
        Self {
            stream,
            active,
            patience,
            silence,
            unwatched: 0,
            head: None,
            opening: None,
            stall: None,
            heads,
        }
    }

    /// When the silence ends, as things are now.
    fn until(&self) -> Instant {
        let state = self.active.0.lock();
        match self.head {
            // The silence is ours. Looked at again later.
            _ if state.answering > 0 => Instant::now() + self.patience.between,
            Some((since, before)) if before == state.begun => since + self.patience.head,
            _ if state.begun == 0 => state.since + self.patience.head,
            _ => state.since + self.patience.between,
        }
    }

    /// Looks at what came: it may be the beginning of the next headers.
    fn came(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let is_two = bytes.len() > 1 && b"PRI".starts_with(&bytes[..bytes.len().min(3)]);
        let opening = *self.opening.get_or_insert(if is_two { Opening::Two } else { Opening::One });
        let begun = {
            let state = self.active.0.lock();
            (state.answering == 0 && state.begun > 0).then_some(state.begun)
        };
        if let Some(begun) = begun
            && opening == Opening::One
            && self.head.is_none_or(|(_, before)| before != begun)
        {
            self.head = Some((Instant::now(), begun));
        }
    }

    /// Whether nothing has moved for too long. Wakes the task when that may be so.
    fn is_silent(&mut self, cx: &mut Context<'_>) -> bool {
        self.unwatched = 0;
        while self.silence.as_mut().poll(cx).is_ready() {
            let (until, now) = (self.until(), Instant::now());
            if until <= now {
                return true;
            }
            // Headers that begin right after this look are due no earlier than that.
            self.silence.as_mut().reset(until.min(now + self.patience.head));
        }
        false
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
        let before = buf.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buf);
        this.unwatched = this.unwatched.saturating_add(1);
        // A client that sends without pause must not keep the clock from being looked at.
        if (read.is_pending() || this.unwatched == MOST_UNWATCHED) && this.is_silent(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        this.came(&buf.filled()[before..]);
        if !this.heads.see(&mut buf.filled_mut()[before..]) {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        read
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
