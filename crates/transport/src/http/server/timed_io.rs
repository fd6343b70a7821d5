//! A connection that is given up when nothing comes over it: before its first request, and between requests.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How many requests of a connection are being answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Active(Arc<AtomicUsize>);

impl Active {
    /// One more, until the guard is dropped.
    pub(crate) fn begin(&self) -> Answering {
        self.0.fetch_add(1, Ordering::AcqRel);
        Answering(self.clone())
    }

    fn is_none(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

/// One request being answered.
#[derive(Debug)]
pub(crate) struct Answering(Active);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A connection with a bound on its silence.
#[derive(Debug)]
pub(crate) struct TimedIo<S> {
    stream: S,
    active: Active,
    silence: Pin<Box<Sleep>>,
    between: Duration,
}

impl<S> TimedIo<S> {
    pub(crate) fn new(stream: S, active: Active, first: Duration, between: Duration) -> Self {
        Self { stream, active, silence: Box::pin(tokio::time::sleep(first)), between }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(cx, buf) {
            this.silence.as_mut().reset(Instant::now() + this.between);
            return Poll::Ready(read);
        }
        while this.silence.as_mut().poll(cx).is_ready() {
            if this.active.is_none() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            // A request is being answered: the silence is ours. Looked at again later.
            this.silence.as_mut().reset(Instant::now() + this.between);
        }
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
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
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }
}
