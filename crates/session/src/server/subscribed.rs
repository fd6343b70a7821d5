//! One subscription to one resource, of which the handler knows as long as it lasts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::server::Handler;

/// A subscription. The handler is told when it begins and, when this is dropped, that it is over.
pub(crate) struct Subscribed {
    handler: Arc<dyn Handler>,
    uri: String,
}

impl Subscribed {
    pub(crate) fn new(handler: &Arc<dyn Handler>, uri: &str) -> Self {
        tell(|| handler.subscribed(uri));
        Self { handler: Arc::clone(handler), uri: uri.to_owned() }
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        tell(|| self.handler.unsubscribed(&self.uri));
    }
}

/// A panic of the author's code ends nothing but itself.
fn tell(handler: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(handler)).is_err() {
        tracing::error!("the handler panicked on a subscription");
    }
}

impl std::fmt::Debug for Subscribed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Subscribed").field(&self.uri).finish()
    }
}
