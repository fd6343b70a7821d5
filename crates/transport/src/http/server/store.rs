//! Session store: where the state of legacy sessions is kept between requests.
//!
//! A store holds the state of a session, not its streams. Another instance can restore a session from it, but event
//! replay stays with the instance that sent the events.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use switchboard_protocol::Raw;
use switchboard_session::link::BoxFuture;

/// Stores session state. Shared by all instances that serve the same clients.
pub trait SessionStore: Send + Sync + 'static {
    /// Saves the state of a session until it was unused for `idle`.
    fn save<'a>(&'a self, id: &'a str, memory: Raw, idle: Duration) -> BoxFuture<'a, ()>;

    /// Loads the state of a session; `None` if it does not exist or has expired. Counts as use.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>>;

    /// Removes a session.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()>;

    /// Removes every session and returns how many there were.
    fn clear(&self) -> BoxFuture<'_, usize>;
}

/// Stores sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<StoreState>,
}

#[derive(Debug, Default)]
struct StoreState {
    // The ids are random and ours, so clients cannot force collisions.
    sessions: HashMap<Arc<str>, StoredSession, RandomState>,
    /// The same ids, in the order in which they are checked for expiry.
    sweep: VecDeque<Arc<str>>,
}

/// Sessions checked for expiry with each new one: more than one, so that the sweep keeps up.
const SWEPT_PER_SAVE: usize = 2;

impl StoreState {
    fn sweep(&mut self) {
        for _ in 0..SWEPT_PER_SAVE {
            let Some(id) = self.sweep.pop_front() else { return };
            match self.sessions.get(&id) {
                Some(sessions) if sessions.is_stale() => _ = self.sessions.remove(&id),
                Some(_) => self.sweep.push_back(id),
                None => {}
            }
        }
    }
}

#[derive(Debug)]
struct StoredSession {
    memory: Raw,
    idle: Duration,
    used: Instant,
}

impl StoredSession {
    fn is_stale(&self) -> bool {
        self.used.elapsed() >= self.idle
    }
}

impl SessionStore for MemoryStore {
    fn save<'a>(&'a self, id: &'a str, memory: Raw, idle: Duration) -> BoxFuture<'a, ()> {
        let mut state = self.state.lock();
        let session = StoredSession { memory, idle, used: Instant::now() };
        if let Some(sessions) = state.sessions.get_mut(id) {
            *sessions = session;
        } else {
            // Sweeping here also removes sessions that are never loaded again.
            state.sweep();
            let id: Arc<str> = id.into();
            state.sweep.push_back(Arc::clone(&id));
            state.sessions.insert(id, session);
        }
        Box::pin(async {})
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>> {
        let sessions = &mut self.state.lock().sessions;
        let found = match sessions.get_mut(id) {
            Some(session) if !session.is_stale() => {
                session.used = Instant::now();
                Some(session.memory.clone())
            }
            Some(_) => {
                sessions.remove(id);
                None
            }
            None => None,
        };
        Box::pin(async { found })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        self.state.lock().sessions.remove(id);
        Box::pin(async {})
    }

    fn clear(&self) -> BoxFuture<'_, usize> {
        let forgotten = std::mem::take(&mut *self.state.lock()).sessions.len();
        Box::pin(async move { forgotten })
    }
}
