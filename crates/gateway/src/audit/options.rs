//! Options of the audit log.

use std::time::Duration;

/// Options of an [`AuditLog`](super::AuditLog).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditOptions {
    /// The number of records that wait to be written; at least 1. Beyond it there are at most those of the calls that were
    /// under way when it was reached, unless records may be dropped.
    pub queue: usize,
    /// What happens when the queue is full.
    pub overflow: OverflowPolicy,
    /// What happens while the sink fails.
    pub failure: FailurePolicy,
    /// When written records are synced to the disk.
    pub sync: SyncPolicy,
    /// The maximum size of recorded arguments, and of a recorded result.
    pub max_payload: usize,
}

/// What happens when the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverflowPolicy {
    /// Calls wait. The record of a call that ends without waiting, as when it is cancelled, is queued all the same.
    #[default]
    Wait,
    /// Records are dropped and counted.
    Drop,
}

/// What happens while the sink fails, as with a full disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// New calls are refused until it works again; records of calls under way are kept.
    #[default]
    Closed,
    /// Calls pass without a record; lost records are counted.
    Open,
}

/// When written records are synced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Only when the log is closed or rotated.
    Never,
    /// At most this long after they were written.
    Interval(Duration),
    /// After every batch.
    EveryBatch,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            queue: 1_024,
            overflow: OverflowPolicy::default(),
            failure: FailurePolicy::default(),
            sync: SyncPolicy::Interval(Duration::from_secs(1)),
            max_payload: 16 * 1024,
        }
    }
}

impl AuditOptions {
    /// Sets the number of records that wait to be written.
    #[must_use]
    pub fn with_queue(mut self, records: usize) -> Self {
        self.queue = records.max(1);
        self
    }

    /// Sets what happens when the queue is full.
    #[must_use]
    pub fn with_overflow(mut self, policy: OverflowPolicy) -> Self {
        self.overflow = policy;
        self
    }

    /// Sets what happens while the sink fails.
    #[must_use]
    pub fn with_failure(mut self, policy: FailurePolicy) -> Self {
        self.failure = policy;
        self
    }

    /// Sets when records are synced.
    #[must_use]
    pub fn with_sync(mut self, policy: SyncPolicy) -> Self {
        self.sync = policy;
        self
    }

    /// Sets the maximum size of recorded arguments, and of a recorded result.
    #[must_use]
    pub fn with_max_payload(mut self, bytes: usize) -> Self {
        self.max_payload = bytes;
        self
    }
}
