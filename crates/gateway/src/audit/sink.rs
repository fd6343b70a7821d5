//! The interface of sinks.

use std::io;

/// Receives the lines of the audit log. May block: it is called from a thread for blocking work, one call at a time.
pub trait AuditSink: Send + 'static {
    /// Writes the first of these lines, at least one, and returns their number. The rest is written by the next call.
    ///
    /// # Errors
    /// When nothing was written, not even a part of a line. The same lines are tried again, or dropped.
    fn write(&mut self, lines: &[Vec<u8>]) -> io::Result<usize>;

    /// Makes what was written durable.
    ///
    /// # Errors
    /// When it cannot.
    fn sync(&mut self) -> io::Result<()>;
}
