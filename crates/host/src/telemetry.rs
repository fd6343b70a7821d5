//! Call metrics: counters and latencies. Never contents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

/// The number of latency classes, which double from one microsecond.
const CLASSES: usize = 40;

/// Counts the calls of one server.
#[derive(Debug)]
pub(crate) struct CallMeter {
    calls: AtomicU64,
    failures: AtomicU64,
    tool_errors: AtomicU64,
    reconnects: AtomicU64,
    micros: AtomicU64,
    classes: [AtomicU64; CLASSES],
}

/// The outcome of a call, for counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallResultKind {
    /// A result.
    Result,
    /// An error result of the tool.
    ToolError,
    /// No result.
    Failure,
}

impl Default for CallMeter {
    fn default() -> Self {
        Self {
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            tool_errors: AtomicU64::new(0),
            reconnects: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            classes: [const { AtomicU64::new(0) }; CLASSES],
        }
    }
}

impl CallMeter {
    pub(crate) fn record_call(&self, took: Duration, ending: CallResultKind) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match ending {
            CallResultKind::Result => 0,
            CallResultKind::ToolError => self.tool_errors.fetch_add(1, Ordering::Relaxed),
            CallResultKind::Failure => self.failures.fetch_add(1, Ordering::Relaxed),
        };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        let class = (u64::BITS - micros.leading_zeros()) as usize;
        self.classes[class.min(CLASSES - 1)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn record_reconnect(&self) {
        self.reconnects.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counts; `load` is the number of calls under way, and of those that wait.
    pub(crate) fn snapshot(&self, (running, queued): (usize, usize)) -> CallMetrics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallMetrics {
            calls: count(&self.calls),
            failures: count(&self.failures),
            tool_errors: count(&self.tool_errors),
            reconnects: count(&self.reconnects),
            running: running as u64,
            queued: queued as u64,
            total_micros: count(&self.micros),
            classes: self.classes.iter().map(count).collect(),
        }
    }
}

/// The call metrics of one server or of all servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallMetrics {
    /// Finished calls.
    pub calls: u64,
    /// Calls without a result.
    pub failures: u64,
    /// Calls with an error result.
    pub tool_errors: u64,
    /// Reconnections.
    pub reconnects: u64,
    /// Calls under way now.
    pub running: u64,
    /// Calls that wait for their turn now.
    pub queued: u64,
    /// The total duration of all calls, in microseconds.
    pub total_micros: u64,
    /// Latency histogram: class `n` counts calls below 2ⁿ microseconds that no lower class counts.
    pub classes: Vec<u64>,
}

impl CallMetrics {
    /// Returns a latency quantile, rounded up to a power of two.
    pub fn latency(&self, share: f64) -> Option<Duration> {
        let calls: u64 = self.classes.iter().sum();
        let wanted = (share.clamp(0.0, 1.0) * calls as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let class = self.classes.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        (calls > 0).then(|| Duration::from_micros(1 << class))
    }

    /// Adds the metrics of another server.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.tool_errors += other.tool_errors;
        self.reconnects += other.reconnects;
        self.running += other.running;
        self.queued += other.queued;
        self.total_micros += other.total_micros;
        self.classes.resize(CLASSES, 0);
        self.classes.iter_mut().zip(&other.classes).for_each(|(mine, theirs)| *mine += theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_read_from_the_histogram() {
        let meter = CallMeter::default();
        for micros in [0, 1, 3, 100, 1_000_000] {
            meter.record_call(Duration::from_micros(micros), CallResultKind::Result);
        }
        meter.record_call(Duration::MAX, CallResultKind::Failure);
        let metrics = meter.snapshot((0, 0));
        assert_eq!((metrics.calls, metrics.failures), (6, 1));
        assert_eq!(metrics.latency(0.5), Some(Duration::from_micros(4)));
        assert_eq!(metrics.latency(0.66), Some(Duration::from_micros(128)));
        assert_eq!(CallMetrics::default().latency(0.5), None);
        let mut both = metrics.clone();
        both.add(&metrics);
        assert_eq!(both.latency(0.5), metrics.latency(0.5));
    }
}
