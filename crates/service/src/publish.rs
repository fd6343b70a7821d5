//! What a service tells its clients unasked: events of its own, and that something has changed.
//!
//! Nothing waits here and nothing runs on its own: whoever publishes tells each server of the service, and those keep
//! what their clients have not read yet, within bounds.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde::Serialize;
use switchboard_protocol::Raw;

/// One thing told unasked.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// An event of the design: its name and what it carries.
    Event(String, Raw),
    Resource(String),
    Tools,
    Prompts,
    Resources,
}

/// One who is told.
pub(crate) trait Hears: Send + Sync {
    fn hear(&self, news: &News);
}

struct Hub {
    capacity: usize,
    /// Weak: a server that is gone need not be told.
    servers: Mutex<Vec<Weak<dyn Hears>>>,
}

/// Publishes to everybody who listens. Never waits: who is too slow loses the oldest, and that is counted. Cheap to
/// clone.
#[derive(Clone)]
pub struct EventsHandle {
    hub: Arc<Hub>,
}

/// The other end, for the server's builder. What is published before a server is built, nobody hears.
#[derive(Clone)]
pub struct EventFeed {
    hub: Arc<Hub>,
}

impl EventsHandle {
    /// A pair; each listener may be behind by `capacity`.
    pub fn channel(capacity: usize) -> (Self, EventFeed) {
        let hub = Arc::new(Hub { capacity: capacity.max(1), servers: Mutex::default() });
        (Self { hub: Arc::clone(&hub) }, EventFeed { hub })
    }

    /// Publishes an event of the design by its name on the wire.
    pub fn publish(&self, name: &str, payload: &impl Serialize) {
        match Raw::encode(payload) {
            Ok(payload) => self.tell(&News::Event(name.to_owned(), payload)),
            Err(error) => tracing::error!(name, %error, "an event cannot be written as JSON"),
        }
    }

    /// A resource has changed.
    pub fn resource_changed(&self, uri: impl Into<String>) {
        self.tell(&News::Resource(uri.into()));
    }

    /// The list of tools is another.
    pub fn tools_changed(&self) {
        self.tell(&News::Tools);
    }

    /// The list of prompts is another.
    pub fn prompts_changed(&self) {
        self.tell(&News::Prompts);
    }

    /// The list of resources is another.
    pub fn resources_changed(&self) {
        self.tell(&News::Resources);
    }

    fn tell(&self, news: &News) {
        self.hub.tell(news);
    }
}

impl Hub {
    fn tell(&self, news: &News) {
        // Out of the lock before anybody hears.
        let servers: Vec<_> = self.servers.lock().iter().filter_map(Weak::upgrade).collect();
        servers.iter().for_each(|server| server.hear(news));
    }
}

impl EventFeed {
    /// Tells a server from now on, as long as there is one.
    pub(crate) fn attach(&self, server: &Arc<impl Hears + 'static>) {
        let server: Weak<dyn Hears> = Arc::downgrade(server) as Weak<dyn Hears>;
        let mut servers = self.hub.servers.lock();
        servers.retain(|known| known.strong_count() > 0);
        servers.push(server);
    }

    /// Publishes an event that a caller sent, to the listeners of every server of the service.
    pub(crate) fn publish(&self, name: &str, data: &Raw) {
        self.hub.tell(&News::Event(name.to_owned(), data.clone()));
    }

    /// By how much a listener may be behind.
    pub(crate) fn capacity(&self) -> usize {
        self.hub.capacity
    }
}

impl fmt::Debug for EventsHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventsHandle({} servers)", self.hub.servers.lock().len())
    }
}

impl fmt::Debug for EventFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventFeed")
    }
}
