//! Detects that the system was suspended: connections may be dead then, and a call should not be the one to find out.

use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio::task::AbortHandle;

/// How often the clocks are compared.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The least lead of the wall clock that counts as a suspension. Clock corrections are smaller.
const MIN_SLEEP: Duration = Duration::from_secs(5);

/// Both clocks at one moment: only the wall clock advances during a suspension.
#[derive(Clone, Copy, Debug)]
struct ClockPair {
    wall: SystemTime,
    monotonic: Instant,
}

impl ClockPair {
    fn now() -> Self {
        Self { wall: SystemTime::now(), monotonic: Instant::now() }
    }

    /// Returns whether the system was suspended between the two readings.
    fn slept_before(&self, later: &Self) -> bool {
        // A wall clock that was set back proves nothing.
        let wall_elapsed = later.wall.duration_since(self.wall).unwrap_or_default();
        wall_elapsed.saturating_sub(later.monotonic.duration_since(self.monotonic)) > MIN_SLEEP
    }
}

/// Compares the clocks periodically until it is dropped.
#[derive(Debug)]
pub(crate) struct SleepWatcher {
    task: AbortHandle,
}

impl SleepWatcher {
    /// Starts the task, which increments `resumes` after every suspension.
    pub(crate) fn new(resumes: watch::Sender<u64>) -> Self {
        let task = tokio::spawn(async move {
            let mut before = ClockPair::now();
            loop {
                tokio::time::sleep(POLL_INTERVAL).await;
                let now = ClockPair::now();
                if before.slept_before(&now) {
                    tracing::debug!("system resumed from sleep; probing all connections");
                    resumes.send_modify(|times| *times += 1);
                }
                before = now;
            }
        });
        Self { task: task.abort_handle() }
    }
}

impl Drop for SleepWatcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_that_went_by_wall_elapsed_alone_is_sleep() {
        let start = ClockPair::now();
        let seconds = Duration::from_secs;
        let later = |wall: u64, monotonic: u64| ClockPair {
            wall: start.wall + seconds(wall),
            monotonic: start.monotonic + seconds(monotonic),
        };
        assert!(start.slept_before(&later(8 * 3600, 5)));
        assert!(!start.slept_before(&later(5, 5)));
        assert!(!start.slept_before(&later(600, 600)), "a busy system was not suspended");
        assert!(!start.slept_before(&later(9, 5)), "a clock correction");
        let set_back =
            ClockPair { wall: start.wall - seconds(3600), monotonic: start.monotonic + seconds(5) };
        assert!(!start.slept_before(&set_back));
    }
}
