//! Counters and times of calls, as a snapshot. Never what was said in them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

/// Times are counted in classes that double, from one microsecond.
const CLASSES: usize = 40;

/// Counts the calls of one server.
#[derive(Debug)]
pub(crate) struct Meter {
    calls: AtomicU64,
    failures: AtomicU64,
    tool_errors: AtomicU64,
    reconnects: AtomicU64,
    micros: AtomicU64,
    classes: [AtomicU64; CLASSES],
}

/// How a call ended, as far as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a result.
    Result,
    /// With a result that says the tool failed.
    ToolError,
    /// Without one.
    Failure,
}

impl Default for Meter {
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

impl Meter {
    pub(crate) fn called(&self, took: Duration, ending: Ending) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match ending {
            Ending::Result => 0,
            Ending::ToolError => self.tool_errors.fetch_add(1, Ordering::Relaxed),
            Ending::Failure => self.failures.fetch_add(1, Ordering::Relaxed),
        };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        let class = (u64::BITS - micros.leading_zeros()) as usize;
        self.classes[class.min(CLASSES - 1)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reconnected(&self) {
        self.reconnects.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> CallMetrics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallMetrics {
            calls: count(&self.calls),
            failures: count(&self.failures),
            tool_errors: count(&self.tool_errors),
            reconnects: count(&self.reconnects),
            total_micros: count(&self.micros),
            classes: self.classes.iter().map(count).collect(),
        }
    }
}

/// What was counted, for one server or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallMetrics {
    /// Calls that have ended.
    pub calls: u64,
    /// Those without a result.
    pub failures: u64,
    /// Those whose result says that the tool failed.
    pub tool_errors: u64,
    /// How often a server was opened again.
    pub reconnects: u64,
    /// How long all calls took together, in microseconds.
    pub total_micros: u64,
    /// Calls by how long they took: class `n` holds those below 2ⁿ microseconds that no lower class holds.
    pub classes: Vec<u64>,
}

impl CallMetrics {
    /// A time that this share of the calls did not exceed, to the next power of two.
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

    /// Adds those of another server.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.tool_errors += other.tool_errors;
        self.reconnects += other.reconnects;
        self.total_micros += other.total_micros;
        self.classes.resize(CLASSES, 0);
        self.classes.iter_mut().zip(&other.classes).for_each(|(mine, theirs)| *mine += theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_classes_and_shares_are_read_from_them() {
        let meter = Meter::default();
        for micros in [0, 1, 3, 100, 1_000_000] {
            meter.called(Duration::from_micros(micros), Ending::Result);
        }
        meter.called(Duration::MAX, Ending::Failure);
        let metrics = meter.read();
        assert_eq!((metrics.calls, metrics.failures), (6, 1));
        assert_eq!(metrics.latency(0.5), Some(Duration::from_micros(4)));
        assert_eq!(metrics.latency(0.66), Some(Duration::from_micros(128)));
        assert_eq!(CallMetrics::default().latency(0.5), None);
        let mut both = metrics.clone();
        both.add(&metrics);
        assert_eq!(both.latency(0.5), metrics.latency(0.5));
    }
}
