//! Limit of failed attempts with tokens and keys.
//!
//! Failures beyond the limit are answered with 429 instead of 401. A valid token or key always works: whoever floods the
//! console with guesses does not lock its user out.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Failures in one window.
const FAILURES: u32 = 20;
const WINDOW: Duration = Duration::from_secs(10);

/// Counts failures in a window of time.
#[derive(Debug, Default)]
pub(super) struct AttemptLimit(Mutex<Option<Window>>);

#[derive(Debug)]
struct Window {
    since: Instant,
    failures: u32,
}

impl AttemptLimit {
    /// Counts a failure and returns whether it is within the limit.
    pub(super) fn count_failure(&self, now: Instant) -> bool {
        let mut window = self.0.lock();
        match &mut *window {
            Some(window) if now.saturating_duration_since(window.since) < WINDOW => {
                window.failures = window.failures.saturating_add(1);
                window.failures <= FAILURES
            }
            other => {
                *other = Some(Window { since: now, failures: 1 });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_window_begins_after_the_old_one() {
        let (limit, now) = (AttemptLimit::default(), Instant::now());
        assert_eq!((0..30).filter(|_| limit.count_failure(now)).count(), 20);
        assert!(limit.count_failure(now + WINDOW));
    }
}
