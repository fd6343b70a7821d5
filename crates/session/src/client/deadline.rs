//! How long a call may take: without a word, and in all. Both clocks stop while the user is being asked.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::request::TimeoutKind;

/// The clock of one session. It stops while anybody is being asked anything for this session.
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
    /// Stops the clock until the guard is dropped.
    pub(crate) fn pause(&self) -> PauseGuard<'_> {
        let mut state = self.state.lock();
        state.pauses += 1;
        state.paused_at.get_or_insert_with(Instant::now);
        PauseGuard(self)
    }

    /// How long the clock has stood still so far, and whether it does now.
    fn paused_time(&self, now: Instant) -> (Duration, bool) {
        let state = self.state.lock();
        match state.paused_at {
            Some(at) => (state.paused_total + now.saturating_duration_since(at), true),
            None => (state.paused_total, false),
        }
    }
}

/// Keeps a clock stopped.
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

/// How far ahead a look at the watch is ever planned.
const MAX_WAIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The bounds of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTimeouts {
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
}

/// One call being timed.
#[derive(Debug)]
pub(crate) struct CallDeadline<'a> {
    clock: &'a Clock,
    timeouts: CallTimeouts,
    started: ClockReading,
    last_activity: ClockReading,
}

/// A moment, and how long the clock had stood still by then.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    at: Instant,
    paused: Duration,
    is_paused: bool,
}

/// What a look at the watch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeadlineState {
    /// Look again then.
    Until(Instant),
    /// The time is up.
    Expired(TimeoutKind, Duration),
}

impl<'a> CallDeadline<'a> {
    pub(crate) fn start(clock: &'a Clock, timeouts: CallTimeouts) -> Self {
        let now = read_clock(clock);
        Self { clock, timeouts, started: now, last_activity: now }
    }

    /// There was a word on the call: the idle time begins anew.
    pub(crate) fn record_activity(&mut self) {
        self.last_activity = read_clock(self.clock);
    }

    /// How long the call may still take in all.
    pub(crate) fn remaining(&self) -> Duration {
        let now = read_clock(self.clock);
        let elapsed = now.at.saturating_duration_since(self.started.at);
        self.timeouts.total.saturating_sub(elapsed.saturating_sub(now.paused - self.started.paused))
    }

    pub(crate) fn check(&self) -> DeadlineState {
        self.check_at(read_clock(self.clock))
    }

    /// What the watch said at the last word, without looking at the time again.
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
        // While the clock stands still it is looked at now and then; it cannot run out.
        let left = if now.is_paused {
            Duration::from_millis(200)
        } else {
            (self.timeouts.idle - idle).min(self.timeouts.total - total)
        };
        // No bound is a time nobody lives to see; adding it would overflow.
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
