//! The writer task: takes queued lines in batches to the sink.
//!
//! Invariant: a batch is written, kept for another attempt, or counted as lost; lines are written in the order in which
//! they were queued.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::log::AuditState;
use super::options::{FailurePolicy, SyncPolicy};
use super::sink::AuditSink;

/// The maximum number of lines of a batch.
const MAX_BATCH: usize = 256;
/// The time between two attempts while the sink fails.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Runs until the queue is closed and empty.
pub(super) async fn run_writer(
    sink: Box<dyn AuditSink>,
    mut receiver: mpsc::UnboundedReceiver<Vec<u8>>,
    state: Arc<AuditState>,
) {
    let mut writer = AuditWriter { sink: Some(sink), state, sync_at: None };
    let mut batch = Vec::new();
    loop {
        let sync_at = writer.sync_at;
        let due = async {
            match sync_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            count = receiver.recv_many(&mut batch, MAX_BATCH) => {
                if count == 0 {
                    break;
                }
                writer.write(&mut batch).await;
            }
            () = due => writer.sync().await,
        }
    }
    writer.sync().await;
}

struct AuditWriter {
    /// `None` while a blocking thread has it.
    sink: Option<Box<dyn AuditSink>>,
    state: Arc<AuditState>,
    /// When written lines are synced.
    sync_at: Option<Instant>,
}

impl AuditWriter {
    async fn write(&mut self, batch: &mut Vec<Vec<u8>>) {
        while !batch.is_empty() {
            match self.write_some(batch).await {
                Ok(count) => {
                    self.set_failing(None);
                    self.state.written.fetch_add(count as u64, Ordering::Relaxed);
                    self.release(batch, count);
                }
                Err(error) => {
                    self.set_failing(Some(&error));
                    if self.state.options.failure == FailurePolicy::Open {
                        self.state.lost.fetch_add(batch.len() as u64, Ordering::Relaxed);
                        self.release(batch, batch.len());
                    } else {
                        sleep(RETRY_DELAY).await;
                    }
                }
            }
        }
        match self.state.options.sync {
            SyncPolicy::Never => {}
            SyncPolicy::Interval(interval) => {
                _ = self.sync_at.get_or_insert_with(|| Instant::now() + interval)
            }
            SyncPolicy::EveryBatch => self.sync().await,
        }
    }

    /// Writes the first lines of a batch and returns their number.
    async fn write_some(&mut self, batch: &mut Vec<Vec<u8>>) -> io::Result<usize> {
        let Some(mut sink) = self.sink.take() else { return Err(sink_lost()) };
        let lines: Vec<Vec<u8>> = batch.iter_mut().map(std::mem::take).collect();
        let ran = tokio::task::spawn_blocking(move || {
            let outcome = sink.write(&lines);
            (sink, lines, outcome)
        });
        let (sink, lines, outcome) = ran.await.map_err(|_| sink_lost())?;
        self.sink = Some(sink);
        *batch = lines;
        outcome.map(|count| count.clamp(1, batch.len()))
    }

    /// Removes the first lines of a batch and gives their places back.
    fn release(&self, batch: &mut Vec<Vec<u8>>, count: usize) {
        let released = batch.drain(..count).count();
        self.state.queued.fetch_sub(released as u64, Ordering::Relaxed);
        self.state.release(released);
    }

    /// Syncs what was written; again later if it fails.
    async fn sync(&mut self) {
        self.sync_at = None;
        let Some(mut sink) = self.sink.take() else { return };
        let ran = tokio::task::spawn_blocking(move || {
            let outcome = sink.sync();
            (sink, outcome)
        });
        let Ok((sink, outcome)) = ran.await else { return };
        self.sink = Some(sink);
        self.set_failing(outcome.as_ref().err());
        if outcome.is_err() {
            self.sync_at = Some(Instant::now() + RETRY_DELAY);
        }
    }

    fn set_failing(&self, error: Option<&io::Error>) {
        if self.state.is_failing() == error.is_some() {
            return;
        }
        self.state.failing.send_replace(error.is_some());
        match error {
            Some(error) => tracing::error!(%error, "the audit log cannot be written"),
            None => tracing::info!("the audit log is written again"),
        }
    }
}

/// The error of a sink that has panicked.
fn sink_lost() -> io::Error {
    io::Error::other("the audit sink has panicked")
}
