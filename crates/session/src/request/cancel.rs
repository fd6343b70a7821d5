//! The cancellation flag of a request: set by its connection, read by its handler and by the writer of its response.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The cancellation, completion and progress flags of a request.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    set: AtomicBool,
    over: AtomicBool,
    notify: Notify,
    /// Whether progress was reported; saves every response a lock of `progressed_at`.
    has_progressed: AtomicBool,
    /// When progress was last reported.
    progressed_at: Mutex<Option<Instant>>,
}

impl Cancel {
    /// Marks the request as answered.
    pub(crate) fn finish(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.is_set()
    }

    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.notify.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Records that progress was reported.
    pub(crate) fn record_progress(&self) {
        *self.progressed_at.lock() = Some(Instant::now());
        self.has_progressed.store(true, Ordering::Release);
    }

    /// Returns whether progress was reported.
    pub(crate) fn has_progressed(&self) -> bool {
        self.has_progressed.load(Ordering::Acquire)
    }

    /// Returns the time since progress was last reported.
    pub(crate) fn since_progress(&self) -> Option<Duration> {
        self.progressed_at.lock().map(|at| at.elapsed())
    }

    pub(crate) async fn wait(&self) {
        loop {
            let notify = self.notify.notified();
            if self.is_set() {
                return;
            }
            notify.await;
        }
    }
}
