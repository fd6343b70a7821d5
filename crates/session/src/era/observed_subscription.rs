//! One subscription to one resource or task, whose start and end are reported to an observer.

use std::sync::Arc;

use crate::request::{SubscriptionGrant, catch_panic};

/// Observes the start and the end of subscriptions.
pub(crate) trait SubscriptionObserver: Send + Sync + 'static {
    /// Called when a subscription to this resource has started.
    fn subscribed(&self, uri: &str);
    /// Called when a subscription to this resource has ended.
    fn unsubscribed(&self, uri: &str);
    /// Called when a listen stream for this task has started.
    fn task_followed(&self, task: &str);
    /// Called when a listen stream for this task has ended.
    fn task_unfollowed(&self, task: &str);
}

/// A subscription. Reports its start to the observer when created, and its end when dropped.
pub(crate) struct ObservedSubscription {
    observer: Arc<dyn SubscriptionObserver>,
    uri: String,
    grant: SubscriptionGrant,
}

impl ObservedSubscription {
    pub(crate) fn new(observer: &Arc<dyn SubscriptionObserver>, uri: &str, grant: SubscriptionGrant) -> Self {
        call_observer(|| observer.subscribed(uri));
        Self { observer: Arc::clone(observer), uri: uri.to_owned(), grant }
    }

    /// Returns whether it hears an update for this scope, or for everyone.
    pub(crate) fn covers(&self, scope: Option<&str>) -> bool {
        self.grant.covers(scope)
    }
}

impl Drop for ObservedSubscription {
    fn drop(&mut self) {
        call_observer(|| self.observer.unsubscribed(&self.uri));
    }
}

/// A task that a stream listens for. Reports the start to the observer when created, and the end when dropped.
pub(crate) struct ObservedTask {
    observer: Arc<dyn SubscriptionObserver>,
    task: String,
}

impl ObservedTask {
    pub(crate) fn new(observer: &Arc<dyn SubscriptionObserver>, task: &str) -> Self {
        call_observer(|| observer.task_followed(task));
        Self { observer: Arc::clone(observer), task: task.to_owned() }
    }
}

impl Drop for ObservedTask {
    fn drop(&mut self) {
        call_observer(|| self.observer.task_unfollowed(&self.task));
    }
}

/// Runs a callback of the handler and logs a panic.
fn call_observer(callback: impl FnOnce()) {
    if catch_panic(callback).is_err() {
        tracing::error!("the handler panicked on a subscription");
    }
}

impl std::fmt::Debug for ObservedSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ObservedSubscription").field(&self.uri).finish()
    }
}
