//! The idle and the total timeout of a call. Both pause while the user is asked for input.
//!
//! A question that is known to belong to a call pauses the timeouts of that call only. A legacy server says which
//! call it asks for only by asking on the stream of that call: another question pauses all calls of the session, each of them for a bounded time in all.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::request::TimeoutKind;

/// The clock of one session. It is paused while a question is answered that may belong to any call.
#[derive(Debug, Default)]
pub(crate) struct SharedClock {
    // Held for a read or a change, never across an await.
    state: Mutex<SessionPauses>,
}

#[derive(Debug, Default)]
struct SessionPauses {
    count: usize,
    since: Option<Instant>,
    total: Duration,
}

impl SharedClock {
    /// Returns how long the clock has been paused in total, and whether it is paused now.
    fn paused_time(&self, now: Instant) -> (Duration, bool) {
        let state = self.state.lock();
        match state.since {
            Some(since) => (state.total + now.saturating_duration_since(since), true),
            None => (state.total, false),
        }
    }

    fn start_pause(&self) {
        let mut state = self.state.lock();
        state.count += 1;
        state.since.get_or_insert_with(Instant::now);
    }

    fn end_pause(&self) {
        let mut state = self.state.lock();
        state.count -= 1;
        if state.count == 0
            && let Some(since) = state.since.take()
        {
            state.total += since.elapsed();
        }
    }
}

/// The clock of one call. It is paused while a question of that call is answered.
#[derive(Debug, Default)]
pub(crate) struct CallClock {
    // Held for a read or a change, never across an await.
    state: Mutex<CallPauses>,
}

#[derive(Debug, Default)]
struct CallPauses {
    count: usize,
    /// When the pause began, and how long the clock of the session had been paused by then.
    since: Option<(Instant, Duration)>,
    total: Duration,
    /// The part of `total` during which the clock of the session was paused, too.
    overlap: Duration,
}

impl CallPauses {
    /// Returns the time paused until now, and the part of it during which the clock of the session was paused.
    fn until(&self, now: Instant, session: Duration) -> (Duration, Duration) {
        match self.since {
            Some((since, session_then)) => (
                self.total + now.saturating_duration_since(since),
                self.overlap + session.saturating_sub(session_then),
            ),
            None => (self.total, self.overlap),
        }
    }
}

impl CallClock {
    fn start_pause(&self, session: &SharedClock) {
        let now = Instant::now();
        let mut state = self.state.lock();
        state.count += 1;
        state.since.get_or_insert_with(|| (now, session.paused_time(now).0));
    }

    fn end_pause(&self, session: &SharedClock) {
        let now = Instant::now();
        let mut state = self.state.lock();
        state.count -= 1;
        if state.count == 0 {
            (state.total, state.overlap) = state.until(now, session.paused_time(now).0);
            state.since = None;
        }
    }
}

/// Keeps the timeouts of one call, or of all calls of a session, paused until it is dropped.
#[derive(Debug)]
pub(crate) struct PauseGuard<'a> {
    session: &'a SharedClock,
    call: Option<&'a CallClock>,
}

impl<'a> PauseGuard<'a> {
    /// Pauses the timeouts of the call that a question belongs to; those of all calls if it is not known.
    pub(crate) fn new(session: &'a SharedClock, call: Option<&'a CallClock>) -> Self {
        match call {
            Some(call) => call.start_pause(session),
            None => session.start_pause(),
        }
        Self { session, call }
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        match self.call {
            Some(call) => call.end_pause(self.session),
            None => self.session.end_pause(),
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
    /// The longest pause for questions that may belong to other calls.
    pub(crate) shared_pause: Duration,
}

/// The deadlines of one call in flight.
#[derive(Debug)]
pub(crate) struct CallDeadline<'a> {
    session: &'a SharedClock,
    /// Created for the first question of the call: most calls ask none.
    own: Option<Arc<CallClock>>,
    timeouts: CallTimeouts,
    started: ClockReading,
    last_activity: ClockReading,
}

/// A moment, and how long the clocks had been paused by then.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    at: Instant,
    /// For questions of the call.
    own: Duration,
    /// For questions that may belong to any call, while the call had none of its own.
    shared: Duration,
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
    pub(crate) fn start(session: &'a SharedClock, timeouts: CallTimeouts) -> Self {
        let now = read_clocks(session, None);
        Self { session, own: None, timeouts, started: now, last_activity: now }
    }

    /// Returns the clock that questions of this call pause.
    pub(crate) fn call_clock(&mut self) -> Arc<CallClock> {
        Arc::clone(self.own.get_or_insert_default())
    }

    /// Restarts the idle timeout.
    pub(crate) fn record_activity(&mut self) {
        self.last_activity = self.now();
    }

    /// Returns how much of the total timeout is left.
    pub(crate) fn remaining(&self) -> Duration {
        self.timeouts.total.saturating_sub(self.elapsed(self.started, self.now()))
    }

    pub(crate) fn check(&self) -> DeadlineState {
        self.check_at(self.now())
    }

    /// Checks the deadline as of the last activity, without reading the clock.
    pub(crate) fn at_last_activity(&self) -> DeadlineState {
        self.check_at(self.last_activity)
    }

    fn now(&self) -> ClockReading {
        read_clocks(self.session, self.own.as_deref())
    }

    /// Returns the time between two readings, without the pauses.
    fn elapsed(&self, since: ClockReading, now: ClockReading) -> Duration {
        let shared = now.shared.saturating_sub(since.shared).min(self.timeouts.shared_pause);
        let paused = now.own.saturating_sub(since.own) + shared;
        now.at.saturating_duration_since(since.at).saturating_sub(paused)
    }

    fn check_at(&self, now: ClockReading) -> DeadlineState {
        let idle = self.elapsed(self.last_activity, now);
        let total = self.elapsed(self.started, now);
        if total >= self.timeouts.total {
            return DeadlineState::Expired(TimeoutKind::Total, self.timeouts.total);
        }
        if idle >= self.timeouts.idle {
            return DeadlineState::Expired(TimeoutKind::Idle, self.timeouts.idle);
        }
        // The end of a pause wakes nobody, so the deadline is checked periodically meanwhile.
        let left = if now.is_paused {
            Duration::from_millis(200)
        } else {
            (self.timeouts.idle - idle).min(self.timeouts.total - total)
        };
        // Adding an unbounded timeout to the time would overflow.
        DeadlineState::Until(now.at + left.min(MAX_WAIT))
    }
}

fn read_clocks(session: &SharedClock, call: Option<&CallClock>) -> ClockReading {
    let at = Instant::now();
    let (paused, is_session_paused) = session.paused_time(at);
    let mut reading = ClockReading { at, own: Duration::ZERO, shared: paused, is_paused: is_session_paused };
    if let Some(call) = call {
        let state = call.state.lock();
        let (own, overlap) = state.until(at, paused);
        (reading.own, reading.shared) = (own, paused.saturating_sub(overlap));
        reading.is_paused |= state.since.is_some();
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn start(clock: &SharedClock, idle: u32, total: u32) -> CallDeadline<'_> {
        let timeouts = CallTimeouts { idle: idle * SECOND, total: total * SECOND, shared_pause: 10 * SECOND };
        CallDeadline::start(clock, timeouts)
    }

    fn expired(deadline: &CallDeadline<'_>) -> Option<TimeoutKind> {
        match deadline.check() {
            DeadlineState::Expired(kind, _) => Some(kind),
            DeadlineState::Until(_) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn activity_restarts_the_idle_timeout_and_not_the_total() {
        let clock = SharedClock::default();
        let mut deadline = start(&clock, 2, 5);
        for _ in 0..4 {
            tokio::time::advance(SECOND).await;
            deadline.record_activity();
            assert_eq!(expired(&deadline), None);
        }
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&deadline), Some(TimeoutKind::Total));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_of_a_call_pauses_its_timeouts_and_no_others() {
        let clock = SharedClock::default();
        let (mut asking, other) = (start(&clock, 2, 3), start(&clock, 2, 3));
        tokio::time::advance(SECOND).await;
        let call = asking.call_clock();
        let pause = PauseGuard::new(&clock, Some(&call));
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&other), Some(TimeoutKind::Idle));
        tokio::time::advance(3600 * SECOND).await;
        assert_eq!(expired(&asking), None);
        drop(pause);
        assert_eq!(asking.check(), DeadlineState::Until(Instant::now() + SECOND));
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&asking), Some(TimeoutKind::Idle));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_of_any_call_pauses_all_timeouts_for_a_bounded_time() {
        let clock = SharedClock::default();
        let deadlines = [start(&clock, 2, 30), start(&clock, 2, 30)];
        tokio::time::advance(SECOND).await;
        let pause = PauseGuard::new(&clock, None);
        tokio::time::advance(9 * SECOND).await;
        drop(pause);
        for deadline in &deadlines {
            assert_eq!(deadline.check(), DeadlineState::Until(Instant::now() + SECOND));
        }
        let _pause = PauseGuard::new(&clock, None);
        tokio::time::advance(SECOND).await;
        assert_eq!(deadlines.each_ref().map(expired), [None, None], "ten seconds in all");
        tokio::time::advance(SECOND).await;
        assert_eq!(deadlines.each_ref().map(expired), [Some(TimeoutKind::Idle); 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_total_pause_for_questions_of_any_call_is_bounded_also_with_activity() {
        let clock = SharedClock::default();
        let mut deadline = start(&clock, 2, 5);
        let _pause = PauseGuard::new(&clock, None);
        for _ in 0..14 {
            tokio::time::advance(SECOND).await;
            deadline.record_activity();
            assert_eq!(expired(&deadline), None);
        }
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&deadline), Some(TimeoutKind::Total));
    }

    #[tokio::test(start_paused = true)]
    async fn simultaneous_pauses_count_once_and_as_those_of_the_call() {
        let clock = SharedClock::default();
        let mut deadline = start(&clock, 30, 5);
        let call = deadline.call_clock();
        let shared = PauseGuard::new(&clock, None);
        tokio::time::advance(SECOND).await;
        let own = PauseGuard::new(&clock, Some(&call));
        tokio::time::advance(20 * SECOND).await;
        assert_eq!(deadline.remaining(), 5 * SECOND);
        drop(own);
        tokio::time::advance(9 * SECOND).await;
        assert_eq!(deadline.remaining(), 5 * SECOND, "one and nine of ten seconds");
        tokio::time::advance(SECOND).await;
        drop(shared);
        assert_eq!(deadline.remaining(), 4 * SECOND);
    }
}
