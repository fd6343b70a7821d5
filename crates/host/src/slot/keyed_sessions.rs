//! The keyed sessions of one server: further slots beside its own, by key.
//!
//! Invariants: one slot per key, so concurrent first requests share one start; a session that is in use is never removed;
//! after [`KeyedSessions::close`] none is opened.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::session_scope::{SessionKey, SessionLimit, SessionLimits};
use crate::slot::{ConnectionHandle, Slot, SlotUse};

/// The keyed sessions of one server.
#[derive(Debug, Default)]
pub(crate) struct KeyedSessions {
    // Held for a lookup or a change, never across an await.
    table: Mutex<KeyedTable>,
}

#[derive(Debug, Default)]
struct KeyedTable {
    by_key: HashMap<SessionKey, KeyedEntry>,
    is_closed: bool,
}

#[derive(Debug)]
struct KeyedEntry {
    connection: ConnectionHandle,
    /// Counts it in the host's total.
    _permit: SessionPermit,
}

/// Why there is no session for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSession {
    /// The server was removed.
    Closed,
    /// There are too many.
    Limit(SessionLimit),
}

impl KeyedSessions {
    /// Returns the slot of a key, in use; `open` creates it if there is none.
    pub(crate) fn get_or_open(
        &self,
        key: SessionKey,
        budget: &Arc<SessionBudget>,
        open: impl FnOnce() -> ConnectionHandle,
    ) -> Result<SlotUse, NoSession> {
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(NoSession::Closed);
        }
        if let Some(entry) = table.by_key.get(&key) {
            return Ok(SlotUse::new(Arc::clone(&entry.connection.slot)));
        }
        table.remove_ended();
        let max = budget.limits.per_server;
        if table.by_key.len() >= max {
            return Err(NoSession::Limit(SessionLimit::Server(max)));
        }
        let permit = SessionPermit::acquire(budget).map_err(NoSession::Limit)?;
        let connection = open();
        let user = SlotUse::new(Arc::clone(&connection.slot));
        table.by_key.insert(key, KeyedEntry { connection, _permit: permit });
        Ok(user)
    }

    /// Returns the slot of a key, if there is one.
    pub(crate) fn get(&self, key: SessionKey) -> Option<Arc<Slot>> {
        self.table.lock().by_key.get(&key).map(|entry| Arc::clone(&entry.connection.slot))
    }

    /// Returns the slot of a key, in use, if there is one.
    pub(crate) fn use_existing(&self, key: SessionKey) -> Option<SlotUse> {
        // Under the lock: a slot without users may be removed at any time.
        let table = self.table.lock();
        table.by_key.get(&key).map(|entry| SlotUse::new(Arc::clone(&entry.connection.slot)))
    }

    /// Returns all slots.
    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.table.lock().by_key.values().map(|entry| Arc::clone(&entry.connection.slot)).collect()
    }

    /// Returns the number of sessions that are open or being opened.
    pub(crate) fn open_count(&self) -> usize {
        let table = self.table.lock();
        table.by_key.values().filter(|entry| !entry.connection.slot.has_ended()).count()
    }

    /// Removes the slots whose sessions have ended.
    pub(crate) fn remove_ended(&self) {
        self.table.lock().remove_ended();
    }

    /// Removes all sessions. Further ones can be opened.
    pub(crate) fn take_all(&self) -> Vec<ConnectionHandle> {
        self.table.lock().by_key.drain().map(|(_, entry)| entry.connection).collect()
    }

    /// Removes all sessions for good.
    pub(crate) fn close(&self) -> Vec<ConnectionHandle> {
        self.table.lock().is_closed = true;
        self.take_all()
    }
}

impl KeyedTable {
    fn remove_ended(&mut self) {
        let now = Instant::now();
        self.by_key.retain(|_, entry| !entry.connection.slot.is_removable(now));
    }
}

/// The number of keyed sessions of a host, and its limits.
#[derive(Debug, Default)]
pub(crate) struct SessionBudget {
    pub(crate) limits: SessionLimits,
    used: AtomicUsize,
}

impl SessionBudget {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        Self { limits, used: AtomicUsize::new(0) }
    }
}

/// One keyed session of the host's total.
#[derive(Debug)]
struct SessionPermit(Arc<SessionBudget>);

impl SessionPermit {
    fn acquire(budget: &Arc<SessionBudget>) -> Result<Self, SessionLimit> {
        let max = budget.limits.total;
        let add = |used: usize| (used < max).then_some(used + 1);
        match budget.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, add) {
            Ok(_) => Ok(Self(Arc::clone(budget))),
            Err(_) => Err(SessionLimit::Host(max)),
        }
    }
}

impl Drop for SessionPermit {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::AcqRel);
    }
}
