//! The legacy sessions of one view in the store of all: a session of one view is not valid in another, nor in a later view of
//! the same name.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::Raw;
use switchboard_session::link::BoxFuture;
use switchboard_transport::http::server::{SessionCounter, SessionStore};

/// Counts the legacy sessions of the HTTP services of one view.
#[derive(Default)]
pub(crate) struct ViewSessionCounters(Mutex<Vec<SessionCounter>>);

impl ViewSessionCounters {
    /// Adds the sessions of a service.
    pub(crate) fn add(&self, counter: SessionCounter) {
        let mut counters = self.0.lock();
        counters.retain(SessionCounter::is_alive);
        counters.push(counter);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().iter().map(SessionCounter::count).sum()
    }
}

/// Keeps the sessions of one view under keys of their own.
pub(crate) struct ViewSessionStore {
    inner: Arc<dyn SessionStore>,
    /// Random for each start of a view.
    prefix: String,
}

impl ViewSessionStore {
    pub(crate) fn new(inner: Arc<dyn SessionStore>) -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        Self { inner, prefix: format!("view-{:032x}-", u128::from_le_bytes(bytes)) }
    }

    fn key(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }
}

impl SessionStore for ViewSessionStore {
    fn save<'a>(&'a self, id: &'a str, memory: Raw, idle: Duration) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.inner.save(&self.key(id), memory, idle).await })
    }

    fn load<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Raw>> {
        Box::pin(async move { self.inner.load(&self.key(id)).await })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.inner.remove(&self.key(id)).await })
    }

    /// Removes the sessions of all views: the store does not list them.
    fn clear(&self) -> BoxFuture<'_, usize> {
        self.inner.clear()
    }
}
