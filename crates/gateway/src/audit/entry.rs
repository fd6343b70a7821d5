//! The record of a request that is under way.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use switchboard_protocol::Raw;
use tokio::sync::{SemaphorePermit, TryAcquireError};
use tokio::time::Instant;

use super::log::AuditShared;
use super::options::{FailurePolicy, OverflowPolicy};
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

    /// Queues the record. Waits while the queue is full, unless records may be dropped or the sink fails.
    ///
    /// # Cancellation
    /// The record is queued all the same, with this outcome.
    pub async fn end(mut self, outcome: AuditOutcome) {
        self.record_mut().outcome = outcome;
        let state = &self.shared.state;
        // While the sink fails nothing frees a place.
        if state.options.overflow == OverflowPolicy::Drop || state.is_failing() {
            return;
        }
        let place = state.wait_for_place().await.ok().map(SemaphorePermit::forget);
        if place.is_some()
            && let Some(line) = self.encode()
        {
            self.shared.send(line);
        }
    }

    /// Takes the record as the line to write; `None` if it was taken before.
    fn encode(&mut self) -> Option<Vec<u8>> {
        let mut record = self.record.take()?;
        record.duration = self.started.elapsed();
        Some(record.encode())
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        if self.record.is_none() {
            return;
        }
        let state = &self.shared.state;
        match (state.places.try_acquire(), state.options.overflow) {
            (Ok(place), _) => place.forget(),
            (Err(TryAcquireError::NoPermits), OverflowPolicy::Drop) => {
                state.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            }
            (Err(TryAcquireError::NoPermits), OverflowPolicy::Wait)
                if state.options.failure == FailurePolicy::Open && state.is_failing() =>
            {
                state.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            // Nobody can wait here: the line takes a place that the writer frees later.
            (Err(TryAcquireError::NoPermits), OverflowPolicy::Wait) => state.overdraw(),
            // The log counts it as lost.
            (Err(TryAcquireError::Closed), _) => {}
        }
        if let Some(line) = self.encode() {
            self.shared.send(line);
        }
    }
}

impl std::fmt::Debug for AuditEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditEntry").finish_non_exhaustive()
    }
}
