//! The idle and the total timeout of a call. Both pause while the user is asked for input.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::request::TimeoutKind;

/// The clock of one session. It is paused while the handler answers a request of the server.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    state: Mutex<ClockState>,
}

#[derive(Debug, Default)]
struct ClockState {
    pauses: usize,
    paused_at: Option<Instant>,
    paused_total: Duration,
}

impl Clock {
    /// Pauses the clock until the guard is dropped.
    pub(crate) fn pause(&self) -> PauseGuard<'_> {
        let mut state = self.state.lock();
        state.pauses += 1;
        state.paused_at.get_or_insert_with(Instant::now);
        PauseGuard(self)
    }

    /// Returns how long the clock has been paused in total, and whether it is paused now.
    fn paused_time(&self, now: Instant) -> (Duration, bool) {
        let state = self.state.lock();
        match state.paused_at {
            Some(at) => (state.paused_total + now.saturating_duration_since(at), true),
            None => (state.paused_total, false),
        }
    }
}

/// Keeps a clock paused.
#[derive(Debug)]
pub(crate) struct PauseGuard<'a>(&'a Clock);

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.pauses -= 1;
        if state.pauses == 0
            && let Some(at) = state.paused_at.take()
        {
            state.paused_total += at.elapsed();
        }
    }
}

/// The longest time until the next check of a deadline.
const MAX_WAIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The timeouts of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTimeouts {
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
}

/// The deadlines of one call in flight.
#[derive(Debug)]
pub(crate) struct CallDeadline<'a> {
    clock: &'a Clock,
    timeouts: CallTimeouts,
    started: ClockReading,
    last_activity: ClockReading,
}

/// A moment, and how long the clock had been paused by then.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    at: Instant,
    paused: Duration,
    is_paused: bool,
}

/// The result of checking a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeadlineState {
    /// Not expired; check again at this time.
    Until(Instant),
    /// Expired: which timeout, and how long it was.
    Expired(TimeoutKind, Duration),
}

impl<'a> CallDeadline<'a> {
    pub(crate) fn start(clock: &'a Clock, timeouts: CallTimeouts) -> Self {
        let now = read_clock(clock);
        Self { clock, timeouts, started: now, last_activity: now }
    }

    /// Restarts the idle timeout.
    pub(crate) fn record_activity(&mut self) {
        self.last_activity = read_clock(self.clock);
    }

    /// Returns how much of the total timeout is left.
    pub(crate) fn remaining(&self) -> Duration {
        let now = read_clock(self.clock);
        let elapsed = now.at.saturating_duration_since(self.started.at);
        self.timeouts.total.saturating_sub(elapsed.saturating_sub(now.paused - self.started.paused))
    }

    pub(crate) fn check(&self) -> DeadlineState {
        self.check_at(read_clock(self.clock))
    }

    /// Checks the deadline as of the last activity, without reading the clock.
    pub(crate) fn at_last_activity(&self) -> DeadlineState {
        self.check_at(self.last_activity)
    }

    fn check_at(&self, now: ClockReading) -> DeadlineState {
        let elapsed = |since: ClockReading| {
            now.at.saturating_duration_since(since.at).saturating_sub(now.paused - since.paused)
        };
        let (idle, total) = (elapsed(self.last_activity), elapsed(self.started));
        if total >= self.timeouts.total {
            return DeadlineState::Expired(TimeoutKind::Total, self.timeouts.total);
        }
        if idle >= self.timeouts.idle {
            return DeadlineState::Expired(TimeoutKind::Idle, self.timeouts.idle);
        }
        // While the clock is paused the deadline cannot expire; it is checked periodically.
        let left = if now.is_paused {
            Duration::from_millis(200)
        } else {
            (self.timeouts.idle - idle).min(self.timeouts.total - total)
        };
        // Adding an unbounded timeout to the time would overflow.
        DeadlineState::Until(now.at + left.min(MAX_WAIT))
    }
}

fn read_clock(clock: &Clock) -> ClockReading {
    let at = Instant::now();
    let (paused, is_paused) = clock.paused_time(at);
    ClockReading { at, paused, is_paused }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn expired(deadline: &CallDeadline<'_>) -> Option<TimeoutKind> {
        match deadline.check() {
            DeadlineState::Expired(kind, _) => Some(kind),
            DeadlineState::Until(_) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn activity_restarts_the_idle_timeout_and_not_the_total() {
        let clock = Clock::default();
        let mut deadline = CallDeadline::start(&clock, CallTimeouts { idle: 2 * SECOND, total: 5 * SECOND });
        for _ in 0..4 {
            tokio::time::advance(SECOND).await;
            deadline.record_activity();
            assert_eq!(expired(&deadline), None);
        }
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&deadline), Some(TimeoutKind::Total));
    }

    #[tokio::test(start_paused = true)]
    async fn both_timeouts_pause_while_the_user_is_asked() {
        let clock = Clock::default();
        let deadline = CallDeadline::start(&clock, CallTimeouts { idle: 2 * SECOND, total: 3 * SECOND });
        tokio::time::advance(SECOND).await;
        let pauses = clock.pause();
        tokio::time::advance(3600 * SECOND).await;
        assert_eq!(expired(&deadline), None);
        drop(pauses);
        assert_eq!(deadline.check(), DeadlineState::Until(Instant::now() + SECOND));
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&deadline), Some(TimeoutKind::Idle));
    }
}
