//! Async I/O on a blocking descriptor (a file, a terminal) through a dedicated thread.
//!
//! Invariant: the buffer between thread and task is bounded. A thread that waits for a terminal cannot be stopped; it ends
//! with the process.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use parking_lot::{Condvar, Mutex};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Capacity of the buffer between thread and task.
const CAPACITY: usize = 256 * 1024;
const READ: usize = 64 * 1024;

/// The task's end.
#[derive(Debug)]
pub(crate) struct ThreadedIo(Arc<SharedBuffer>);

#[derive(Debug, Default)]
struct SharedBuffer {
    state: Mutex<BufferState>,
    /// The thread waits here.
    thread_wakeup: Condvar,
}

#[derive(Debug, Default)]
struct BufferState {
    bytes: BytesMut,
    /// The thread is writing bytes that it has taken out of the buffer.
    writing: bool,
    /// The task has dropped its end.
    is_closed: bool,
    /// The result of the thread.
    ended: Option<Result<(), io::ErrorKind>>,
    /// Wakes the task.
    waker: Option<Waker>,
}

impl SharedBuffer {
    /// Changes the state from the thread and wakes the task.
    fn update(&self, change: impl FnOnce(&mut BufferState)) {
        let mut state = self.state.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }
}

impl ThreadedIo {
    /// Reads a source in a thread.
    pub(crate) fn reading(source: impl Read + Send + 'static) -> io::Result<Self> {
        Self::start("switchboard-stdin", move |shared| read_all(source, shared))
    }

    /// Writes to a sink in a thread.
    pub(crate) fn writing(sink: impl Write + Send + 'static) -> io::Result<Self> {
        Self::start("switchboard-stdout", move |shared| write_all(sink, shared))
    }

    fn start(
        name: &str,
        work: impl FnOnce(&SharedBuffer) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(SharedBuffer::default());
        let thread_shared = Arc::clone(&shared);
        std::thread::Builder::new().name(name.into()).spawn(move || {
            let ended = work(&thread_shared).map_err(|error| error.kind());
            thread_shared.update(|state| {
                state.ended = Some(ended);
                state.writing = false;
            });
        })?;
        Ok(Self(shared))
    }
}

fn read_all(mut source: impl Read, shared: &SharedBuffer) -> io::Result<()> {
    let mut chunk = vec![0; READ];
    loop {
        let read = match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut state = shared.state.lock();
        shared
            .thread_wakeup
            .wait_while(&mut state, |state| state.bytes.len() >= CAPACITY && !state.is_closed);
        if state.is_closed {
            return Ok(());
        }
        drop(state);
        shared.update(|state| state.bytes.extend_from_slice(&chunk[..read]));
    }
}

fn write_all(mut sink: impl Write, shared: &SharedBuffer) -> io::Result<()> {
    loop {
        let mut state = shared.state.lock();
        shared.thread_wakeup.wait_while(&mut state, |state| state.bytes.is_empty() && !state.is_closed);
        if state.bytes.is_empty() {
            return Ok(());
        }
        let bytes = state.bytes.split();
        state.writing = true;
        drop(state);
        sink.write_all(&bytes)?;
        sink.flush()?;
        shared.update(|state| state.writing = false);
    }
}

impl AsyncRead for ThreadedIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.state.lock();
        if state.bytes.is_empty() {
            return match state.ended {
                Some(ended) => Poll::Ready(ended.map_err(Into::into)),
                None => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            };
        }
        let most = state.bytes.len().min(buf.remaining());
        buf.put_slice(&state.bytes[..most]);
        state.bytes.advance(most);
        drop(state);
        self.0.thread_wakeup.notify_one();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ThreadedIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.state.lock();
        if let Some(ended) = state.ended {
            return Poll::Ready(Err(ended.err().unwrap_or(io::ErrorKind::BrokenPipe).into()));
        }
        let most = CAPACITY.saturating_sub(state.bytes.len()).min(buf.len());
        if most == 0 && !buf.is_empty() {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.bytes.extend_from_slice(&buf[..most]);
        drop(state);
        self.0.thread_wakeup.notify_one();
        Poll::Ready(Ok(most))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.state.lock();
        match state.ended {
            Some(ended) => Poll::Ready(ended.map_err(Into::into)),
            None if state.bytes.is_empty() && !state.writing => Poll::Ready(Ok(())),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl Drop for ThreadedIo {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.thread_wakeup.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_cross_in_order_and_bounded() {
        let (reading, writing) = std::io::pipe().unwrap();
        let mut sink = ThreadedIo::writing(writing).unwrap();
        let mut source = ThreadedIo::reading(reading).unwrap();
        let sent: Vec<u8> = (0..3_000_000u32).map(|number| number.to_le_bytes()[1]).collect();
        let expected = sent.clone();
        let writer = tokio::spawn(async move {
            sink.write_all(&sent).await.unwrap();
            sink.flush().await.unwrap();
        });
        let mut got = Vec::new();
        source.read_to_end(&mut got).await.unwrap();
        writer.await.unwrap();
        assert!(got == expected);
    }
}
