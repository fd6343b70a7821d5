//! Call metrics: counters and latencies. Never contents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

/// The number of latency classes, which double from one microsecond.
const CLASSES: usize = 40;
/// The number of calls whose latency is kept.
const RECENT: usize = 64;

/// Counts the calls of one server.
#[derive(Debug)]
pub(crate) struct CallMeter {
    calls: AtomicU64,
    failures: AtomicU64,
    tool_errors: AtomicU64,
    reconnects: AtomicU64,
    micros: AtomicU64,
    classes: [AtomicU64; CLASSES],
    /// The last calls, each packed into one word; the number of a call is its position.
    recent: [AtomicU64; RECENT],
    created: Instant,
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
            recent: [const { AtomicU64::new(0) }; RECENT],
            created: Instant::now(),
        }
    }
}

/// One of the last calls of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentCall {
    /// When it finished, to 10 ms.
    pub finished: Instant,
    /// How long it took, to 10 µs.
    pub took: Duration,
    /// Whether it has a result that is no error.
    pub is_ok: bool,
}

/// The last calls of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentCalls {
    /// The number of calls that have finished so far: the number of the last of `calls`.
    pub total: u64,
    /// At most 64 calls, oldest first.
    pub calls: Vec<RecentCall>,
}

/// Packs a finished call: when it finished (32 bits of 10 ms, from 1), how long it took (31 bits of 10 µs), its outcome.
fn pack_call(finished: Duration, took: Duration, is_ok: bool) -> u64 {
    let finished = (finished.as_millis() / 10 + 1).min(u128::from(u32::MAX)) as u64;
    let took = (took.as_micros() / 10).min((1 << 31) - 1) as u64;
    finished << 32 | took << 1 | u64::from(is_ok)
}

impl CallMeter {
    /// Records a call that began at this time and finished now.
    pub(crate) fn record_call(&self, began: Instant, ending: CallResultKind) {
        self.record(began.saturating_duration_since(self.created), began.elapsed(), ending);
    }

    fn record(&self, began: Duration, took: Duration, ending: CallResultKind) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let packed = pack_call(began.saturating_add(took), took, ending == CallResultKind::Result);
        self.recent[number as usize % RECENT].store(packed, Ordering::Relaxed);
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

    /// Returns the last calls. A call that finishes meanwhile may be missing.
    pub(crate) fn recent_calls(&self) -> RecentCalls {
        let total = self.calls.load(Ordering::Relaxed);
        let first = total.saturating_sub(RECENT as u64);
        let unpack = |number: u64| {
            let packed = self.recent[number as usize % RECENT].load(Ordering::Relaxed);
            let finished = (packed >> 32).checked_sub(1)?;
            Some(RecentCall {
                finished: self.created + Duration::from_millis(finished * 10),
                took: Duration::from_micros((packed >> 1 & ((1 << 31) - 1)) * 10),
                is_ok: packed & 1 == 1,
            })
        };
        RecentCalls { total, calls: (first..total).filter_map(unpack).collect() }
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
            meter.record(Duration::ZERO, Duration::from_micros(micros), CallResultKind::Result);
        }
        meter.record(Duration::ZERO, Duration::MAX, CallResultKind::Failure);
        let metrics = meter.snapshot((0, 0));
        assert_eq!((metrics.calls, metrics.failures), (6, 1));
        assert_eq!(metrics.latency(0.5), Some(Duration::from_micros(4)));
        assert_eq!(metrics.latency(0.66), Some(Duration::from_micros(128)));
        assert_eq!(CallMetrics::default().latency(0.5), None);
        let mut both = metrics.clone();
        both.add(&metrics);
        assert_eq!(both.latency(0.5), metrics.latency(0.5));
    }

    #[test]
    fn the_last_calls_are_kept_oldest_first() {
        let meter = CallMeter::default();
        assert_eq!(meter.recent_calls(), RecentCalls::default());
        for number in 0..100 {
            let kind = if number % 2 == 0 { CallResultKind::Result } else { CallResultKind::ToolError };
            meter.record(Duration::from_secs(number), Duration::from_millis(number), kind);
        }
        let recent = meter.recent_calls();
        assert_eq!((recent.total, recent.calls.len()), (100, RECENT));
        let (first, last) = (recent.calls[0], recent.calls[RECENT - 1]);
        assert_eq!((first.took, first.is_ok), (Duration::from_millis(36), true));
        assert_eq!((last.took, last.is_ok), (Duration::from_millis(99), false));
        assert_eq!(last.finished - meter.created, Duration::from_millis(99_090));
        meter.record(Duration::ZERO, Duration::MAX, CallResultKind::Result);
        assert_eq!(meter.recent_calls().calls[RECENT - 1].took, Duration::from_micros(10 * ((1 << 31) - 1)));
    }
}
