//! Session table: creates, finds, expires and evicts sessions.
//!
//! Invariant: a session in use, by a request or by an attached stream, is never evicted. Every operation takes time
//! independent of the number of sessions.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use switchboard_session::server::{Caller, Server, ServerSession};

use crate::http::server::budget::Budget;
use crate::http::server::client_id::ClientId;
use crate::http::server::lru::{EntryKey, WeightedLru};
use crate::http::server::session::{HttpSession, SessionBudgets, StreamLimits};
use crate::http::server::{HttpServerOptions, ReplicaName, SessionStore};

/// Expired sessions removed with each new one, at most.
const MAX_EXPIRED_PER_ADMISSION: usize = 8;

/// All sessions of a service.
pub(crate) struct Sessions {
    table: Arc<Mutex<SessionTable>>,
    server: Arc<Server>,
    pub(crate) store: Arc<dyn SessionStore>,
    replica: ReplicaName,
    idle: Duration,
    max_sessions: usize,
    max_sessions_per_client: usize,
    pub(super) limits: StreamLimits,
    pub(super) budgets: SessionBudgets,
}

#[derive(Default)]
struct SessionTable {
    // The ids are random and ours, so clients cannot force collisions.
    ids: HashMap<String, EntryKey, RandomState>,
    lru: WeightedLru<SessionEntry>,
}

/// Counts the sessions of a service, and does not keep them alive.
#[derive(Clone)]
pub struct SessionCounter {
    table: Weak<Mutex<SessionTable>>,
}

impl SessionCounter {
    /// Returns the number of sessions of legacy clients; 0 when the service has ended. Modern clients have none.
    pub fn count(&self) -> usize {
        self.table.upgrade().map_or(0, |table| table.lock().ids.len())
    }

    /// Returns whether the service exists.
    pub fn is_alive(&self) -> bool {
        self.table.strong_count() > 0
    }
}

impl std::fmt::Debug for SessionCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionCounter").field("count", &self.count()).finish()
    }
}

struct SessionEntry {
    session: Arc<HttpSession>,
    /// Whether clients may use it: only after its handshake has succeeded.
    is_published: bool,
    idle_since: Instant,
}

/// The session limit is reached and all sessions are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManySessions;

impl Sessions {
    pub(crate) fn new(server: &Arc<Server>, options: &HttpServerOptions, streams: &Arc<Budget>) -> Self {
        Self {
            table: Arc::default(),
            server: Arc::clone(server),
            store: Arc::clone(&options.store),
            replica: options.replica.clone(),
            idle: options.session_idle,
            max_sessions: options.sessions,
            max_sessions_per_client: options.sessions_per_client,
            limits: StreamLimits {
                replay_events: options.replay_events,
                replay_bytes: options.replay_bytes,
                stream_bytes: options.stream_bytes,
                keep_alive: options.keep_alive,
                stall: options.write_stall,
            },
            budgets: SessionBudgets {
                replay: Budget::new(options.replay_budget),
                streams: Arc::clone(streams),
            },
        }
    }

    /// Returns a counter that does not keep the sessions alive.
    pub(crate) fn counter(&self) -> SessionCounter {
        SessionCounter { table: Arc::downgrade(&self.table) }
    }

    /// Begins a session. Clients cannot use it before it is [published](Self::publish_and_save); otherwise it is dropped after
    /// its last use.
    pub(crate) async fn begin(
        &self,
        caller: Option<&Caller>,
        client: Option<&ClientId>,
    ) -> Result<SessionUse, TooManySessions> {
        self.admit(self.replica.new_session_id(), ServerSession::owned_by(caller), client).await
    }

    /// Makes a session available to clients, here and on the instances that share the store.
    pub(crate) async fn publish_and_save(&self, session: &SessionUse) {
        if self.publish(session) {
            self.save(session).await;
        }
    }

    /// Writes the state of a session to the store.
    pub(crate) async fn save(&self, session: &HttpSession) {
        if let Some(memory) = session.memory.snapshot() {
            self.store.save(&session.id, memory, self.idle).await;
        }
    }

    /// Finds a session by its id, here or in the store. For any caller but its owner it does not exist.
    pub(crate) async fn find(
        &self,
        id: &str,
        caller: Option<&Caller>,
        client: impl FnOnce() -> Option<ClientId>,
    ) -> Result<Option<SessionUse>, TooManySessions> {
        let Some(memory) = self.store.load(id).await else {
            self.remove_local(id);
            return Ok(None);
        };
        let session = match self.acquire_by_id(id) {
            Some(session) => session,
            None => {
                let restored = ServerSession::restore(&memory).filter(|session| session.is_of(caller));
                let Some(restored) = restored else { return Ok(None) };
                let session = self.admit(id.to_owned(), restored, client().as_ref()).await?;
                // Another request may have restored it meanwhile.
                match self.acquire_by_id(id) {
                    Some(known) => known,
                    None => {
                        self.publish(&session);
                        session
                    }
                }
            }
        };
        if !session.memory.is_of(caller) {
            return Ok(None);
        }
        session.refresh(memory);
        Ok(Some(session))
    }

    /// Ends a session.
    pub(crate) async fn end(&self, id: &str) {
        self.store.remove(id).await;
        self.remove_local(id);
    }

    pub(crate) fn end_all(&self) {
        let entries = {
            let mut table = self.table.lock();
            table.ids.clear();
            table.lru.drain()
        };
        entries.iter().for_each(|entry| entry.session.end());
    }

    /// Returns how long sessions may be idle.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    fn remove_local(&self, id: &str) {
        let entry = {
            let mut table = self.table.lock();
            table.ids.remove(id).and_then(|key| table.lru.remove(key))
        };
        if let Some(entry) = entry {
            entry.session.end();
        }
    }

    fn publish(&self, session: &SessionUse) -> bool {
        let mut table = self.table.lock();
        let Some(entry) = table.lru.get_mut(session.key) else { return false };
        entry.is_published = true;
        table.ids.insert(session.id.clone(), session.key);
        true
    }

    fn acquire_by_id(&self, id: &str) -> Option<SessionUse> {
        let mut table = self.table.lock();
        let key = *table.ids.get(id)?;
        let session = table.acquire(key)?;
        Some(SessionUse { session, key, table: Arc::clone(&self.table) })
    }

    /// Adds a session, evicting an idle one at the limit.
    async fn admit(
        &self,
        id: String,
        memory: ServerSession,
        client: Option<&ClientId>,
    ) -> Result<SessionUse, TooManySessions> {
        let (expired, evicted, admitted) = {
            let mut table = self.table.lock();
            let expired = table.expire(self.idle);
            let evicted = table.make_room(client, self.max_sessions, self.max_sessions_per_client);
            let admitted = evicted.is_ok().then(|| {
                let session = HttpSession::new(id, memory, client.cloned(), self.limits, &self.budgets);
                session.uses.store(1, Ordering::SeqCst);
                let (entry, since) = (Arc::clone(&session), Instant::now());
                let entry = SessionEntry { session: entry, is_published: false, idle_since: since };
                let key = table.lru.insert(client, entry);
                table.lru.set_weight(key, 1);
                SessionUse { session, key, table: Arc::clone(&self.table) }
            });
            (expired, evicted, admitted)
        };
        // Another instance may still serve them, so they stay in the store, which expires them itself.
        expired.iter().for_each(|session| session.end());
        for session in evicted? {
            session.end();
            self.store.remove(&session.id).await;
        }
        let session = admitted.ok_or(TooManySessions)?;
        session.subscribe_to(&self.server);
        Ok(session)
    }
}

impl SessionTable {
    /// Counts one more use of a session, which is not evicted until [`Self::release`]; `None` if it is gone.
    fn acquire(&mut self, key: EntryKey) -> Option<Arc<HttpSession>> {
        let session = Arc::clone(&self.lru.get_mut(key)?.session);
        if session.uses.fetch_add(1, Ordering::SeqCst) == 0 {
            self.lru.set_busy(key);
            session.set_busy();
        }
        Some(session)
    }

    /// Counts one use less of a session.
    fn release(&mut self, session: &HttpSession, key: EntryKey) {
        if session.uses.fetch_sub(1, Ordering::SeqCst) > 1 {
            return;
        }
        let Some(entry) = self.lru.get_mut(key) else { return };
        if entry.is_published {
            entry.idle_since = Instant::now();
            self.lru.set_idle(key);
            session.set_idle();
        } else {
            self.lru.remove(key);
        }
    }

    fn remove(&mut self, key: EntryKey) -> Option<Arc<HttpSession>> {
        let entry = self.lru.remove(key)?;
        self.ids.remove(&entry.session.id);
        Some(entry.session)
    }

    /// Removes expired sessions, the longest idle first.
    fn expire(&mut self, idle: Duration) -> Vec<Arc<HttpSession>> {
        let mut expired = Vec::new();
        while expired.len() < MAX_EXPIRED_PER_ADMISSION
            && let Some(oldest) = self.lru.oldest()
            && self.lru.get_mut(oldest).is_some_and(|entry| entry.idle_since.elapsed() >= idle)
        {
            expired.extend(self.remove(oldest));
        }
        expired
    }

    /// Evicts idle sessions until one more fits: first within the client's own limit, then within the total.
    fn make_room(
        &mut self,
        client: Option<&ClientId>,
        max_sessions: usize,
        max_sessions_per_client: usize,
    ) -> Result<Vec<Arc<HttpSession>>, TooManySessions> {
        let mut evicted = Vec::new();
        if let Some(client) = client
            && self.lru.len_of(client) >= max_sessions_per_client
        {
            let oldest = self.lru.oldest_of(client).ok_or(TooManySessions)?;
            evicted.extend(self.remove(oldest));
        }
        if self.lru.len() >= max_sessions {
            let oldest = self.lru.oldest().ok_or(TooManySessions)?;
            evicted.extend(self.remove(oldest));
        }
        Ok(evicted)
    }
}

/// One use of a session, by a request or an attached stream. It keeps the session from being evicted.
pub(crate) struct SessionUse {
    session: Arc<HttpSession>,
    key: EntryKey,
    table: Arc<Mutex<SessionTable>>,
}

impl Deref for SessionUse {
    type Target = Arc<HttpSession>;

    fn deref(&self) -> &Self::Target {
        &self.session
    }
}

impl Clone for SessionUse {
    fn clone(&self) -> Self {
        // The session is busy already, so nothing else changes.
        self.session.uses.fetch_add(1, Ordering::SeqCst);
        Self { session: Arc::clone(&self.session), key: self.key, table: Arc::clone(&self.table) }
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.table.lock().release(&self.session, self.key);
    }
}

impl std::fmt::Debug for SessionUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionUse")
    }
}

#[cfg(test)]
mod tests;
