//! What a service tells its clients unasked: events of its own, and that something has changed.

use serde::Serialize;
use switchboard_protocol::Raw;
use tokio::sync::broadcast;

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

/// Publishes to everybody who listens. Never waits: who is too slow loses the oldest, and that is counted. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct EventsHandle {
    sender: broadcast::Sender<News>,
}

/// The other end, for the server's builder.
#[derive(Debug)]
pub struct EventFeed {
    pub(crate) receiver: broadcast::Receiver<News>,
}

impl Clone for EventFeed {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.resubscribe() }
    }
}

impl EventsHandle {
    /// A pair; each listener may be behind by `capacity`.
    pub fn channel(capacity: usize) -> (Self, EventFeed) {
        let (sender, receiver) = broadcast::channel(capacity.max(1));
        (Self { sender }, EventFeed { receiver })
    }

    /// Publishes an event of the design by its name on the wire.
    pub fn publish(&self, name: &str, payload: &impl Serialize) {
        match Raw::encode(payload) {
            Ok(payload) => self.tell(News::Event(name.to_owned(), payload)),
            Err(error) => tracing::error!(name, %error, "an event cannot be written as JSON"),
        }
    }

    /// A resource has changed.
    pub fn resource_changed(&self, uri: impl Into<String>) {
        self.tell(News::Resource(uri.into()));
    }

    /// The list of tools is another.
    pub fn tools_changed(&self) {
        self.tell(News::Tools);
    }

    /// The list of prompts is another.
    pub fn prompts_changed(&self) {
        self.tell(News::Prompts);
    }

    /// The list of resources is another.
    pub fn resources_changed(&self) {
        self.tell(News::Resources);
    }

    fn tell(&self, news: News) {
        // Without a listener there is nobody to tell.
        let _ = self.sender.send(news);
    }
}
