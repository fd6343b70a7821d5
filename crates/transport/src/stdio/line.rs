//! Newline framing: one message is one line, in both directions.
//!
//! Invariants: a line is delivered whole or not at all; a line beyond the limit fails one call, not the connection;
//! polling is cancellation safe, because all state is in the value. Knows nothing of processes.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, BytesMut};
use switchboard_protocol::jsonrpc::MessageRecovery;
use switchboard_session::link::{Frame, FrameQueue, Inlet, LinkError, Outlet};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

/// The default limit on the length of a line.
pub const DEFAULT_LINE_LIMIT: usize = 16 * 1024 * 1024;

/// Bytes per read. Lines share the buffer of their read, so this is also the most that a small line pins.
const CHUNK: usize = 64 * 1024;
/// Bytes of the first read: enough for a handshake and a short list; most connections stay that quiet.
const FIRST_CHUNK: usize = 1024;

/// Multiples of the limit without a newline after which the stream is broken. With the default
/// limit a line of 100 MiB still fails its own call only, and one of a gibibyte ends the connection.
const ENDLESS: usize = 8;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads lines as frames.
///
/// Byte order marks, carriage returns before the newline and blank lines are dropped. A line beyond the limit is
/// discarded while it streams in and becomes [`Frame::Lost`] with the id it carried; eight times the limit without
/// a newline ends the stream. A last line without a newline counts if it looks complete.
///
/// ```
/// use std::future::poll_fn;
/// use switchboard::transport::link::{Frame, Inlet};
/// use switchboard::transport::stdio::LineInlet;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let mut inlet = LineInlet::new(&b"{\"id\":1}\r\n\n{\"id\":2}\n"[..]);
/// let mut frames = Vec::new();
/// poll_fn(|cx| inlet.poll_frames(cx, &mut frames)).await.unwrap();
/// assert!(matches!(&frames[1], Frame::Message(line) if &line[..] == br#"{"id":2}"#));
/// # }
/// ```
pub struct LineInlet<R> {
    source: R,
    lines: LineBuffer,
    end: LinkError,
}

/// The outcome of one read.
pub(crate) enum ReadOutcome {
    /// Frames were added.
    Frames,
    /// The stream is at its end; what the last line held was added.
    End,
}

impl<R> LineInlet<R> {
    /// Returns an inlet that reads lines from a source.
    pub fn new(source: R) -> Self {
        let end = LinkError::lost("the far side closed its end");
        Self { source, lines: LineBuffer::new(DEFAULT_LINE_LIMIT), end }
    }

    /// Sets the limit on the length of a line.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.lines.limit = limit;
        self
    }

    /// Sets the error with which the stream ends.
    #[cfg(feature = "own-stdio")]
    #[must_use]
    pub(crate) fn with_end(mut self, end: LinkError) -> Self {
        self.end = end;
        self
    }

    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    /// Returns the line buffer, for bytes that were read directly.
    pub(crate) fn lines(&mut self) -> &mut LineBuffer {
        &mut self.lines
    }
}

impl<R: AsyncRead + Unpin> LineInlet<R> {
    /// Reads until there is at least one frame, or the end.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<Frame>,
    ) -> Poll<Result<ReadOutcome, LinkError>> {
        let before = into.len();
        loop {
            // A future for a single poll: it holds no state, so dropping it loses nothing.
            let read = ready!(pin!(self.source.read_buf(&mut self.lines.room())).poll(cx));
            match read {
                Ok(0) => {
                    self.lines.finish(into);
                    return Poll::Ready(Ok(ReadOutcome::End));
                }
                Ok(_) => self.lines.take(into)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(LinkError::lost(format!("reading failed: {error}")))),
            }
            if into.len() > before {
                return Poll::Ready(Ok(ReadOutcome::Frames));
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Inlet for LineInlet<R> {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        match ready!(self.poll_read(cx, into))? {
            ReadOutcome::Frames => Poll::Ready(Ok(())),
            ReadOutcome::End => Poll::Ready(Err(self.end.clone())),
        }
    }
}

impl<R> fmt::Debug for LineInlet<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineInlet").field("limit", &self.lines.limit).finish_non_exhaustive()
    }
}

/// Splits bytes into frames.
pub(crate) struct LineBuffer {
    limit: usize,
    /// The current line, and room for the next read.
    buffer: BytesMut,
    /// Length of the prefix without a newline.
    scanned: usize,
    /// The size of the current read buffer.
    room: usize,
    /// Set while a line beyond the limit is discarded.
    discarding: Option<Box<DiscardedLine>>,
}

#[derive(Default)]
struct DiscardedLine {
    recovery: MessageRecovery,
    bytes: usize,
}

impl LineBuffer {
    fn new(limit: usize) -> Self {
        Self { limit, buffer: BytesMut::new(), room: FIRST_CHUNK / 2, scanned: 0, discarding: None }
    }

    /// Returns room for one read. It grows as the connection is used.
    fn room(&mut self) -> impl BufMut + '_ {
        if self.buffer.capacity() - self.buffer.len() < self.room / 4 {
            if self.room < CHUNK {
                // Grows faster within a line of unknown length: fewer reads, less copying.
                let times = if self.buffer.is_empty() { 2 } else { 4 };
                self.room = CHUNK.min(self.room * times);
                // Allocated anew, so that the sizes stay powers of two.
                let rest = std::mem::replace(&mut self.buffer, BytesMut::with_capacity(self.room));
                self.buffer.extend_from_slice(&rest);
            } else {
                self.buffer.reserve(CHUNK);
            }
        }
        (&mut self.buffer).limit(CHUNK)
    }

    /// Adds bytes that were read directly from the source.
    pub(crate) fn feed(&mut self, bytes: &[u8], into: &mut Vec<Frame>) -> Result<(), LinkError> {
        self.buffer.extend_from_slice(bytes);
        self.take(into)
    }

    /// Takes all complete lines out of the buffer.
    fn take(&mut self, into: &mut Vec<Frame>) -> Result<(), LinkError> {
        while let Some(at) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
            let end = self.scanned + at;
            self.scanned = 0;
            if self.discarding.is_some() || end > self.limit {
                self.discard(end);
                self.buffer.advance(1);
                into.extend(self.lost());
            } else {
                into.extend(self.line(end));
            }
        }
        self.scanned = self.buffer.len();
        if self.discarding.is_some() || self.scanned > self.limit {
            self.discard(self.scanned);
            self.scanned = 0;
        }
        match &self.discarding {
            Some(discarding) if discarding.bytes > self.limit.saturating_mul(ENDLESS) => {
                Err(LinkError::lost(format!("more than {} bytes came without a newline", discarding.bytes)))
            }
            _ => Ok(()),
        }
    }

    /// Takes the line that ends here, and its newline.
    fn line(&mut self, end: usize) -> Option<Frame> {
        let mut line = self.buffer.split_to(end + 1);
        if end > CHUNK {
            // What follows a long line must not pin the buffer that grew for it.
            let rest = std::mem::replace(&mut self.buffer, BytesMut::with_capacity(CHUNK));
            self.buffer.extend_from_slice(&rest);
        }
        line.truncate(end);
        trim(line)
    }

    /// Discards the first bytes of the buffer, searching them for a JSON-RPC id.
    fn discard(&mut self, bytes: usize) {
        let discarding = self.discarding.get_or_insert_default();
        discarding.recovery.feed(&self.buffer[..bytes]);
        discarding.bytes += bytes;
        self.buffer.advance(bytes);
        if self.buffer.is_empty() && self.buffer.capacity() > 2 * CHUNK {
            self.buffer = BytesMut::with_capacity(CHUNK);
        }
    }

    fn lost(&mut self) -> Option<Frame> {
        let recovered = self.discarding.take()?.recovery.finish();
        Some(Frame::Lost { recovered, error: LinkError::TooLarge { limit: self.limit } })
    }

    /// Takes the text after the last newline, if it looks complete.
    pub(crate) fn finish(&mut self, into: &mut Vec<Frame>) {
        self.scanned = 0;
        let rest = std::mem::take(&mut self.buffer);
        if let Some(lost) = self.lost() {
            into.push(lost);
        } else if let Some(Frame::Message(line)) = trim(rest)
            && matches!((line.first(), line.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
        {
            into.push(Frame::Message(line));
        }
    }
}

/// Returns the line without byte order mark and trailing space; `None` if nothing is left.
fn trim(mut line: BytesMut) -> Option<Frame> {
    if line.starts_with(BOM) {
        line.advance(BOM.len());
    }
    let kept = line.trim_ascii_end().len();
    line.truncate(kept);
    (kept > 0).then(|| Frame::Message(line.freeze()))
}

/// Writes frames as lines, with vectored writes.
pub struct LineOutlet<W> {
    sink: Option<W>,
    broken: &'static str,
}

impl<W> LineOutlet<W> {
    /// Returns an outlet that writes lines to a sink.
    pub fn new(sink: W) -> Self {
        Self { sink: Some(sink), broken: "the far side stopped reading" }
    }

    /// Sets the error message for a peer that no longer reads.
    #[must_use]
    pub(crate) fn with_broken(mut self, broken: &'static str) -> Self {
        self.broken = broken;
        self
    }

    fn error(&self, error: &io::Error) -> LinkError {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::WriteZero => {
                LinkError::lost(self.broken)
            }
            _ => LinkError::lost(format!("writing failed: {error}")),
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Outlet for LineOutlet<W> {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        let Some(sink) = &mut self.sink else { return Poll::Ready(Err(LinkError::Closed)) };
        let failed = loop {
            if queue.is_empty() {
                // A no-op for a pipe; a threaded sink waits until its thread has written.
                match ready!(Pin::new(&mut *sink).poll_flush(cx)) {
                    Ok(()) => return Poll::Ready(Ok(())),
                    Err(error) => break error,
                }
            }
            let mut slices = [IoSlice::new(&[]); 32];
            let filled = queue.slices(&mut slices);
            match ready!(Pin::new(&mut *sink).poll_write_vectored(cx, &slices[..filled])) {
                Ok(0) => break io::ErrorKind::WriteZero.into(),
                Ok(written) => queue.advance(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
        };
        Poll::Ready(Err(self.error(&failed)))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let Some(sink) = &mut self.sink else { return Poll::Ready(Ok(())) };
        let shut = ready!(Pin::new(sink).poll_shutdown(cx));
        // The peer of a pipe only notices when the descriptor is closed.
        self.sink = None;
        Poll::Ready(shut.map_err(|error| self.error(&error)))
    }
}

impl<W> fmt::Debug for LineOutlet<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineOutlet").field("open", &self.sink.is_some()).finish_non_exhaustive()
    }
}
