//! When a lost server is tried again, and when it is given up.
//!
//! Pauses are drawn from zero to a bound that doubles (full jitter), so that many who lost the same server do not come
//! back together. Knows no clock and no dice: both are handed in.

use std::time::Duration;

use crate::config::Restart;
use crate::status::Failure;

/// The bound of the first pause; it doubles with every failure in a row.
const FIRST: Duration = Duration::from_millis(500);
/// The largest bound.
const LONGEST: Duration = Duration::from_secs(30);
/// A server that ends this soon after its start was not lost: it does not work.
const STILLBORN: Duration = Duration::from_secs(1);
/// A server that stayed up this long has put its failures behind it.
pub(crate) const STABLE: Duration = Duration::from_secs(60);

/// The failures of one server, in a row.
#[derive(Debug)]
pub(crate) struct Retry {
    restart: Restart,
    failures: u32,
    /// How it ended the last time, if that was at once.
    stillborn: Option<(Option<i32>, Option<i32>)>,
}

/// What follows a failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another attempt, after this.
    After(Duration),
    /// Nothing, until somebody asks.
    GiveUp,
}

impl Retry {
    pub(crate) fn new(restart: Restart) -> Self {
        Self { restart, failures: 0, stillborn: None }
    }

    /// How many failed in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// The server stayed up for [`STABLE`].
    pub(crate) fn stayed_up(&mut self) {
        self.failures = 0;
        self.stillborn = None;
    }

    /// Counts a failure of a server that lived this long. `dice` is between 0 and 1.
    pub(crate) fn failed(&mut self, failure: &Failure, lived: Duration, dice: f64) -> Next {
        self.failures = self.failures.saturating_add(1);
        let stillborn = failure.exit().filter(|_| lived < STILLBORN);
        let twice_alike = stillborn.is_some() && stillborn == self.stillborn;
        self.stillborn = stillborn;
        let most = match self.restart {
            Restart::Never => return Next::GiveUp,
            Restart::WithBackoff { most } => most,
        };
        if failure.is_for_good() || twice_alike || self.failures >= most {
            return Next::GiveUp;
        }
        let doublings = (self.failures - 1).min(16);
        let bound = FIRST.saturating_mul(1 << doublings).min(LONGEST);
        let pause = bound.mul_f64(dice.clamp(0.0, 1.0));
        Next::After(pause.max(failure.asks_to_wait().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_session::link::{LinkError, ServerExit, StartError, StartErrorKind};

    use super::*;

    const BACKOFF: Restart = Restart::WithBackoff { most: 5 };
    const LONG: Duration = Duration::from_secs(10);

    fn lost() -> Failure {
        LinkError::lost("gone").into()
    }

    fn exited(code: i32) -> Failure {
        LinkError::Exited(Arc::new(ServerExit::new(Some(code), None, ""))).into()
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_the_fifth_failure_ends_it() {
        let mut retry = Retry::new(BACKOFF);
        let pauses: Vec<Next> = (0..5).map(|_| retry.failed(&lost(), LONG, 1.0)).collect();
        let millis = |ms| Next::After(Duration::from_millis(ms));
        assert_eq!(pauses, [millis(500), millis(1000), millis(2000), millis(4000), Next::GiveUp]);
        let mut patient = Retry::new(Restart::WithBackoff { most: u32::MAX });
        let last = (0..100).map(|_| patient.failed(&lost(), LONG, 1.0)).last();
        assert_eq!(last, Some(Next::After(LONGEST)), "and nothing overflows");
    }

    #[test]
    fn the_pause_is_drawn_from_zero() {
        let mut retry = Retry::new(BACKOFF);
        assert_eq!(retry.failed(&lost(), LONG, 0.0), Next::After(Duration::ZERO));
        assert_eq!(retry.failed(&lost(), LONG, 0.5), Next::After(Duration::from_millis(500)));
    }

    #[test]
    fn two_exits_alike_at_once_are_a_mistake_not_a_crash() {
        let mut retry = Retry::new(BACKOFF);
        let soon = Duration::from_millis(300);
        assert!(matches!(retry.failed(&exited(2), soon, 0.0), Next::After(_)));
        assert_eq!(retry.failed(&exited(2), soon, 0.0), Next::GiveUp);
        let mut retry = Retry::new(BACKOFF);
        for code in [1, 2, 1, 2] {
            assert!(matches!(retry.failed(&exited(code), soon, 0.0), Next::After(_)), "not alike");
        }
        let mut retry = Retry::new(BACKOFF);
        for _ in 0..4 {
            assert!(matches!(retry.failed(&exited(2), LONG, 0.0), Next::After(_)), "not at once");
        }
    }

    #[test]
    fn staying_up_forgets_and_never_means_never() {
        let mut retry = Retry::new(BACKOFF);
        for _ in 0..20 {
            assert!(matches!(retry.failed(&lost(), LONG, 0.0), Next::After(_)));
            retry.stayed_up();
        }
        assert_eq!(Retry::new(Restart::Never).failed(&lost(), LONG, 0.0), Next::GiveUp);
    }

    #[test]
    fn what_must_be_mended_is_not_tried_again() {
        let missing = LinkError::NotStarted(Arc::new(StartError::new("x", StartErrorKind::NotFound)));
        assert_eq!(Retry::new(BACKOFF).failed(&missing.into(), LONG, 0.0), Next::GiveUp);
        let full = LinkError::NotStarted(Arc::new(StartError::new("x", StartErrorKind::OutOfResources)));
        assert!(matches!(Retry::new(BACKOFF).failed(&full.into(), LONG, 0.0), Next::After(_)));
    }

    #[test]
    fn the_server_may_ask_for_a_longer_pause() {
        let busy = LinkError::RateLimited { retry_after: Some(Duration::from_secs(120)) };
        let next = Retry::new(BACKOFF).failed(&busy.into(), LONG, 1.0);
        assert_eq!(next, Next::After(Duration::from_secs(120)));
    }
}
