//! How many tasks there may be, and how long each is kept.

use std::time::Duration;

/// How many tasks there may be, and how long each is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLimits {
    /// How long a task is kept from its making, when the caller does not say. What still runs then is ended.
    pub ttl: Duration,
    /// The longest a caller may ask for.
    pub most_ttl: Duration,
    /// How long callers are told to wait between two looks.
    pub poll_interval: Duration,
    /// How many run at the same time.
    pub running: usize,
    /// How many run at the same time for one caller.
    pub running_for_one: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            most_ttl: Duration::from_secs(24 * 60 * 60),
            poll_interval: Duration::from_millis(500),
            running: 1024,
            running_for_one: 64,
        }
    }
}

impl TaskLimits {
    /// How long a task is kept from its making, when the caller does not say.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long callers are told to wait between two looks.
    #[must_use]
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// How long a task is kept for which this many milliseconds were asked.
    pub(super) fn keep(&self, asked: Option<u64>) -> Duration {
        let asked = asked.map_or(self.ttl, Duration::from_millis);
        asked.clamp(Duration::from_millis(1), self.most_ttl)
    }
}
