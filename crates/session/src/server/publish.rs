//! Announces changes to whoever listens, in the way each of them listens.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_protocol::DetailedTask;
use tokio::sync::watch;

use crate::era::ServerChange;

/// Announces changes to every connection of a server.
#[derive(Clone)]
pub struct Publisher {
    inner: Arc<Inner>,
}

struct Inner {
    listeners: Mutex<HashMap<u64, Arc<dyn ChangeListener>>>,
    next: AtomicU64,
    /// Goes up whenever all subscriptions end.
    ended: watch::Sender<u64>,
}

/// One who listens.
pub(crate) trait ChangeListener: Send + Sync {
    fn on_change(&self, change: &ServerChange);
}

impl Publisher {
    /// The list of tools is another.
    pub fn tools_changed(&self) {
        self.publish(&ServerChange::Tools);
    }

    /// The list of prompts is another.
    pub fn prompts_changed(&self) {
        self.publish(&ServerChange::Prompts);
    }

    /// The list of resources or templates is another.
    pub fn resources_changed(&self) {
        self.publish(&ServerChange::Resources);
    }

    /// A resource has changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.publish(&ServerChange::Resource(uri.into()));
    }

    /// A task has changed: told to those who listen for its id (the tasks extension).
    pub fn task_changed(&self, task: DetailedTask) {
        self.publish(&ServerChange::Task(Box::new(task)));
    }

    /// Ends every subscription in order: clients are told.
    pub fn end_subscriptions(&self) {
        self.inner.ended.send_modify(|times| *times += 1);
    }

    fn publish(&self, change: &ServerChange) {
        // Out of the lock before anybody hears: hearing puts frames and may take its time.
        let listeners: Vec<_> = self.inner.listeners.lock().values().cloned().collect();
        listeners.iter().for_each(|listener| listener.on_change(change));
    }

    /// Registers a listener until the guard is dropped.
    pub(crate) fn register(&self, listener: Arc<dyn ChangeListener>) -> ListenerGuard {
        self.register_after(listener, || {})
    }

    /// Registers a listener; `first` happens before anything is published to it, and nothing is missed after it.
    pub(crate) fn register_after(
        &self,
        listener: Arc<dyn ChangeListener>,
        first: impl FnOnce(),
    ) -> ListenerGuard {
        let key = self.inner.next.fetch_add(1, Ordering::Relaxed);
        // Under the lock on purpose: a publication waits until the listener is there.
        let mut listeners = self.inner.listeners.lock();
        first();
        listeners.insert(key, listener);
        drop(listeners);
        ListenerGuard { inner: Arc::downgrade(&self.inner), key }
    }

    /// Changes when the subscriptions of now are to end.
    pub(crate) fn ended(&self) -> watch::Receiver<u64> {
        self.inner.ended.subscribe()
    }
}

impl Default for Publisher {
    fn default() -> Self {
        let ended = watch::Sender::new(0);
        Self { inner: Arc::new(Inner { listeners: Mutex::default(), next: AtomicU64::new(0), ended }) }
    }
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Publisher({} listeners)", self.inner.listeners.lock().len())
    }
}

/// A listener's place; dropping it gives it up.
pub(crate) struct ListenerGuard {
    inner: Weak<Inner>,
    key: u64,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.listeners.lock().remove(&self.key);
        }
    }
}
