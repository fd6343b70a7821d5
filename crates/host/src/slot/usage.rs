//! Counts the users of a slot, and tells since when it has none.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::slot::Slot;

/// The users of a slot: calls, subscriptions, and whoever waits for its session.
#[derive(Debug)]
pub(crate) struct Usage {
    users: AtomicUsize,
    created: Instant,
    /// When the last user left, in nanoseconds since the creation: exact, because the least recently used one is found by it.
    last_used: AtomicU64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { users: AtomicUsize::new(0), created: Instant::now(), last_used: AtomicU64::new(0) }
    }
}

impl Usage {
    pub(crate) fn is_unused(&self) -> bool {
        self.users.load(Ordering::SeqCst) == 0
    }

    /// Returns when the slot will have been unused for this long; if it is in use, the time to look again.
    pub(crate) fn idle_at(&self, timeout: Duration, now: Instant) -> Instant {
        if !self.is_unused() {
            return now + timeout;
        }
        self.last_used_at() + timeout
    }

    /// Returns when the last user left.
    pub(crate) fn last_used_at(&self) -> Instant {
        self.created + Duration::from_nanos(self.last_used.load(Ordering::SeqCst))
    }

    /// Counts the time up to now as used.
    pub(crate) fn touch(&self) {
        let elapsed = self.created.elapsed().as_nanos();
        self.last_used.store(u64::try_from(elapsed).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

/// A user of a slot. The server is not stopped as idle while there is one.
#[derive(Debug)]
pub(crate) struct SlotUse(Arc<Slot>);

impl SlotUse {
    pub(crate) fn new(slot: Arc<Slot>) -> Self {
        slot.usage.users.fetch_add(1, Ordering::SeqCst);
        Self(slot)
    }
}

impl Clone for SlotUse {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.0))
    }
}

impl Deref for SlotUse {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        &self.0
    }
}

impl Drop for SlotUse {
    fn drop(&mut self) {
        if self.0.idle_timeout().is_some() {
            self.0.usage.touch();
        }
        self.0.usage.users.fetch_sub(1, Ordering::SeqCst);
    }
}
