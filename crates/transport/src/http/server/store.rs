//! Where sessions of the legacy era are kept between requests.
//!
//! A store holds what a session remembers, not its streams: an instance that is handed a session of another one goes on
//! from what is in the store, and event replay stays with the instance that sent the events.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use switchboard_protocol::Raw;
use switchboard_session::link::BoxFuture;

/// Keeps sessions. Shared by all instances that serve the same clients.
pub trait SessionStore: Send + Sync + 'static {
    /// Keeps what a session remembers, for as long as `idle` after the last time.
    fn save<'a>(&'a self, id: &'a str, memory: Raw, idle: Duration) -> BoxFuture<'a, ()>;

    /// What a session remembers; `None` when there is no such session, or no longer. Counts as use.
    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>>;

    /// Forgets a session.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()>;

    /// Forgets every session, and says how many there were.
    fn clear(&self) -> BoxFuture<'_, usize>;
}

/// Keeps sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    // Ids are made by the service, at random.
    kept: Mutex<HashMap<String, Kept, RandomState>>,
}

#[derive(Debug)]
struct Kept {
    memory: Raw,
    idle: Duration,
    used: Instant,
}

impl Kept {
    fn is_stale(&self) -> bool {
        self.used.elapsed() >= self.idle
    }
}

impl SessionStore for MemoryStore {
    fn save<'a>(&'a self, id: &'a str, memory: Raw, idle: Duration) -> BoxFuture<'a, ()> {
        let mut kept = self.kept.lock();
        if !kept.contains_key(id) {
            // Swept when something is added, so that what nobody asks for again goes too.
            kept.retain(|_, kept| !kept.is_stale());
        }
        kept.insert(id.to_owned(), Kept { memory, idle, used: Instant::now() });
        Box::pin(async {})
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>> {
        let mut kept = self.kept.lock();
        let found = match kept.get_mut(id) {
            Some(session) if !session.is_stale() => {
                session.used = Instant::now();
                Some(session.memory.clone())
            }
            Some(_) => {
                kept.remove(id);
                None
            }
            None => None,
        };
        Box::pin(async { found })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        self.kept.lock().remove(id);
        Box::pin(async {})
    }

    fn clear(&self) -> BoxFuture<'_, usize> {
        let forgotten = std::mem::take(&mut *self.kept.lock()).len();
        Box::pin(async move { forgotten })
    }
}
