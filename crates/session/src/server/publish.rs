//! Announces changes to all listeners of a server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_protocol::{DetailedTask, Raw};
use tokio::sync::watch;

use crate::era::ServerChange;

/// Announces changes to every connection of a server.
///
/// ```
/// use switchboard::client::Change;
/// use switchboard::protocol::{Implementation, ListenFilter};
/// use switchboard::server::Publisher;
/// use switchboard::{Client, InProcess, Server};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let publisher = Publisher::default(); // a clone may go into the handler
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .publisher(publisher.clone())
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// let mut changes = session.listen(ListenFilter::new().with_tools_list_changed(true)).await?;
///
/// publisher.tools_changed();
/// assert!(matches!(changes.next().await, Some(Change::Tools)));
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Publisher {
    inner: Arc<Inner>,
}

struct Inner {
    listeners: Mutex<HashMap<u64, Arc<dyn ChangeListener>>>,
    next: AtomicU64,
    /// Incremented whenever all subscriptions end.
    ended: watch::Sender<u64>,
}

/// Receives the changes of a server.
pub(crate) trait ChangeListener: Send + Sync {
    fn on_change(&self, change: &ServerChange);
}

impl Publisher {
    /// Announces that the list of tools has changed.
    pub fn tools_changed(&self) {
        self.publish(&ServerChange::Tools);
    }

    /// Announces that the list of prompts has changed.
    pub fn prompts_changed(&self) {
        self.publish(&ServerChange::Prompts);
    }

    /// Announces that the list of resources or templates has changed.
    pub fn resources_changed(&self) {
        self.publish(&ServerChange::Resources);
    }

    /// Announces that a resource has changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.publish(&ServerChange::Resource { uri: uri.into(), scope: None });
    }

    /// Announces that a resource has changed to those subscribers whose
    /// [grant](crate::server::SubscriptionGrant::with_scope) has this scope.
    pub fn resource_updated_in(&self, uri: impl Into<String>, scope: impl Into<String>) {
        self.publish(&ServerChange::Resource { uri: uri.into(), scope: Some(scope.into()) });
    }

    /// Announces a task's new state to the listeners for its id (the tasks extension).
    pub fn task_changed(&self, task: DetailedTask) {
        self.publish(&ServerChange::Task(Box::new(task)));
    }

    /// Sends a notification to one session of the legacy era, named by [`RequestContext::session_key`], if its revision has the
    /// notification.
    ///
    /// [`RequestContext::session_key`]: crate::server::RequestContext::session_key
    pub fn notify_session(&self, session: impl Into<String>, method: &'static str, params: Raw) {
        self.publish(&ServerChange::Notification { owner: session.into(), method, params });
    }

    /// Ends every subscription and notifies the clients.
    pub fn end_subscriptions(&self) {
        self.inner.ended.send_modify(|times| *times += 1);
    }

    fn publish(&self, change: &ServerChange) {
        // Outside the lock: a listener enqueues frames and may be slow.
        let listeners: Vec<_> = self.inner.listeners.lock().values().cloned().collect();
        listeners.iter().for_each(|listener| listener.on_change(change));
    }

    /// Registers a listener until the guard is dropped.
    pub(crate) fn register(&self, listener: Arc<dyn ChangeListener>) -> ListenerGuard {
        self.register_after(listener, || {})
    }

    /// Registers a listener; `first` runs before the first change is published to it, and no change after it is missed.
    pub(crate) fn register_after(
        &self,
        listener: Arc<dyn ChangeListener>,
        first: impl FnOnce(),
    ) -> ListenerGuard {
        let key = self.inner.next.fetch_add(1, Ordering::Relaxed);
        // Under the lock on purpose: a publication waits until the listener is registered.
        let mut listeners = self.inner.listeners.lock();
        first();
        listeners.insert(key, listener);
        drop(listeners);
        ListenerGuard { inner: Arc::downgrade(&self.inner), key }
    }

    /// Returns a receiver that changes when the current subscriptions have to end.
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

/// Unregisters a listener when dropped.
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
