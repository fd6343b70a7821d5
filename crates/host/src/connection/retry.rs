//! Reconnection policy: full-jitter exponential backoff, and when to give up.
//!
//! The pause is random between zero and a bound that doubles, so that many clients that lost the same server do not
//! reconnect together. Pure: clock and randomness are passed in.

use std::time::Duration;

use crate::config::RestartPolicy;
use crate::status::ConnectionError;

/// The first upper bound of the pause; it doubles with every consecutive failure.
const INITIAL_BOUND: Duration = Duration::from_millis(500);
/// The greatest upper bound.
const MAX_BOUND: Duration = Duration::from_secs(30);
/// A server that exits this soon after its start is broken.
const EARLY_EXIT: Duration = Duration::from_secs(1);
/// A connection that lasted this long resets the failure count.
pub(crate) const STABLE: Duration = Duration::from_secs(60);

/// The upper bound of the pause before a failed server is tried again, where it is; the lower one is half of it.
const FAILED_BOUND: Duration = Duration::from_secs(60);

/// The consecutive failures of one server.
#[derive(Debug)]
pub(crate) struct RetryState {
    restart: RestartPolicy,
    failures: u32,
    /// The exit status of the last process, if it exited early.
    early_exit: Option<(Option<i32>, Option<i32>)>,
}

/// Whether and when to reconnect after a failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// Another attempt after this pause.
    After(Duration),
    /// No attempt until a reconnect is requested.
    GiveUp,
}

impl RetryState {
    pub(crate) fn new(restart: RestartPolicy) -> Self {
        Self { restart, failures: 0, early_exit: None }
    }

    /// Returns the number of consecutive failures.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// Resets the failures, after the connection lasted for [`STABLE`].
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
        self.early_exit = None;
    }

    /// Returns the pause before a server that has failed is tried again all the same; `None` if that is of no use.
    pub(crate) fn pause_of_failed(&self, failure: &ConnectionError, jitter: f64) -> Option<Duration> {
        let is_tried = self.restart != RestartPolicy::Never && !failure.is_permanent();
        is_tried.then(|| FAILED_BOUND.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0))
    }

    /// Records a failure after this uptime. `jitter` is between 0 and 1.
    pub(crate) fn failed(
        &mut self,
        failure: &ConnectionError,
        uptime: Duration,
        jitter: f64,
    ) -> RetryDecision {
        self.failures = self.failures.saturating_add(1);
        let early_exit = failure.exit().filter(|_| uptime < EARLY_EXIT);
        let is_repeated = early_exit.is_some() && early_exit == self.early_exit;
        self.early_exit = early_exit;
        let max_failures = match self.restart {
            RestartPolicy::Never => return RetryDecision::GiveUp,
            RestartPolicy::WithBackoff { max_failures } => max_failures,
        };
        if failure.is_permanent() || is_repeated || self.failures >= max_failures {
            return RetryDecision::GiveUp;
        }
        let doublings = (self.failures - 1).min(16);
        let bound = INITIAL_BOUND.saturating_mul(1 << doublings).min(MAX_BOUND);
        let pause = bound.mul_f64(jitter.clamp(0.0, 1.0));
        RetryDecision::After(pause.max(failure.retry_after_hint().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_session::link::{LinkError, ServerExit, StartError, StartErrorKind};

    use super::*;

    const BACKOFF: RestartPolicy = RestartPolicy::WithBackoff { max_failures: 5 };
    const LONG: Duration = Duration::from_secs(10);

    fn lost() -> ConnectionError {
        LinkError::lost("gone").into()
    }

    fn exited(code: i32) -> ConnectionError {
        LinkError::Exited(Arc::new(ServerExit::new(Some(code), None, ""))).into()
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_the_fifth_failure_gives_up() {
        let mut retry = RetryState::new(BACKOFF);
        let pauses: Vec<RetryDecision> = (0..5).map(|_| retry.failed(&lost(), LONG, 1.0)).collect();
        let millis = |ms| RetryDecision::After(Duration::from_millis(ms));
        assert_eq!(pauses, [millis(500), millis(1000), millis(2000), millis(4000), RetryDecision::GiveUp]);
        let mut patient = RetryState::new(RestartPolicy::WithBackoff { max_failures: u32::MAX });
        let last = (0..100).map(|_| patient.failed(&lost(), LONG, 1.0)).last();
        assert_eq!(last, Some(RetryDecision::After(MAX_BOUND)), "and nothing overflows");
    }

    #[test]
    fn a_failed_server_is_tried_again_after_half_a_minute_to_a_minute() {
        let retry = RetryState::new(BACKOFF);
        assert_eq!(retry.pause_of_failed(&lost(), 0.0), Some(Duration::from_secs(30)));
        assert_eq!(retry.pause_of_failed(&lost(), 1.0), Some(Duration::from_secs(60)));
        assert_eq!(RetryState::new(RestartPolicy::Never).pause_of_failed(&lost(), 1.0), None);
        let missing = LinkError::NotStarted(Arc::new(StartError::new("x", StartErrorKind::NotFound)));
        assert_eq!(retry.pause_of_failed(&missing.into(), 1.0), None);
    }

    #[test]
    fn the_pause_is_scaled_by_the_jitter() {
        let mut retry = RetryState::new(BACKOFF);
        assert_eq!(retry.failed(&lost(), LONG, 0.0), RetryDecision::After(Duration::ZERO));
        assert_eq!(retry.failed(&lost(), LONG, 0.5), RetryDecision::After(Duration::from_millis(500)));
    }

    #[test]
    fn two_equal_early_exits_give_up() {
        let mut retry = RetryState::new(BACKOFF);
        let soon = Duration::from_millis(300);
        assert!(matches!(retry.failed(&exited(2), soon, 0.0), RetryDecision::After(_)));
        assert_eq!(retry.failed(&exited(2), soon, 0.0), RetryDecision::GiveUp);
        let mut retry = RetryState::new(BACKOFF);
        for code in [1, 2, 1, 2] {
            assert!(matches!(retry.failed(&exited(code), soon, 0.0), RetryDecision::After(_)), "not alike");
        }
        let mut retry = RetryState::new(BACKOFF);
        for _ in 0..4 {
            assert!(matches!(retry.failed(&exited(2), LONG, 0.0), RetryDecision::After(_)), "not at once");
        }
    }

    #[test]
    fn a_reset_clears_failures_and_never_gives_up_at_once() {
        let mut retry = RetryState::new(BACKOFF);
        for _ in 0..20 {
            assert!(matches!(retry.failed(&lost(), LONG, 0.0), RetryDecision::After(_)));
            retry.reset();
        }
        assert_eq!(RetryState::new(RestartPolicy::Never).failed(&lost(), LONG, 0.0), RetryDecision::GiveUp);
    }

    #[test]
    fn a_permanent_error_is_not_retried() {
        let missing = LinkError::NotStarted(Arc::new(StartError::new("x", StartErrorKind::NotFound)));
        assert_eq!(RetryState::new(BACKOFF).failed(&missing.into(), LONG, 0.0), RetryDecision::GiveUp);
        let full = LinkError::NotStarted(Arc::new(StartError::new("x", StartErrorKind::OutOfResources)));
        assert!(matches!(RetryState::new(BACKOFF).failed(&full.into(), LONG, 0.0), RetryDecision::After(_)));
    }

    #[test]
    fn retry_after_extends_the_pause() {
        let busy = LinkError::RateLimited { retry_after: Some(Duration::from_secs(120)) };
        let next = RetryState::new(BACKOFF).failed(&busy.into(), LONG, 1.0);
        assert_eq!(next, RetryDecision::After(Duration::from_secs(120)));
    }
}
