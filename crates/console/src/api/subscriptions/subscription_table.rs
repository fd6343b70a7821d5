//! The resources that the console is subscribed to.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::api::clock::unix_ms_now;
use crate::contract::{ConsoleEvent, ResourceSubscription};
use crate::events::EventLog;

/// The number of subscriptions at once.
pub(super) const MAX_SUBSCRIPTIONS: usize = 256;

/// A server and the URI of a resource.
pub(super) type SubscriptionKey = (String, String);

/// The subscriptions and the tasks that follow them.
#[derive(Debug)]
pub(crate) struct SubscriptionTable {
    events: EventLog,
    // Held while an event is published, so that the events of a subscription are in order.
    entries: Mutex<BTreeMap<SubscriptionKey, SubscriptionEntry>>,
}

#[derive(Debug)]
struct SubscriptionEntry {
    subscription: ResourceSubscription,
    /// The task that follows it; `None` until it is started.
    task: Option<AbortHandle>,
}

impl SubscriptionTable {
    pub(crate) fn new(events: EventLog) -> Self {
        Self { events, entries: Mutex::default() }
    }

    /// Returns all subscriptions.
    pub(crate) fn snapshots(&self) -> Vec<ResourceSubscription> {
        self.entries.lock().values().map(|entry| entry.subscription.clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.lock().len()
    }

    pub(super) fn has(&self, key: &SubscriptionKey) -> bool {
        self.entries.lock().contains_key(key)
    }

    /// Adds a subscription; returns whether it is new.
    pub(super) fn insert(&self, key: &SubscriptionKey) -> bool {
        let mut entries = self.entries.lock();
        if entries.contains_key(key) {
            return false;
        }
        let (server, uri) = key.clone();
        let subscription = ResourceSubscription { server, uri, updates: 0, last_update_ms: None };
        self.events.publish(ConsoleEvent::Subscription { subscription: subscription.clone() });
        entries.insert(key.clone(), SubscriptionEntry { subscription, task: None });
        true
    }

    /// Sets the task that follows a subscription. Aborts it if the subscription has ended.
    pub(super) fn set_task(&self, key: &SubscriptionKey, task: AbortHandle) {
        match self.entries.lock().get_mut(key) {
            Some(entry) => entry.task = Some(task),
            None => task.abort(),
        }
    }

    /// Counts updates and publishes the number.
    pub(super) fn count_updates(&self, key: &SubscriptionKey, updates: u64) {
        if let Some(entry) = self.entries.lock().get_mut(key) {
            entry.subscription.updates += updates;
            entry.subscription.last_update_ms = Some(unix_ms_now());
            self.events.publish(ConsoleEvent::Subscription { subscription: entry.subscription.clone() });
        }
    }

    /// Removes a subscription and ends its task; returns whether there was one.
    pub(super) fn remove(&self, key: &SubscriptionKey) -> bool {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.remove(key) else { return false };
        if let Some(task) = entry.task {
            task.abort();
        }
        let (server, uri) = key.clone();
        self.events.publish(ConsoleEvent::Unsubscribed { server, uri });
        true
    }
}
