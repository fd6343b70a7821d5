//! A reader of the log. It keeps no events of its own: a slow reader gets a gap, not a buffer.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::ring::Ring;

/// A reader of the log, at a position.
#[derive(Debug)]
pub(crate) struct EventReader {
    ring: Arc<Mutex<Ring>>,
    updates: watch::Receiver<u64>,
    /// The number of the last event that was read.
    position: u64,
}

impl EventReader {
    pub(super) fn new(ring: Arc<Mutex<Ring>>, updates: watch::Receiver<u64>, position: u64) -> Self {
        Self { ring, updates, position }
    }

    /// Waits for events and returns them as text of an event stream; `None` when the log has ended.
    ///
    /// # Cancellation
    /// No event is lost.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.updates.mark_unchanged();
            if let Some((text, position)) = self.ring.lock().read(self.position) {
                self.position = position;
                return Some(text);
            }
            self.updates.changed().await.ok()?;
        }
    }
}
