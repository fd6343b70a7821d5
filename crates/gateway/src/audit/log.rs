//! The audit log: begins entries, and owns the queue and the writer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::Raw;
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::entry::AuditEntry;
use super::error::AuditError;
use super::options::{AuditOptions, FailurePolicy, OverflowPolicy};
use super::policy_section::AuditPolicy;
use super::record::AuditRecord;
use super::sink::AuditSink;
use super::writer::run_writer;
use crate::policy::{Subject, Target};

/// The audit log. Cloning is cheap; all clones write to the same sink.
///
/// ```
/// use switchboard::gateway::audit::{AuditFile, AuditFileOptions, AuditLog, AuditOptions, AuditOutcome, AuditRecord};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("audit.jsonl");
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let log = AuditLog::start(AuditFile::open(&path, AuditFileOptions::default())?, AuditOptions::default());
/// let entry = log.begin(AuditRecord::new("tools/list")).await?;
/// entry.end(AuditOutcome::Ok).await;
/// log.close(std::time::Duration::from_secs(5)).await?;
/// assert!(std::fs::read_to_string(&path)?.contains(r#""outcome":"ok""#));
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AuditLog {
    shared: Arc<AuditShared>,
    policy: Arc<AuditPolicy>,
}

/// Counts of an audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCounts {
    /// Records that were written.
    pub written: u64,
    /// Records that were dropped because the queue was full, which is opt-in.
    pub dropped: u64,
    /// Records that were lost because the sink failed, which is opt-in, or when the log was closed.
    pub lost: u64,
    /// Records that wait to be written.
    pub queued: u64,
    /// Whether the last write failed.
    pub is_failing: bool,
}

/// The state that the log, its entries and its writer share.
pub(super) struct AuditState {
    pub(super) options: AuditOptions,
    /// The free places of the queue. Every queued line takes one, or is overdrawn.
    pub(super) places: Semaphore,
    /// Queued lines beyond the places: they are paid for before a place is free again.
    overdrawn: AtomicUsize,
    /// Whether the last write failed. Those who wait for a place watch it: while the sink fails nothing frees one.
    pub(super) failing: watch::Sender<bool>,
    pub(super) written: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) queued: AtomicU64,
}

/// Why there is no place in the queue.
pub(super) enum PlaceError {
    /// The sink fails.
    Failing,
    /// The log is closed.
    Closed,
}

impl AuditState {
    /// Returns whether the last write failed.
    pub(super) fn is_failing(&self) -> bool {
        *self.failing.borrow()
    }

    /// Waits for a free place, until the sink fails.
    pub(super) async fn wait_for_place(&self) -> Result<SemaphorePermit<'_>, PlaceError> {
        match self.places.try_acquire() {
            Ok(place) => return Ok(place),
            Err(TryAcquireError::Closed) => return Err(PlaceError::Closed),
            Err(TryAcquireError::NoPermits) => {}
        }
        let mut failing = self.failing.subscribe();
        tokio::select! {
            biased;
            place = self.places.acquire() => place.map_err(|_| PlaceError::Closed),
            _ = failing.wait_for(|is_failing| *is_failing) => Err(PlaceError::Failing),
        }
    }

    /// Takes a place that is not free yet. If one is freed meanwhile, one record more begins than has room.
    pub(super) fn overdraw(&self) {
        self.overdrawn.fetch_add(1, Ordering::AcqRel);
    }

    /// Gives the places of lines back that are no longer queued.
    pub(super) fn release(&self, lines: usize) {
        let pay = |overdrawn: usize| Some(overdrawn.saturating_sub(lines));
        let overdrawn = self.overdrawn.fetch_update(Ordering::AcqRel, Ordering::Acquire, pay);
        let paid = overdrawn.unwrap_or_else(|overdrawn| overdrawn).min(lines);
        self.places.add_permits(lines - paid);
    }
}

pub(super) struct AuditShared {
    pub(super) state: Arc<AuditState>,
    /// `None` when the log is closed. Unbounded, because `places` bounds it: while none is free no record begins, so that
    /// beyond them there is at most one line for each record that was open when the last place was taken. Where calls pass
    /// without a record while the sink fails, the lines of those without a place are lost instead.
    sender: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    /// Taken by `close`. When all clones are dropped instead, the writer ends by itself after the last line: aborting
    /// it would lose records.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl AuditLog {
    /// Starts the writer of a sink. No payloads are recorded until [`Self::with_policy`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(sink: impl AuditSink, options: AuditOptions) -> Self {
        let state = Arc::new(AuditState {
            options,
            places: Semaphore::new(options.queue.clamp(1, Semaphore::MAX_PERMITS)),
            overdrawn: AtomicUsize::new(0),
            failing: watch::Sender::new(false),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            queued: AtomicU64::new(0),
        });
        let (sender, receiver) = mpsc::unbounded_channel();
        let writer = tokio::spawn(run_writer(Box::new(sink), receiver, Arc::clone(&state)));
        let shared =
            AuditShared { state, sender: Mutex::new(Some(sender)), writer: Mutex::new(Some(writer)) };
        Self { shared: Arc::new(shared), policy: Arc::default() }
    }

    /// Sets which payloads are recorded.
    #[must_use]
    pub fn with_policy(mut self, policy: AuditPolicy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Begins the record of a request, before anything is sent. Waits while the queue is full, unless records may be
    /// dropped.
    ///
    /// # Errors
    /// When the log is closed, or its sink fails and calls without a record are refused.
    ///
    /// # Cancellation
    /// Nothing is recorded before it returns.
    pub async fn begin(&self, record: AuditRecord) -> Result<AuditEntry, AuditError> {
        let state = &self.shared.state;
        let started = Instant::now();
        if state.options.failure == FailurePolicy::Closed && state.is_failing() {
            return Err(AuditError::Unavailable);
        }
        if state.options.overflow == OverflowPolicy::Wait {
            // Waits for a place and leaves it to those that end: a call that waits for its turn here has sent nothing.
            match state.wait_for_place().await {
                Ok(place) => drop(place),
                Err(PlaceError::Failing) if state.options.failure == FailurePolicy::Open => {}
                Err(PlaceError::Failing) => return Err(AuditError::Unavailable),
                Err(PlaceError::Closed) => return Err(AuditError::Closed),
            }
        }
        if self.shared.sender.lock().is_none() {
            return Err(AuditError::Closed);
        }
        Ok(AuditEntry::new(Arc::clone(&self.shared), record, started))
    }

    /// Returns the arguments as they are recorded for a target, if a rule says so.
    pub fn arguments(
        &self,
        subject: &Subject<'_>,
        target: &Target<'_>,
        arguments: Option<&Raw>,
    ) -> Option<Raw> {
        let selected = self.policy.select(subject, target).arguments;
        Some(self.policy.redact(arguments.filter(|_| selected)?, self.shared.state.options.max_payload))
    }

    /// Returns the result as it is recorded for a target, if a rule says so.
    pub fn result(&self, subject: &Subject<'_>, target: &Target<'_>, result: Option<&Raw>) -> Option<Raw> {
        let selected = self.policy.select(subject, target).result;
        Some(self.policy.redact(result.filter(|_| selected)?, self.shared.state.options.max_payload))
    }

    /// Returns what was written, dropped and lost so far.
    pub fn counts(&self) -> AuditCounts {
        let state = &self.shared.state;
        AuditCounts {
            written: state.written.load(Ordering::Relaxed),
            dropped: state.dropped.load(Ordering::Relaxed),
            lost: state.lost.load(Ordering::Relaxed),
            queued: state.queued.load(Ordering::Relaxed),
            is_failing: state.is_failing(),
        }
    }

    /// Writes all records and closes the log. Calls that end later are not recorded.
    ///
    /// # Errors
    /// When records could not be written within the timeout.
    pub async fn close(&self, timeout: Duration) -> Result<(), AuditError> {
        drop(self.shared.sender.lock().take());
        // Wakes waiters with `Closed`.
        self.shared.state.places.close();
        let writer = self.shared.writer.lock().take();
        if let Some(mut writer) = writer
            && tokio::time::timeout(timeout, &mut writer).await.is_err()
        {
            writer.abort();
        }
        match self.counts().queued {
            0 => Ok(()),
            records => Err(AuditError::Unflushed { records }),
        }
    }
}

impl AuditShared {
    /// Queues a line that has taken a place, or has overdrawn.
    pub(super) fn send(&self, line: Vec<u8>) {
        let sender = self.sender.lock();
        self.state.queued.fetch_add(1, Ordering::Relaxed);
        let sent = sender.as_ref().is_some_and(|sender| sender.send(line).is_ok());
        if !sent {
            self.state.queued.fetch_sub(1, Ordering::Relaxed);
            self.state.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
