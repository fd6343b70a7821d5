//! The log of events: numbers them, keeps the last ones, wakes readers.
//!
//! # A snapshot and its number
//!
//! A snapshot includes every event up to its `sequence`. Whoever publishes changes the state first, and publishes then;
//! whoever makes a snapshot reads [`EventLog::sequence`] first, and the state then. The snapshot may also include what a
//! later event says: an event that replaces state may be applied twice. Events that add something (lines of stderr,
//! samples of latency) must not be applied twice: their state is changed inside of [`EventLog::update`] and read inside of
//! [`EventLog::read`], which exclude each other.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::event_reader::EventReader;
use super::ring::{Ring, RingLimits};
use crate::contract::ConsoleEvent;

/// 4,096 events or 8 MB; a reader takes 256 KB at once.
const LIMITS: RingLimits = RingLimits { events: 4096, bytes: 8 << 20, batch: 256 << 10 };

/// The log of events. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct EventLog {
    ring: Arc<Mutex<Ring>>,
    /// The number of the last event; dropping the log ends its readers.
    last: Arc<watch::Sender<u64>>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self::with_limits(LIMITS)
    }
}

impl EventLog {
    pub(super) fn with_limits(limits: RingLimits) -> Self {
        Self { ring: Arc::new(Mutex::new(Ring::new(limits))), last: Arc::new(watch::Sender::new(0)) }
    }

    /// Publishes an event and returns its number. The state that it tells of has changed already.
    pub(crate) fn publish(&self, event: ConsoleEvent) -> u64 {
        self.update(|| Some(event))
    }

    /// Changes state and publishes the event that tells of it, if any; returns the number of the last event.
    ///
    /// `change` must not use this log, and must not wait: it holds its lock.
    pub(crate) fn update(&self, change: impl FnOnce() -> Option<ConsoleEvent>) -> u64 {
        let mut ring = self.ring.lock();
        if let Some(event) = change() {
            let number = ring.push(&event);
            // Inside of the lock, so that numbers ascend.
            self.last.send_replace(number);
        }
        ring.last()
    }

    /// Reads state together with the number of the last event that it includes.
    ///
    /// `read` must not use this log, and must not wait: it holds its lock.
    pub(crate) fn read<T>(&self, read: impl FnOnce(u64) -> T) -> T {
        let ring = self.ring.lock();
        read(ring.last())
    }

    /// Returns whether somebody reads the events.
    pub(crate) fn has_readers(&self) -> bool {
        self.last.receiver_count() > 0
    }

    /// Returns the number of the last event; 0 before the first.
    pub(crate) fn sequence(&self) -> u64 {
        self.ring.lock().last()
    }

    /// Returns a reader of the events after this number, or of the events from now on.
    pub(crate) fn reader(&self, after: Option<u64>) -> EventReader {
        let updates = self.last.subscribe();
        EventReader::new(Arc::clone(&self.ring), updates, after.unwrap_or_else(|| self.sequence()))
    }
}
