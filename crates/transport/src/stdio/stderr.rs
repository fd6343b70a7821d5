//! The end of a server's stderr, for diagnosis.
//!
//! Invariants: the pipe is always drained, so the server never blocks on it; memory is bounded.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Bytes kept in total.
const RING: usize = 64 * 1024;
/// Bytes kept per line.
const LINE: usize = 8 * 1024;
/// Bytes attached to an error.
const ERROR_TAIL: usize = 4 * 1024;
/// Lines logged per second.
const LOGGED_PER_SECOND: u32 = 50;
/// Bytes per read.
const READ: usize = 8 * 1024;

/// The last lines of a server's stderr; the task that drains it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Stderr {
    drained: Arc<DrainState>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct DrainState {
    ring: Mutex<Ring>,
    /// Closed when everything was read.
    finished: Semaphore,
}

/// Closes the semaphore when the task ends or is aborted.
struct CloseOnDrop(Arc<DrainState>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.finished.close();
    }
}

impl Stderr {
    /// Spawns the draining task.
    pub(crate) fn drain(pipe: impl AsyncRead + Unpin + Send + 'static, pid: u32) -> Self {
        let drained = Arc::new(DrainState { ring: Mutex::default(), finished: Semaphore::new(0) });
        let task = tokio::spawn(drain(pipe, CloseOnDrop(Arc::clone(&drained)), pid));
        Self { drained, task }
    }

    /// Returns everything that is kept, sanitized.
    pub(crate) fn tail(&self) -> String {
        self.drained.ring.lock().text(RING)
    }

    /// Returns the complete lines that follow a position, sanitized.
    pub(crate) fn lines_after(&self, position: u64) -> StderrLines {
        self.drained.ring.lock().lines_after(position)
    }

    /// Returns the last few lines, sanitized, for an error.
    pub(crate) fn tail_for_errors(&self) -> String {
        self.drained.ring.lock().text(ERROR_TAIL)
    }

    /// Waits until everything was read, at most for `within`.
    pub(crate) async fn drained(&self, within: Duration) {
        // There is never a permit: the wait ends when the semaphore is closed.
        let _ = tokio::time::timeout(within, self.drained.finished.acquire()).await;
    }

    pub(crate) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn drain(mut pipe: impl AsyncRead + Unpin, done: CloseOnDrop, pid: u32) {
    let mut logger = LineLogger { pid, since: Instant::now(), lines: 0 };
    let mut take = |chunk: &[u8]| {
        logger.show(chunk);
        done.0.ring.lock().push(chunk);
    };
    while let Ok(1..) = poll_fn(|cx| poll_read(&mut pipe, cx, &mut take)).await {}
}

/// Reads once and returns the number of bytes. The buffer is on the stack, so that an idle server costs none.
fn poll_read(
    pipe: &mut (impl AsyncRead + Unpin),
    cx: &mut Context<'_>,
    take: &mut impl FnMut(&[u8]),
) -> Poll<io::Result<usize>> {
    let mut room = [0; READ];
    let mut chunk = ReadBuf::new(&mut room);
    ready!(Pin::new(pipe).poll_read(cx, &mut chunk))?;
    if !chunk.filled().is_empty() {
        take(chunk.filled());
    }
    Poll::Ready(Ok(chunk.filled().len()))
}

/// Complete lines of a server's stderr output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StderrLines {
    /// The lines, long ones cut, control characters replaced.
    pub lines: Vec<String>,
    /// The position after the last line.
    pub position: u64,
    /// Whether older output is missing, because it is no longer kept.
    pub is_cut: bool,
}

/// The last bytes, with long lines cut.
#[derive(Debug, Default)]
struct Ring {
    bytes: VecDeque<u8>,
    /// Bytes that were dropped before the first.
    dropped: u64,
    /// Bytes kept of the current line.
    line: usize,
}

impl Ring {
    fn push(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|&byte| byte == b'\n') {
            let (text, ends) = match part.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (part, false),
            };
            let kept = text.len().min(LINE - self.line);
            self.bytes.extend(&text[..kept]);
            self.line += kept;
            if ends {
                self.bytes.push_back(b'\n');
                self.line = 0;
            }
            let over = self.bytes.len().saturating_sub(RING);
            self.bytes.drain(..over);
            self.dropped += over as u64;
        }
    }

    /// Returns the complete lines after a position in the output.
    fn lines_after(&self, position: u64) -> StderrLines {
        let skipped = usize::try_from(position.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(skipped).copied().collect();
        let start = self.dropped + skipped.min(self.bytes.len()) as u64;
        bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        let (end, is_cut) = (start + bytes.len() as u64, position < self.dropped);
        if is_cut {
            // The first line is not whole.
            bytes.drain(..bytes.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        }
        let text: String = String::from_utf8_lossy(&bytes).chars().filter_map(sanitized).collect();
        StderrLines { lines: text.lines().map(str::to_owned).collect(), position: end, is_cut }
    }

    /// Returns at most the last `most` bytes, beginning at a line start if possible.
    fn text(&self, most: usize) -> String {
        let cut = self.bytes.len().saturating_sub(most);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(cut).copied().collect();
        // A full ring also begins within a line.
        if (cut > 0 || self.bytes.len() == RING)
            && let Some(at) = bytes.iter().position(|&byte| byte == b'\n')
            && at + 1 < bytes.len()
        {
            bytes.drain(..=at);
        }
        String::from_utf8_lossy(&bytes).chars().filter_map(sanitized).collect()
    }
}

/// Replaces control characters other than newline and tab, which could control the terminal.
fn sanitized(char: char) -> Option<char> {
    match char {
        '\n' | '\t' => Some(char),
        '\r' => None,
        _ if char.is_control() => Some(char::REPLACEMENT_CHARACTER),
        _ => Some(char),
    }
}

/// Logs lines as they come, up to a rate limit.
struct LineLogger {
    pid: u32,
    since: Instant,
    lines: u32,
}

impl LineLogger {
    fn show(&mut self, chunk: &[u8]) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        if self.since.elapsed() > Duration::from_secs(1) {
            let suppressed = self.lines.saturating_sub(LOGGED_PER_SECOND);
            if suppressed > 0 {
                tracing::debug!(pid = self.pid, suppressed, "stderr lines not logged: rate limit");
            }
            (self.since, self.lines) = (Instant::now(), 0);
        }
        for line in chunk.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.lines = self.lines.saturating_add(1);
            if self.lines <= LOGGED_PER_SECOND {
                let text: String = String::from_utf8_lossy(&line[..line.len().min(LINE)])
                    .chars()
                    .filter_map(sanitized)
                    .collect();
                tracing::debug!(pid = self.pid, "stderr: {text}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_cuts_long_lines_and_neutralises_controls() {
        let mut ring = Ring::default();
        ring.push(&vec![b'x'; 1 << 20]);
        assert_eq!(ring.bytes.len(), LINE);
        ring.push(b"\n");
        for number in 0..20_000 {
            ring.push(format!("line {number}\n").as_bytes());
        }
        ring.push(b"\x1b[31mred\r\n\ttab \xff");
        assert!(ring.bytes.len() <= RING);
        let text = ring.text(RING);
        assert!(text.starts_with("line "), "{}", &text[..40]);
        assert!(text.ends_with("line 19999\n\u{fffd}[31mred\n\ttab \u{fffd}"));
        assert!(ring.text(100).len() <= 110);
    }

    #[test]
    fn lines_are_read_once_and_whole() {
        let mut ring = Ring::default();
        ring.push(b"one\ntw");
        let first = ring.lines_after(0);
        assert_eq!((first.lines, first.position, first.is_cut), (vec!["one".to_owned()], 4, false));
        ring.push(b"o\x07\n");
        let second = ring.lines_after(4);
        assert_eq!((second.lines, second.position), (vec!["two\u{fffd}".to_owned()], 9));
        assert_eq!(ring.lines_after(9), StderrLines { position: 9, ..StderrLines::default() });
        for number in 0..20_000 {
            ring.push(format!("line {number}\n").as_bytes());
        }
        let later = ring.lines_after(9);
        assert!(later.is_cut && later.lines.iter().all(|line| line.starts_with("line ")), "no half line");
        assert_eq!(later.lines.last().unwrap(), "line 19999");
        assert!(ring.lines_after(later.position).lines.is_empty());
    }
}
