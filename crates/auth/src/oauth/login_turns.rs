//! The logins of an authorizer, and the callers that wait for them.
//!
//! Invariants: a caller that waited while a login failed shares its failure instead of starting the next one; a caller that
//! comes later starts its own; a login that nobody waits for any more is abandoned, and its failure is not shared.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::AuthError;

/// Counts callers and logins.
#[derive(Default)]
pub(super) struct LoginTurns {
    callers: Arc<watch::Sender<usize>>,
    /// Held for a clone, never across an await.
    finished: Mutex<FinishedLogins>,
}

#[derive(Default)]
struct FinishedLogins {
    count: u64,
    last_failure: Option<AuthError>,
}

/// A caller that waits for a renewal, until it is dropped.
pub(super) struct WaitingCaller {
    callers: Arc<watch::Sender<usize>>,
    pub(super) arrival: Arrival,
}

/// When a caller began to wait: after so many logins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival(u64);

impl LoginTurns {
    /// Registers a caller.
    pub(super) fn enter(&self) -> WaitingCaller {
        self.callers.send_modify(|count| *count += 1);
        WaitingCaller { callers: Arc::clone(&self.callers), arrival: Arrival(self.finished.lock().count) }
    }

    /// Returns the failure of the last login, if it was under way when the caller arrived, or began later.
    pub(super) fn failure_since(&self, arrival: Arrival) -> Option<AuthError> {
        let finished = self.finished.lock();
        finished.last_failure.clone().filter(|_| finished.count > arrival.0)
    }

    /// Records the end of a login.
    pub(super) fn finish(&self, failure: Option<AuthError>) {
        let mut finished = self.finished.lock();
        finished.count += 1;
        finished.last_failure = failure;
    }

    /// Waits until no caller is left.
    pub(super) async fn wait_until_abandoned(&self) {
        // The sender is in `self`, so it outlives the wait.
        _ = self.callers.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for WaitingCaller {
    fn drop(&mut self) {
        self.callers.send_modify(|count| *count -= 1);
    }
}
