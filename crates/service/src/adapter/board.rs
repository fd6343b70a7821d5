//! Where what a service tells unasked is put up: changes go to whoever subscribed, events to whoever listens for them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_design::ResourceUri;
use switchboard_protocol::Raw;
use switchboard_session::server::Publisher;
use tokio::sync::Notify;

use crate::publish::{Hears, News};

/// What is told to the clients of one server.
pub(crate) struct Board {
    publisher: Publisher,
    capacity: usize,
    listeners: Mutex<HashMap<u64, Arc<Queue>>>,
    next: AtomicU64,
    /// What is subscribed to, as it was spelled, and how often.
    subscriptions: Mutex<HashMap<String, usize>>,
}

impl Board {
    pub(crate) fn new(publisher: Publisher, capacity: usize) -> Self {
        Self {
            publisher,
            capacity: capacity.max(1),
            listeners: Mutex::default(),
            next: AtomicU64::new(0),
            subscriptions: Mutex::default(),
        }
    }

    pub(crate) fn subscribed(&self, uri: &str) {
        *self.subscriptions.lock().entry(uri.to_owned()).or_default() += 1;
    }

    pub(crate) fn unsubscribed(&self, uri: &str) {
        let mut subscriptions = self.subscriptions.lock();
        if let Some(times) = subscriptions.get_mut(uri) {
            *times -= 1;
            if *times == 0 {
                subscriptions.remove(uri);
            }
        }
    }

    /// A resource has changed: told under every spelling that somebody subscribed to, whatever its query.
    pub(crate) fn changed(&self, uri: &str) {
        let base = |uri: &str| uri.parse::<ResourceUri>().ok().map(|uri| uri.base().to_owned());
        let changed = base(uri);
        let same = |spelled: &&String| *spelled == uri || (changed.is_some() && base(spelled) == changed);
        let spellings: Vec<String> = self.subscriptions.lock().keys().filter(same).cloned().collect();
        spellings.into_iter().for_each(|spelled| self.publisher.resource_updated(spelled));
    }

    /// Exactly this spelling of a resource has changed.
    pub(crate) fn told(&self, spelled: &str) {
        self.publisher.resource_updated(spelled);
    }

    /// An event of the service: kept for each listener until it is read.
    pub(crate) fn publish(&self, name: &str, data: &Raw) {
        let listeners: Vec<_> = self.listeners.lock().values().cloned().collect();
        listeners.iter().for_each(|queue| queue.put(name, data, self.capacity));
    }

    /// Listens for events until it is dropped.
    pub(crate) fn listen(self: &Arc<Self>) -> Listening {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let queue = Arc::new(Queue::default());
        self.listeners.lock().insert(key, Arc::clone(&queue));
        Listening { board: Arc::clone(self), key, queue }
    }
}

impl Hears for Board {
    fn hear(&self, news: &News) {
        match news {
            News::Event(name, data) => self.publish(name, data),
            News::Resource(uri) => self.changed(uri),
            News::Tools => self.publisher.tools_changed(),
            News::Prompts => self.publisher.prompts_changed(),
            News::Resources => self.publisher.resources_changed(),
        }
    }
}

/// Events that one listener has not read yet.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    told: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<(String, Raw)>,
    lost: u64,
}

impl Queue {
    fn put(&self, name: &str, data: &Raw, capacity: usize) {
        let mut waiting = self.waiting.lock();
        if waiting.events.len() >= capacity {
            waiting.events.pop_front();
            waiting.lost += 1;
        }
        waiting.events.push_back((name.to_owned(), data.clone()));
        drop(waiting);
        self.told.notify_one();
    }
}

/// Somebody who listens for events.
pub(crate) struct Listening {
    board: Arc<Board>,
    key: u64,
    queue: Arc<Queue>,
}

impl Listening {
    /// Waits until there is an event.
    pub(crate) async fn wait(&self) {
        loop {
            let told = self.queue.told.notified();
            if !self.queue.waiting.lock().events.is_empty() {
                return;
            }
            told.await;
        }
    }

    /// The oldest event, and how many before it were lost.
    pub(crate) fn take(&self) -> Option<(String, Raw, u64)> {
        let mut waiting = self.queue.waiting.lock();
        let (name, data) = waiting.events.pop_front()?;
        Some((name, data, std::mem::take(&mut waiting.lost)))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.board.listeners.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_listener_loses_the_oldest_and_is_told_how_many() {
        let board = Arc::new(Board::new(Publisher::default(), 3));
        let slow = board.listen();
        for number in 0..5 {
            board.publish("tick", &Raw::from(serde_json::json!(number)));
        }
        let taken: Vec<_> = std::iter::from_fn(|| slow.take())
            .map(|(_, data, lost)| (data.as_str().to_owned(), lost))
            .collect();
        assert_eq!(taken, [("2".to_owned(), 2), ("3".to_owned(), 0), ("4".to_owned(), 0)]);
        drop(slow);
        assert!(board.listeners.lock().is_empty());
    }
}
