//! The last a server wrote to stderr, for diagnosis.
//!
//! Invariants: the pipe is always drained, so the server never blocks on it; memory is bounded whatever comes.

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

/// What is kept of all lines together.
const RING: usize = 64 * 1024;
/// What is kept of one line.
const LINE: usize = 8 * 1024;
/// What an error carries of it.
const LAST_WORDS: usize = 4 * 1024;
/// Lines logged in a second.
const LOGGED: u32 = 50;
/// Read at once.
const READ: usize = 8 * 1024;

/// The last lines of a server's stderr; the task that drains it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Stderr {
    drained: Arc<Drained>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Drained {
    ring: Mutex<Ring>,
    /// Closed when all was read.
    more: Semaphore,
}

/// Says that nothing more comes, also when the task is stopped.
struct Done(Arc<Drained>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.more.close();
    }
}

impl Stderr {
    /// Starts to drain on the current runtime.
    pub(crate) fn drain(pipe: impl AsyncRead + Unpin + Send + 'static, pid: u32) -> Self {
        let drained = Arc::new(Drained { ring: Mutex::default(), more: Semaphore::new(0) });
        let task = tokio::spawn(drain(pipe, Done(Arc::clone(&drained)), pid));
        Self { drained, task }
    }

    /// Everything that is kept, made safe to show.
    pub(crate) fn tail(&self) -> String {
        self.drained.ring.lock().text(RING)
    }

    /// The last few lines, made safe to show.
    pub(crate) fn last_words(&self) -> String {
        self.drained.ring.lock().text(LAST_WORDS)
    }

    /// Waits until all was read, but no longer than this.
    pub(crate) async fn drained(&self, within: Duration) {
        // There is never a permit: the wait ends when the semaphore is closed.
        let _ = tokio::time::timeout(within, self.drained.more.acquire()).await;
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

async fn drain(mut pipe: impl AsyncRead + Unpin, done: Done, pid: u32) {
    let mut log = Log { pid, since: Instant::now(), lines: 0 };
    let mut take = |chunk: &[u8]| {
        log.show(chunk);
        done.0.ring.lock().push(chunk);
    };
    while let Ok(1..) = poll_fn(|cx| poll_read(&mut pipe, cx, &mut take)).await {}
}

/// Reads once, and says how much it was. On the stack: most servers write little, and none of it waits there.
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

/// The last bytes, with long lines cut.
#[derive(Debug, Default)]
struct Ring {
    bytes: VecDeque<u8>,
    /// How much of the line under way is kept.
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
        }
    }

    /// At most the last `most` bytes, from the start of a line where one is left.
    fn text(&self, most: usize) -> String {
        let cut = self.bytes.len().saturating_sub(most);
        let mut bytes: Vec<u8> = self.bytes.iter().skip(cut).copied().collect();
        // A full ring begins somewhere in a line, too.
        if (cut > 0 || self.bytes.len() == RING)
            && let Some(at) = bytes.iter().position(|&byte| byte == b'\n')
            && at + 1 < bytes.len()
        {
            bytes.drain(..=at);
        }
        String::from_utf8_lossy(&bytes).chars().filter_map(shown).collect()
    }
}

/// A terminal obeys control characters: none but newline and tab may come from a server.
fn shown(char: char) -> Option<char> {
    match char {
        '\n' | '\t' => Some(char),
        '\r' => None,
        _ if char.is_control() => Some(char::REPLACEMENT_CHARACTER),
        _ => Some(char),
    }
}

/// Shows lines as they come, so many a second.
struct Log {
    pid: u32,
    since: Instant,
    lines: u32,
}

impl Log {
    fn show(&mut self, chunk: &[u8]) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        if self.since.elapsed() > Duration::from_secs(1) {
            let unseen = self.lines.saturating_sub(LOGGED);
            if unseen > 0 {
                tracing::debug!(pid = self.pid, unseen, "more on stderr than is logged");
            }
            (self.since, self.lines) = (Instant::now(), 0);
        }
        for line in chunk.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.lines = self.lines.saturating_add(1);
            if self.lines <= LOGGED {
                let text: String = String::from_utf8_lossy(&line[..line.len().min(LINE)])
                    .chars()
                    .filter_map(shown)
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
}
