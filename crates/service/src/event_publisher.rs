//! Events and change notifications that a service publishes to its clients.
//!
//! Publishing does not wait and spawns nothing: it passes the publication to each server of the service, which
//! buffers it for its clients within limits.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde::Serialize;
use switchboard_protocol::Raw;

/// An event or change notification.
#[derive(Debug, Clone)]
pub(crate) enum Publication {
    /// An event of the design, with its payload.
    Event(String, Raw),
    ResourceChanged(String),
    ToolsChanged,
    PromptsChanged,
    ResourcesChanged,
}

/// A server that receives publications.
pub(crate) trait PublicationSink: Send + Sync {
    fn deliver(&self, publication: &Publication);
}

struct FeedHub {
    capacity: usize,
    /// Weak, so that dropped servers are skipped.
    servers: Mutex<Vec<Weak<dyn PublicationSink>>>,
}

/// Publishes events and change notifications to all listeners. Never waits: a slow listener loses the oldest events,
/// which are counted. Cheap to clone.
///
/// ```
/// use switchboard::service::{EventPublisher, Result};
///
/// /// Tells the time.
/// #[switchboard::service(name = "clock", version = "1.0.0")]
/// pub trait Clock {
///     /// Returns the time.
///     #[tool]
///     async fn now(&self) -> Result<String>;
///     /// An hour has passed.
///     #[notification]
///     fn hour(payload: u32);
/// }
/// # struct Station;
/// # impl Clock for Station { async fn now(&self) -> Result<String> { Ok("10:30".into()) } }
///
/// let (publisher, feed) = EventPublisher::channel(64);
/// let server = ClockServer::builder(Station).events(feed).build()?;
/// publisher.publish("hour", &11); // reaches every listener of the server
/// publisher.tools_changed();
/// assert!(server.capabilities().declares("tools.listChanged"));
/// # Ok::<(), switchboard::service::BuildError>(())
/// ```
#[derive(Clone)]
pub struct EventPublisher {
    hub: Arc<FeedHub>,
}

/// The receiving end, for the server's builder. Publications before a server is built are lost.
#[derive(Clone)]
pub struct EventFeed {
    hub: Arc<FeedHub>,
}

impl EventPublisher {
    /// Creates a publisher and its feed. Each listener buffers up to `capacity` events.
    pub fn channel(capacity: usize) -> (Self, EventFeed) {
        let hub = Arc::new(FeedHub { capacity: capacity.max(1), servers: Mutex::default() });
        (Self { hub: Arc::clone(&hub) }, EventFeed { hub })
    }

    /// Publishes an event of the design by its wire name.
    pub fn publish(&self, name: &str, payload: &impl Serialize) {
        match Raw::encode(payload) {
            Ok(payload) => self.broadcast(&Publication::Event(name.to_owned(), payload)),
            Err(error) => tracing::error!(name, %error, "event cannot be encoded as JSON"),
        }
    }

    /// Reports a changed resource.
    pub fn resource_changed(&self, uri: impl Into<String>) {
        self.broadcast(&Publication::ResourceChanged(uri.into()));
    }

    /// Reports a changed list of tools.
    pub fn tools_changed(&self) {
        self.broadcast(&Publication::ToolsChanged);
    }

    /// Reports a changed list of prompts.
    pub fn prompts_changed(&self) {
        self.broadcast(&Publication::PromptsChanged);
    }

    /// Reports a changed list of resources.
    pub fn resources_changed(&self) {
        self.broadcast(&Publication::ResourcesChanged);
    }

    fn broadcast(&self, publication: &Publication) {
        self.hub.broadcast(publication);
    }
}

impl FeedHub {
    fn broadcast(&self, publication: &Publication) {
        // Collects the servers first: the lock is not held while they receive.
        let servers: Vec<_> = self.servers.lock().iter().filter_map(Weak::upgrade).collect();
        servers.iter().for_each(|server| server.deliver(publication));
    }
}

impl EventFeed {
    /// Attaches a server for as long as it exists.
    pub(crate) fn attach(&self, server: &Arc<impl PublicationSink + 'static>) {
        let server: Weak<dyn PublicationSink> = Arc::downgrade(server) as Weak<dyn PublicationSink>;
        let mut servers = self.hub.servers.lock();
        servers.retain(|known| known.strong_count() > 0);
        servers.push(server);
    }

    /// Publishes an event from a client to the listeners of every server of the service.
    pub(crate) fn publish(&self, name: &str, data: &Raw) {
        self.hub.broadcast(&Publication::Event(name.to_owned(), data.clone()));
    }

    /// Returns the buffer size of a listener.
    pub(crate) fn capacity(&self) -> usize {
        self.hub.capacity
    }
}

impl fmt::Debug for EventPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventPublisher({} servers)", self.hub.servers.lock().len())
    }
}

impl fmt::Debug for EventFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventFeed")
    }
}
