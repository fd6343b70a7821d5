//! Where sessions of the legacy era are kept between requests.
//!
//! A store holds what a session remembers, not its streams: an instance that is handed a session of another one goes on
//! from what is in the store, and event replay stays with the instance that sent the events.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    // Ids are made by the service, at random.
    kept: HashMap<Arc<str>, Kept, RandomState>,
    /// The same ids, in the order in which they are looked at for having expired.
    sweep: VecDeque<Arc<str>>,
}

/// Sessions that are looked at for having expired, with every one that is added: more than one, so that the sweep gets
/// around.
const SWEPT_AT_ONCE: usize = 2;

impl State {
    fn sweep(&mut self) {
        for _ in 0..SWEPT_AT_ONCE {
            let Some(id) = self.sweep.pop_front() else { return };
            match self.kept.get(&id) {
                Some(kept) if kept.is_stale() => _ = self.kept.remove(&id),
                Some(_) => self.sweep.push_back(id),
                None => {}
            }
        }
    }
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
        let mut state = self.state.lock();
        let session = Kept { memory, idle, used: Instant::now() };
        if let Some(kept) = state.kept.get_mut(id) {
            *kept = session;
        } else {
            // Swept when something is added, so that what nobody asks for again goes too.
            state.sweep();
            let id: Arc<str> = id.into();
            state.sweep.push_back(Arc::clone(&id));
            state.kept.insert(id, session);
        }
        Box::pin(async {})
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>> {
        let kept = &mut self.state.lock().kept;
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
        self.state.lock().kept.remove(id);
        Box::pin(async {})
    }

    fn clear(&self) -> BoxFuture<'_, usize> {
        let forgotten = std::mem::take(&mut *self.state.lock()).kept.len();
        Box::pin(async move { forgotten })
    }
}
