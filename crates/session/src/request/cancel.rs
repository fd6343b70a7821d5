//! Cancellation of a request: set once by its connection, seen by its handler and by whoever writes its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Whether a request was cancelled, and whoever waits for that.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    set: AtomicBool,
    over: AtomicBool,
    told: Notify,
    /// Whether progress was reported: looked at by every answer, so that the time is not.
    has_progressed: AtomicBool,
    /// When progress was last reported.
    progressed_at: Mutex<Option<Instant>>,
}

impl Cancel {
    /// The request is answered.
    pub(crate) fn finish(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.is_set()
    }

    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Progress is reported.
    pub(crate) fn progressed(&self) {
        *self.progressed_at.lock() = Some(Instant::now());
        self.has_progressed.store(true, Ordering::Release);
    }

    /// Whether progress was reported.
    pub(crate) fn has_progressed(&self) -> bool {
        self.has_progressed.load(Ordering::Acquire)
    }

    /// How long ago progress was last reported.
    pub(crate) fn since_progress(&self) -> Option<Duration> {
        self.progressed_at.lock().map(|at| at.elapsed())
    }

    pub(crate) async fn wait(&self) {
        loop {
            let told = self.told.notified();
            if self.is_set() {
                return;
            }
            told.await;
        }
    }
}
