//! How much one connection may hold, and how long it may stall.

use std::time::Duration;

use crate::link::Room;

/// The limits of one connection. The defaults are safe; each can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Requests under way at once; one more is refused as overloaded.
    pub pending: usize,
    /// Messages waiting to be written; one more is refused as overloaded.
    pub queued_messages: usize,
    /// Bytes waiting to be written; one more message is refused as overloaded.
    pub queued_bytes: usize,
    /// Notifications nobody has taken yet; the oldest gives way.
    pub notes: usize,
    /// The largest message we send.
    pub outbound_bytes: usize,
    /// How long the far side may read nothing while something waits, before the connection counts as lost.
    pub write_stall: Duration,
    /// How long answers may still come after the far side has stopped reading.
    pub write_failed_grace: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            pending: 1024,
            queued_messages: 1024,
            queued_bytes: 32 * 1024 * 1024,
            notes: 1024,
            outbound_bytes: 16 * 1024 * 1024,
            write_stall: Duration::from_secs(30),
            write_failed_grace: Duration::from_secs(2),
        }
    }
}

impl ConnectionLimits {
    pub(crate) fn room(&self) -> Room {
        Room { frames: self.queued_messages, bytes: self.queued_bytes }
    }
}
