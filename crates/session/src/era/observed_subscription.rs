//! One subscription to one resource, whose start and end are reported to an observer.

use std::sync::Arc;

use crate::request::catch_panic;

/// Observes the start and the end of subscriptions.
pub(crate) trait SubscriptionObserver: Send + Sync + 'static {
    /// Called when a subscription to this resource has started.
    fn subscribed(&self, uri: &str);
    /// Called when a subscription to this resource has ended.
    fn unsubscribed(&self, uri: &str);
}

/// A subscription. Reports its start to the observer when created, and its end when dropped.
pub(crate) struct ObservedSubscription {
    observer: Arc<dyn SubscriptionObserver>,
    uri: String,
}

impl ObservedSubscription {
    pub(crate) fn new(observer: &Arc<dyn SubscriptionObserver>, uri: &str) -> Self {
        call_observer(|| observer.subscribed(uri));
        Self { observer: Arc::clone(observer), uri: uri.to_owned() }
    }
}

impl Drop for ObservedSubscription {
    fn drop(&mut self) {
        call_observer(|| self.observer.unsubscribed(&self.uri));
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
