//! The limits of one connection: queue sizes, message sizes, timeouts.

use std::time::Duration;

use crate::link::OutboxLimits;

/// The limits of one connection. The defaults are safe; each can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Requests in flight; one more is refused as overloaded.
    pub pending: usize,
    /// Messages waiting to be written; one more is refused as overloaded.
    pub queued_messages: usize,
    /// Bytes waiting to be written; one more message is refused as overloaded.
    pub queued_bytes: usize,
    /// Notifications in a queue; when it is full, the oldest is dropped.
    pub notes: usize,
    /// The largest message we send.
    pub outbound_bytes: usize,
    /// How long the peer may read nothing while data waits, before the connection counts as lost.
    pub write_stall: Duration,
    /// How long responses are still read after writing has failed.
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
    pub(crate) fn outbox_limits(&self) -> OutboxLimits {
        OutboxLimits { frames: self.queued_messages, bytes: self.queued_bytes }
    }
}
