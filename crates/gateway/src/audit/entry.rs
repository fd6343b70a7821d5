//! The record of a request that is under way.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use switchboard_protocol::Raw;
use tokio::time::Instant;

use super::log::AuditShared;
use super::options::OverflowPolicy;
use super::record::{AuditOutcome, AuditRecord};

/// A record that was begun. Ends with [`Self::end`]; dropping it records a cancellation.
pub struct AuditEntry {
    shared: Arc<AuditShared>,
    /// `None` when it was queued.
    record: Option<AuditRecord>,
    started: Instant,
}

impl AuditEntry {
    pub(super) fn new(shared: Arc<AuditShared>, record: AuditRecord, started: Instant) -> Self {
        Self { shared, record: Some(record), started }
    }

    /// Returns the record, to complete it.
    pub fn record_mut(&mut self) -> &mut AuditRecord {
        self.record.as_mut().expect("taken only when the entry ends")
    }

    /// Sets the recorded result.
    #[must_use]
    pub fn with_result(mut self, result: Option<Raw>) -> Self {
        self.record_mut().result = result;
        self
    }

    /// Queues the record. Waits while the queue is full, unless records may be dropped.
    ///
    /// # Cancellation
    /// The record is queued all the same, with this outcome.
    pub async fn end(mut self, outcome: AuditOutcome) {
        self.record_mut().outcome = outcome;
        let shared = Arc::clone(&self.shared);
        let state = &shared.state;
        // While the sink fails nothing frees a place: the records of calls under way are kept beyond the limit.
        if state.is_failing.load(Ordering::Acquire) {
            return;
        }
        let place = match state.options.overflow {
            OverflowPolicy::Wait => state.places.acquire().await.ok(),
            OverflowPolicy::Drop => match state.places.try_acquire() {
                Ok(place) => Some(place),
                Err(_) => {
                    self.record = None;
                    state.dropped.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            },
        };
        let has_place = place.map(tokio::sync::SemaphorePermit::forget).is_some();
        self.queue(has_place);
    }

    fn queue(&mut self, has_place: bool) {
        let Some(mut record) = self.record.take() else { return };
        record.duration = self.started.elapsed();
        self.shared.send(record.encode(), has_place);
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        self.queue(false);
    }
}

impl std::fmt::Debug for AuditEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditEntry").finish_non_exhaustive()
    }
}
