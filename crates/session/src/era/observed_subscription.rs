//! One subscription to one resource, which an observer is told of as long as it lasts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Is told when subscriptions begin and end.
pub(crate) trait SubscriptionObserver: Send + Sync + 'static {
    /// Somebody subscribed to this resource.
    fn subscribed(&self, uri: &str);
    /// A subscription to this resource is over.
    fn unsubscribed(&self, uri: &str);
}

/// A subscription. The observer is told when it begins and, when this is dropped, that it is over.
pub(crate) struct ObservedSubscription {
    observer: Arc<dyn SubscriptionObserver>,
    uri: String,
}

impl ObservedSubscription {
    pub(crate) fn new(observer: &Arc<dyn SubscriptionObserver>, uri: &str) -> Self {
        catch_panic(|| observer.subscribed(uri));
        Self { observer: Arc::clone(observer), uri: uri.to_owned() }
    }
}

impl Drop for ObservedSubscription {
    fn drop(&mut self) {
        catch_panic(|| self.observer.unsubscribed(&self.uri));
    }
}

/// A panic of the author's code ends nothing but itself.
fn catch_panic(callback: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
        tracing::error!("the handler panicked on a subscription");
    }
}

impl std::fmt::Debug for ObservedSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ObservedSubscription").field(&self.uri).finish()
    }
}
