//! A descriptor that can only block (a file, a terminal), behind a thread of its own.
//!
//! Invariant: what lies between the thread and the task is bounded in both directions. A reading thread that waits
//! for a terminal cannot be ended; it ends with the process.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use parking_lot::{Condvar, Mutex};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What may lie between the thread and the task.
const ROOM: usize = 256 * 1024;
const READ: usize = 64 * 1024;

/// The task's side.
#[derive(Debug)]
pub(crate) struct Bridge(Arc<Middle>);

#[derive(Debug, Default)]
struct Middle {
    state: Mutex<State>,
    /// The thread waits here.
    turn: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: BytesMut,
    /// The thread holds bytes it has taken and not yet written.
    writing: bool,
    /// The task is gone, or will say nothing more.
    left: bool,
    /// How the thread ended.
    ended: Option<Result<(), io::ErrorKind>>,
    /// The task waits.
    waker: Option<Waker>,
}

impl Middle {
    /// Changes the state from the thread's side and wakes the task.
    fn tell(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        waker.inspect(Waker::wake_by_ref);
    }
}

impl Bridge {
    /// Reads from here in a thread.
    pub(crate) fn reading(source: impl Read + Send + 'static) -> io::Result<Self> {
        Self::start("switchboard-stdin", move |middle| read_all(source, middle))
    }

    /// Writes to here in a thread.
    pub(crate) fn writing(sink: impl Write + Send + 'static) -> io::Result<Self> {
        Self::start("switchboard-stdout", move |middle| write_all(sink, middle))
    }

    fn start(name: &str, work: impl FnOnce(&Middle) -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let middle = Arc::new(Middle::default());
        let theirs = Arc::clone(&middle);
        std::thread::Builder::new().name(name.into()).spawn(move || {
            let ended = work(&theirs).map_err(|error| error.kind());
            theirs.tell(|state| {
                state.ended = Some(ended);
                state.writing = false;
            });
        })?;
        Ok(Self(middle))
    }
}

fn read_all(mut source: impl Read, middle: &Middle) -> io::Result<()> {
    let mut chunk = vec![0; READ];
    loop {
        let read = match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut state = middle.state.lock();
        middle.turn.wait_while(&mut state, |state| state.bytes.len() >= ROOM && !state.left);
        if state.left {
            return Ok(());
        }
        drop(state);
        middle.tell(|state| state.bytes.extend_from_slice(&chunk[..read]));
    }
}

fn write_all(mut sink: impl Write, middle: &Middle) -> io::Result<()> {
    loop {
        let mut state = middle.state.lock();
        middle.turn.wait_while(&mut state, |state| state.bytes.is_empty() && !state.left);
        if state.bytes.is_empty() {
            return Ok(());
        }
        let bytes = state.bytes.split();
        state.writing = true;
        drop(state);
        sink.write_all(&bytes)?;
        sink.flush()?;
        middle.tell(|state| state.writing = false);
    }
}

impl AsyncRead for Bridge {
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
        self.0.turn.notify_one();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bridge {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.state.lock();
        if let Some(ended) = state.ended {
            return Poll::Ready(Err(ended.err().unwrap_or(io::ErrorKind::BrokenPipe).into()));
        }
        let most = ROOM.saturating_sub(state.bytes.len()).min(buf.len());
        if most == 0 && !buf.is_empty() {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.bytes.extend_from_slice(&buf[..most]);
        drop(state);
        self.0.turn.notify_one();
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

impl Drop for Bridge {
    fn drop(&mut self) {
        self.0.state.lock().left = true;
        self.0.turn.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_cross_in_order_and_bounded() {
        let (reading, writing) = std::io::pipe().unwrap();
        let mut sink = Bridge::writing(writing).unwrap();
        let mut source = Bridge::reading(reading).unwrap();
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
