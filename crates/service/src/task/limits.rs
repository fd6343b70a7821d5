//! Limits of tasks.

use std::time::Duration;

/// Limits on the number and lifetime of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLimits {
    /// Lifetime of a task from its creation, unless the caller requests another. A task still running at its end is
    /// cancelled.
    pub ttl: Duration,
    /// Maximum lifetime that a caller may request.
    pub max_ttl: Duration,
    /// The poll interval that is recommended to callers.
    pub poll_interval: Duration,
    /// Maximum number of running tasks.
    pub max_running: usize,
    /// Maximum number of running tasks per owner.
    pub max_running_per_owner: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            max_ttl: Duration::from_secs(24 * 60 * 60),
            poll_interval: Duration::from_millis(500),
            max_running: 1024,
            max_running_per_owner: 64,
        }
    }
}

impl TaskLimits {
    /// Sets the lifetime of a task for which the caller requests none.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets the poll interval that is recommended to callers.
    #[must_use]
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Returns the lifetime for a requested number of milliseconds.
    pub(super) fn ttl_for(&self, requested: Option<u64>) -> Duration {
        let requested = requested.map_or(self.ttl, Duration::from_millis);
        requested.clamp(Duration::from_millis(1), self.max_ttl)
    }
}
