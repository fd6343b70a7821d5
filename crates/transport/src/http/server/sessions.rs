//! The table of sessions: which there are, who uses them now, and which gives way when there are too many.
//!
//! Invariant: a session that is used, by a request or by a stream that somebody reads, never gives way to a newcomer.
//! Nothing here depends on how many sessions there are.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use switchboard_session::server::{Caller, Server, ServerSession};

use crate::http::server::budget::Budget;
use crate::http::server::client_id::ClientId;
use crate::http::server::ledger::{Key, Ledger};
use crate::http::server::options::HttpOptions;
use crate::http::server::session::{HttpSession, SessionBudgets, StreamLimits};
use crate::http::server::store::SessionStore;

/// Sessions that are looked at for having expired, with every one that begins.
const EXPIRED_AT_ONCE: usize = 8;

/// All sessions of a service.
pub(crate) struct Sessions {
    table: Arc<Mutex<Table>>,
    server: Arc<Server>,
    pub(crate) store: Arc<dyn SessionStore>,
    idle: Duration,
    most: usize,
    most_of_client: usize,
    pub(super) limits: StreamLimits,
    pub(super) budgets: SessionBudgets,
}

#[derive(Default)]
struct Table {
    // The ids are ours and random, so nobody can choose ones that collide.
    ids: HashMap<String, Key, RandomState>,
    ledger: Ledger<Entry>,
}

struct Entry {
    session: Arc<HttpSession>,
    /// Whether clients may name it: only once its handshake has succeeded.
    is_published: bool,
    idle_since: Instant,
}

/// There are too many sessions, and all of them are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManySessions;

impl Sessions {
    pub(crate) fn new(server: &Arc<Server>, options: &HttpOptions, streams: &Arc<Budget>) -> Self {
        Self {
            table: Arc::default(),
            server: Arc::clone(server),
            store: Arc::clone(&options.store),
            idle: options.session_idle,
            most: options.sessions,
            most_of_client: options.sessions_per_client,
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

    /// Begins a session. No client can name it before it is [kept](Self::keep); it is forgotten if that never happens.
    pub(crate) async fn begin(
        &self,
        caller: Option<&Caller>,
        client: Option<&ClientId>,
    ) -> Result<SessionUse, TooManySessions> {
        self.admit(random_id(), ServerSession::owned_by(caller), client).await
    }

    /// Makes a session known: to this instance, and to those who share the store.
    pub(crate) async fn keep(&self, session: &SessionUse) {
        {
            let mut table = self.table.lock();
            let Some(entry) = table.ledger.get_mut(session.key) else { return };
            entry.is_published = true;
            table.ids.insert(session.id.clone(), session.key);
        }
        self.save(session).await;
    }

    /// Writes what a session remembers to the store.
    pub(crate) async fn save(&self, session: &HttpSession) {
        if let Some(memory) = session.memory.snapshot() {
            self.store.save(&session.id, memory, self.idle).await;
        }
    }

    /// A session by its id, here or in the store. To anybody but the caller who began it, it does not exist.
    pub(crate) async fn find(
        &self,
        id: &str,
        caller: Option<&Caller>,
        client: impl FnOnce() -> Option<ClientId>,
    ) -> Result<Option<SessionUse>, TooManySessions> {
        let Some(memory) = self.store.load(id).await else {
            self.forget(id);
            return Ok(None);
        };
        let session = match self.use_known(id) {
            Some(session) => session,
            None => {
                let restored = ServerSession::restore(&memory).filter(|session| session.is_of(caller));
                let Some(restored) = restored else { return Ok(None) };
                let session = self.admit(id.to_owned(), restored, client().as_ref()).await?;
                // Another request may have restored it meanwhile.
                match self.use_known(id) {
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
        self.forget(id);
    }

    pub(crate) fn end_all(&self) {
        let entries = {
            let mut table = self.table.lock();
            table.ids.clear();
            table.ledger.drain()
        };
        entries.iter().for_each(|entry| entry.session.end());
    }

    /// How long sessions may be idle.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    fn forget(&self, id: &str) {
        let entry = {
            let mut table = self.table.lock();
            table.ids.remove(id).and_then(|key| table.ledger.remove(key))
        };
        if let Some(entry) = entry {
            entry.session.end();
        }
    }

    fn publish(&self, session: &SessionUse) {
        let mut table = self.table.lock();
        if let Some(entry) = table.ledger.get_mut(session.key) {
            entry.is_published = true;
            table.ids.insert(session.id.clone(), session.key);
        }
    }

    fn use_known(&self, id: &str) -> Option<SessionUse> {
        let mut table = self.table.lock();
        let key = *table.ids.get(id)?;
        let session = table.acquire(key)?;
        Some(SessionUse { session, key, table: Arc::clone(&self.table) })
    }

    /// Adds a session, in the place of an idle one where there is no room.
    async fn admit(
        &self,
        id: String,
        memory: ServerSession,
        client: Option<&ClientId>,
    ) -> Result<SessionUse, TooManySessions> {
        let (expired, evicted, admitted) = {
            let mut table = self.table.lock();
            let expired = table.expire(self.idle);
            let evicted = table.make_room(client, self.most, self.most_of_client);
            let admitted = evicted.is_ok().then(|| {
                let session = HttpSession::new(id, memory, client.cloned(), self.limits, &self.budgets);
                session.uses.store(1, Ordering::SeqCst);
                let (entry, since) = (Arc::clone(&session), Instant::now());
                let entry = Entry { session: entry, is_published: false, idle_since: since };
                let key = table.ledger.insert(client, entry);
                table.ledger.set_weight(key, 1);
                SessionUse { session, key, table: Arc::clone(&self.table) }
            });
            (expired, evicted, admitted)
        };
        // Those that another instance still serves stay in the store, which has a clock of its own.
        expired.iter().for_each(|session| session.end());
        for session in evicted? {
            session.end();
            self.store.remove(&session.id).await;
        }
        let session = admitted.ok_or(TooManySessions)?;
        session.listen_to(&self.server);
        Ok(session)
    }
}

impl Table {
    /// Marks a session as used once more.
    fn acquire(&mut self, key: Key) -> Option<Arc<HttpSession>> {
        let session = Arc::clone(&self.ledger.get_mut(key)?.session);
        if session.uses.fetch_add(1, Ordering::SeqCst) == 0 {
            self.ledger.set_busy(key);
            session.set_busy();
        }
        Some(session)
    }

    /// Marks a session as used once less.
    fn release(&mut self, session: &HttpSession, key: Key) {
        if session.uses.fetch_sub(1, Ordering::SeqCst) > 1 {
            return;
        }
        let Some(entry) = self.ledger.get_mut(key) else { return };
        if entry.is_published {
            entry.idle_since = Instant::now();
            self.ledger.set_idle(key);
            session.set_idle();
        } else {
            self.ledger.remove(key);
        }
    }

    fn remove(&mut self, key: Key) -> Option<Arc<HttpSession>> {
        let entry = self.ledger.remove(key)?;
        self.ids.remove(&entry.session.id);
        Some(entry.session)
    }

    /// Removes sessions that nobody has used for too long, the longest idle first.
    fn expire(&mut self, idle: Duration) -> Vec<Arc<HttpSession>> {
        let mut expired = Vec::new();
        while expired.len() < EXPIRED_AT_ONCE
            && let Some(oldest) = self.ledger.oldest()
            && self.ledger.get_mut(oldest).is_some_and(|entry| entry.idle_since.elapsed() >= idle)
        {
            expired.extend(self.remove(oldest));
        }
        expired
    }

    /// Makes room for one more session of a client: in the client's own share, then among all.
    fn make_room(
        &mut self,
        client: Option<&ClientId>,
        most: usize,
        most_of_client: usize,
    ) -> Result<Vec<Arc<HttpSession>>, TooManySessions> {
        let mut evicted = Vec::new();
        if let Some(client) = client
            && self.ledger.len_of(client) >= most_of_client
        {
            let oldest = self.ledger.oldest_of(client).ok_or(TooManySessions)?;
            evicted.extend(self.remove(oldest));
        }
        if self.ledger.len() >= most {
            let oldest = self.ledger.oldest().ok_or(TooManySessions)?;
            evicted.extend(self.remove(oldest));
        }
        Ok(evicted)
    }
}

/// One use of a session: by a request, or by a stream that somebody reads. While there is one, the session is busy.
pub(crate) struct SessionUse {
    session: Arc<HttpSession>,
    key: Key,
    table: Arc<Mutex<Table>>,
}

impl Deref for SessionUse {
    type Target = Arc<HttpSession>;

    fn deref(&self) -> &Self::Target {
        &self.session
    }
}

impl Clone for SessionUse {
    fn clone(&self) -> Self {
        // It is busy already, so nothing else changes.
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

/// 256 random bits: a session id cannot be guessed.
pub(crate) fn random_id() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
