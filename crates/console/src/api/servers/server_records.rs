//! What the console remembers of each server: latencies, the time of the connection, lines of stderr.
//!
//! Only the [host monitor](super::host_monitor) changes latencies and stderr, inside of an update of the event log, so that
//! a snapshot and the events after it neither repeat nor miss a sample.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_host::{Host, RecentCalls};
use switchboard_session::SessionInfo;
use switchboard_transport::stdio::ChildHandle;

use crate::api::clock::{unix_ms_now, unix_ms_of};
use crate::contract::{LatencySample, StderrLine, StderrTail, UnixMs};

/// Latencies that are kept for each server.
const MAX_SAMPLES: usize = 60;
/// Lines of stderr that are kept for each server.
pub(crate) const MAX_STDERR_LINES: usize = 500;
/// Bytes of stderr that are kept for each server.
const MAX_STDERR_BYTES: usize = 1 << 20;

/// The records of all servers.
#[derive(Debug, Default)]
pub(crate) struct ServerRecords {
    // Held for a lookup or a change, never while an event is published.
    records: Mutex<HashMap<String, ServerRecord>>,
}

#[derive(Debug, Default)]
struct ServerRecord {
    samples: VecDeque<LatencySample>,
    /// The number of calls that had finished when the last sample was taken.
    total: u64,
    /// The session, and when it was first seen.
    session: Option<(Arc<SessionInfo>, UnixMs)>,
    stderr: StderrRecord,
}

/// The kept lines of stderr of the processes of one server.
#[derive(Debug, Default)]
struct StderrRecord {
    /// The process that is followed; kept after its end, so that its last lines are read.
    child: Option<ChildHandle>,
    position: u64,
    lines: VecDeque<StderrLine>,
    bytes: usize,
    dropped: u64,
}

impl ServerRecords {
    /// Returns the last latencies of a server, oldest first.
    pub(crate) fn samples(&self, server: &str) -> Vec<LatencySample> {
        let records = self.records.lock();
        records.get(server).map(|record| record.samples.iter().cloned().collect()).unwrap_or_default()
    }

    /// Adds the calls that have finished since, and returns them.
    pub(super) fn add_samples(&self, server: &str, recent: &RecentCalls) -> Vec<LatencySample> {
        let mut records = self.records.lock();
        let record = records.entry(server.to_owned()).or_default();
        if recent.total < record.total {
            // Another server of the same name.
            (record.total, record.samples) = (0, VecDeque::new());
        }
        let new = usize::try_from(recent.total - record.total).unwrap_or(usize::MAX);
        record.total = recent.total;
        let skipped = recent.calls.len().saturating_sub(new);
        let sample = |call: &switchboard_host::RecentCall| LatencySample {
            at_ms: unix_ms_of(call.finished),
            ms: call.took.as_secs_f64() * 1000.0,
            ok: call.is_ok,
        };
        let samples: Vec<LatencySample> = recent.calls[skipped..].iter().map(sample).collect();
        record.samples.extend(samples.iter().cloned());
        let over = record.samples.len().saturating_sub(MAX_SAMPLES);
        record.samples.drain(..over);
        samples
    }

    /// Returns when a session was first seen.
    pub(super) fn connected_at(&self, server: &str, session: &Arc<SessionInfo>) -> UnixMs {
        let mut records = self.records.lock();
        let record = records.entry(server.to_owned()).or_default();
        match &record.session {
            Some((known, since)) if Arc::ptr_eq(known, session) => *since,
            _ => {
                let now = unix_ms_now();
                record.session = Some((Arc::clone(session), now));
                now
            }
        }
    }

    /// Reads new lines of stderr, masks them, keeps them and returns them.
    pub(super) fn read_stderr(
        &self,
        host: &Host,
        server: &str,
        mask: impl Fn(String) -> String,
    ) -> Vec<StderrLine> {
        let current = host.child(server).ok().flatten();
        let mut records = self.records.lock();
        let record = records.entry(server.to_owned()).or_default();
        record.stderr.read(current, &mask)
    }

    /// Returns the kept lines of stderr.
    pub(super) fn stderr_tail(&self, server: &str) -> StderrTail {
        let records = self.records.lock();
        let record = records.get(server).map(|record| &record.stderr);
        StderrTail {
            server: server.to_owned(),
            lines: record.map(|stderr| stderr.lines.iter().cloned().collect()).unwrap_or_default(),
            dropped: record.map_or(0, |stderr| stderr.dropped),
        }
    }

    /// Removes the record of a server that was removed.
    pub(super) fn remove(&self, server: &str) {
        self.records.lock().remove(server);
    }
}

impl StderrRecord {
    fn read(&mut self, current: Option<ChildHandle>, mask: &impl Fn(String) -> String) -> Vec<StderrLine> {
        let mut new = Vec::new();
        if let Some(known) = self.child.take() {
            self.follow(&known, mask, &mut new);
            let is_same = current.as_ref().is_none_or(|current| current.root_pid() == known.root_pid());
            if is_same {
                self.child = Some(known);
                return new;
            }
        }
        if let Some(child) = current {
            self.position = 0;
            self.follow(&child, mask, &mut new);
            self.child = Some(child);
        }
        new
    }

    fn follow(&mut self, child: &ChildHandle, mask: &impl Fn(String) -> String, new: &mut Vec<StderrLine>) {
        let read = child.stderr_lines(self.position);
        self.position = read.position;
        // How many lines are missing is not known: at least one.
        self.dropped += u64::from(read.is_cut);
        let at_ms = unix_ms_now();
        for text in read.lines.into_iter().map(mask) {
            self.bytes += text.len();
            let line = StderrLine { at_ms, text };
            self.lines.push_back(line.clone());
            new.push(line);
        }
        while self.lines.len() > MAX_STDERR_LINES || self.bytes > MAX_STDERR_BYTES {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.text.len();
            self.dropped += 1;
        }
    }
}
