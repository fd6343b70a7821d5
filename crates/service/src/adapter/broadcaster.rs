//! Delivers publications to the clients of a server: change notifications to subscribers, events to listeners.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_design::ResourceUri;
use switchboard_protocol::Raw;
use switchboard_session::server::Publisher;
use tokio::sync::Notify;

use crate::EventFeed;
use crate::event_publisher::{Publication, PublicationSink};

/// Default buffer size of an event listener.
const DEFAULT_CAPACITY: usize = 64;

/// Delivers publications to the clients of one server.
pub(crate) struct Broadcaster {
    publisher: Publisher,
    capacity: usize,
    listeners: Mutex<HashMap<u64, Arc<ListenerQueue>>>,
    next: AtomicU64,
    /// Number of subscriptions per URI, exactly as the client wrote it.
    subscriptions: Mutex<HashMap<String, usize>>,
}

impl Broadcaster {
    /// Creates a broadcaster that is attached to the feeds of a service.
    pub(crate) fn attached_to(feeds: &[EventFeed], publisher: Publisher) -> Arc<Self> {
        let capacity = feeds.iter().map(EventFeed::capacity).max().unwrap_or(DEFAULT_CAPACITY);
        let broadcaster = Arc::new(Self::new(publisher, capacity));
        feeds.iter().for_each(|feed| feed.attach(&broadcaster));
        broadcaster
    }

    fn new(publisher: Publisher, capacity: usize) -> Self {
        Self {
            publisher,
            capacity: capacity.max(1),
            listeners: Mutex::default(),
            next: AtomicU64::new(0),
            subscriptions: Mutex::default(),
        }
    }

    pub(crate) fn add_subscription(&self, uri: &str) {
        *self.subscriptions.lock().entry(uri.to_owned()).or_default() += 1;
    }

    pub(crate) fn remove_subscription(&self, uri: &str) {
        let mut subscriptions = self.subscriptions.lock();
        if let Some(times) = subscriptions.get_mut(uri) {
            *times -= 1;
            if *times == 0 {
                subscriptions.remove(uri);
            }
        }
    }

    /// Notifies the subscribers of a resource, under each URI spelling they used and whatever its query.
    pub(crate) fn notify_changed(&self, uri: &str) {
        let base = |uri: &str| uri.parse::<ResourceUri>().ok().map(|uri| uri.base().to_owned());
        let changed = base(uri);
        let same = |spelling: &&String| *spelling == uri || (changed.is_some() && base(spelling) == changed);
        let spellings: Vec<String> = self.subscriptions.lock().keys().filter(same).cloned().collect();
        spellings.into_iter().for_each(|spelling| self.publisher.resource_updated(spelling));
    }

    /// Notifies the subscribers of exactly this URI spelling.
    pub(crate) fn notify_exact(&self, spelling: &str) {
        self.publisher.resource_updated(spelling);
    }

    /// Queues an event of the service for each listener.
    pub(crate) fn publish_event(&self, name: &str, data: &Raw) {
        let listeners: Vec<_> = self.listeners.lock().values().cloned().collect();
        listeners.iter().for_each(|queue| queue.push(name, data, self.capacity));
    }

    /// Registers a listener, until it is dropped.
    pub(crate) fn listen(self: &Arc<Self>) -> EventListener {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let queue = Arc::new(ListenerQueue::default());
        self.listeners.lock().insert(key, Arc::clone(&queue));
        EventListener { broadcaster: Arc::clone(self), key, queue }
    }
}

impl PublicationSink for Broadcaster {
    fn deliver(&self, publication: &Publication) {
        match publication {
            Publication::Event(name, data) => self.publish_event(name, data),
            Publication::ResourceChanged(uri) => self.notify_changed(uri),
            Publication::ToolsChanged => self.publisher.tools_changed(),
            Publication::PromptsChanged => self.publisher.prompts_changed(),
            Publication::ResourcesChanged => self.publisher.resources_changed(),
        }
    }
}

/// Events that one listener has not received yet.
#[derive(Default)]
struct ListenerQueue {
    pending: Mutex<PendingEvents>,
    available: Notify,
}

#[derive(Default)]
struct PendingEvents {
    events: VecDeque<(String, Raw)>,
    lost: u64,
}

impl ListenerQueue {
    fn push(&self, name: &str, data: &Raw, capacity: usize) {
        let mut pending = self.pending.lock();
        if pending.events.len() >= capacity {
            pending.events.pop_front();
            pending.lost += 1;
        }
        pending.events.push_back((name.to_owned(), data.clone()));
        drop(pending);
        self.available.notify_one();
    }
}

/// A registered event listener.
pub(crate) struct EventListener {
    broadcaster: Arc<Broadcaster>,
    key: u64,
    queue: Arc<ListenerQueue>,
}

impl EventListener {
    /// Waits until there is an event.
    pub(crate) async fn wait(&self) {
        loop {
            let available = self.queue.available.notified();
            if !self.queue.pending.lock().events.is_empty() {
                return;
            }
            available.await;
        }
    }

    /// Removes the oldest event. Returns its name, its payload, and the number of events lost before it.
    pub(crate) fn pop(&self) -> Option<(String, Raw, u64)> {
        let mut pending = self.queue.pending.lock();
        let (name, data) = pending.events.pop_front()?;
        Some((name, data, std::mem::take(&mut pending.lost)))
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.broadcaster.listeners.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_listener_loses_the_oldest_events_and_gets_their_number() {
        let broadcaster = Arc::new(Broadcaster::new(Publisher::default(), 3));
        let slow = broadcaster.listen();
        for number in 0..5 {
            broadcaster.publish_event("tick", &Raw::from(serde_json::json!(number)));
        }
        let received: Vec<_> = std::iter::from_fn(|| slow.pop())
            .map(|(_, data, lost)| (data.as_str().to_owned(), lost))
            .collect();
        assert_eq!(received, [("2".to_owned(), 2), ("3".to_owned(), 0), ("4".to_owned(), 0)]);
        drop(slow);
        assert!(broadcaster.listeners.lock().is_empty());
    }
}
