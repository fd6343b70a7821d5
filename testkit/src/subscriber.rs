//! A subscriber for the spans of one test, beside other threads of the program without one.
//!
//! Knows nothing of the spans that are recorded.

use std::sync::OnceLock;

use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Subscriber};

/// Sends the spans and events of this thread to `subscriber` until the guard is dropped.
///
/// While `tracing` knows one subscriber only, a span that another thread reaches first is asked of that thread's
/// subscriber, which a test beside this one does not have, and stays disabled for all. Hence a second one that
/// wants nothing and is never dropped: each thread is then asked for itself.
pub fn record_with(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(NoSubscriber::default()));
    tracing::subscriber::set_default(subscriber)
}
