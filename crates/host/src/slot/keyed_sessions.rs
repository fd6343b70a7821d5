//! The keyed sessions of one server: further slots beside its own, by key.
//!
//! Invariants: one slot per key, so concurrent first requests share one start; a session that is in use makes room for no other;
//! after [`KeyedSessions::close`] none is opened.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::session_scope::{SessionKey, SessionLimit, SessionLimits, SessionScope};
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
    owner: Option<SessionKey>,
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
    /// Returns the slot of a scope, in use; `open` creates it if there is none. Sessions that made room for it, also if there is
    /// none in the end, are added to `removed`: the caller closes them.
    pub(crate) fn get_or_open(
        &self,
        scope: &SessionScope,
        budget: &Arc<SessionBudget>,
        removed: &mut Vec<ConnectionHandle>,
        open: impl FnOnce() -> ConnectionHandle,
    ) -> Result<SlotUse, NoSession> {
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(NoSession::Closed);
        }
        if let Some(entry) = table.by_key.get(&scope.key) {
            return Ok(SlotUse::new(Arc::clone(&entry.connection.slot)));
        }
        table.remove_ended();
        let limits = &budget.limits;
        if let Some(owner) = scope.owner {
            let is_theirs = |entry: &KeyedEntry| entry.owner == Some(owner);
            if table.by_key.values().filter(|entry| is_theirs(entry)).count() >= limits.per_owner {
                let limit = NoSession::Limit(SessionLimit::Owner(limits.per_owner));
                removed.push(table.remove_unused(is_theirs).ok_or(limit)?);
            }
        }
        if table.by_key.len() >= limits.per_server {
            let limit = NoSession::Limit(SessionLimit::Server(limits.per_server));
            removed.push(table.remove_unused(|_| true).ok_or(limit)?);
        }
        let permit = SessionPermit::acquire(budget).map_err(NoSession::Limit)?;
        let connection = open();
        let user = SlotUse::new(Arc::clone(&connection.slot));
        table.by_key.insert(scope.key, KeyedEntry { connection, owner: scope.owner, _permit: permit });
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

    /// Returns when the session was last used that [`Self::remove_unused`] would remove; `None` if all are in use.
    pub(crate) fn oldest_unused(&self) -> Option<LastUse> {
        self.table.lock().oldest_unused(|_| true).map(|(last_use, _)| last_use)
    }

    /// Removes the least recently used session that is not in use.
    pub(crate) fn remove_unused(&self) -> Option<ConnectionHandle> {
        self.table.lock().remove_unused(|_| true)
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

    fn oldest_unused(&self, is_eligible: impl Fn(&KeyedEntry) -> bool) -> Option<(LastUse, SessionKey)> {
        let unused = self.by_key.iter().filter(|(_, entry)| {
            // Users are counted under the lock of the table, so none can appear meanwhile.
            entry.connection.slot.usage.is_unused() && is_eligible(entry)
        });
        unused.map(|(key, entry)| (LastUse::of(&entry.connection.slot), *key)).min_by_key(|(last, _)| *last)
    }

    fn remove_unused(&mut self, is_eligible: impl Fn(&KeyedEntry) -> bool) -> Option<ConnectionHandle> {
        let (_, key) = self.oldest_unused(is_eligible)?;
        self.by_key.remove(&key).map(|entry| entry.connection)
    }
}

/// When a session was last used; one that has ended is less than one that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LastUse {
    is_open: bool,
    at: Instant,
}

impl LastUse {
    fn of(slot: &Slot) -> Self {
        Self { is_open: !slot.has_ended(), at: slot.usage.last_used_at() }
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
