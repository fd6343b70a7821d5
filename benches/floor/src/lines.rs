//! Lines that come and go: read in large pieces, written in large pieces.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// Lines that come, and bytes that wait to go.
#[derive(Debug)]
pub struct Lines<R, W> {
    from: R,
    to: Option<W>,
    /// Room for what comes: filled up to `filled`, and done with up to `read`.
    buffer: Vec<u8>,
    filled: usize,
    read: usize,
    /// Up to where there is no line feed.
    seen: usize,
    /// What is to be written; bytes before `written` are gone.
    pub out: Vec<u8>,
    written: usize,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    pub fn new(from: R, to: W) -> Self {
        let (buffer, out) = (vec![0; 2 * PIECE], Vec::with_capacity(PIECE));
        Self { from, to: Some(to), buffer, filled: 0, read: 0, seen: 0, out, written: 0 }
    }

    /// The next line of what was read.
    pub fn line(&mut self) -> Option<std::ops::Range<usize>> {
        match memchr(b'\n', &self.buffer[self.seen..self.filled]) {
            Some(length) => {
                let line = self.read..self.seen + length;
                self.read = line.end + 1;
                self.seen = self.read;
                Some(line)
            }
            None => {
                self.seen = self.filled;
                None
            }
        }
    }

    /// The bytes of a line.
    pub fn bytes(&self, line: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// The bytes of a line, and what is to be written.
    pub fn both(&mut self, line: std::ops::Range<usize>) -> (&[u8], &mut Vec<u8>) {
        (&self.buffer[line], &mut self.out)
    }

    /// Writes all there is to write.
    pub async fn flush(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// Waits for bytes, writing meanwhile what is to be written. Says how many came; none means the end.
    pub async fn more(&mut self) -> io::Result<usize> {
        std::future::poll_fn(|cx| {
            if let Poll::Ready(Err(error)) = self.poll_flush(cx) {
                return Poll::Ready(Err(error));
            }
            self.poll_more(cx)
        })
        .await
    }

    /// Waits for bytes that must still come.
    pub async fn wait(&mut self) -> io::Result<()> {
        match self.more().await? {
            0 => Err(io::Error::other("the server ended before it answered")),
            _ => Ok(()),
        }
    }

    /// Says to the far side that nothing more will come.
    pub fn hang_up(&mut self) {
        self.to = None;
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(to) = &mut self.to else { return Poll::Ready(Ok(())) };
        while self.written < self.out.len() {
            self.written += ready!(Pin::new(&mut *to).poll_write(cx, &self.out[self.written..]))?;
        }
        self.out.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.make_room();
        let mut room = ReadBuf::new(&mut self.buffer[self.filled..]);
        let outcome = Pin::new(&mut self.from).poll_read(cx, &mut room);
        let came = room.filled().len();
        self.filled += came;
        outcome.map_ok(|()| came)
    }

    fn make_room(&mut self) {
        if self.read == self.filled {
            (self.filled, self.read, self.seen) = (0, 0, 0);
        } else if self.read > 0 && self.buffer.len() - self.filled < PIECE {
            self.buffer.copy_within(self.read..self.filled, 0);
            self.filled -= self.read;
            self.seen -= self.read;
            self.read = 0;
        }
        if self.buffer.len() - self.filled < PIECE {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
    }
}
