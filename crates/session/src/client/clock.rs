//! How long a call may take: without a word, and in all. Both clocks stop while the user is being asked.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::request::TimeoutKind;

/// The clock of one session. It stops while anybody is being asked anything for this session.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asking: usize,
    stopped_at: Option<Instant>,
    stopped_for: Duration,
}

impl Clock {
    /// Stops the clock until the guard is dropped.
    pub(crate) fn stop(&self) -> Stopped<'_> {
        let mut state = self.state.lock();
        state.asking += 1;
        state.stopped_at.get_or_insert_with(Instant::now);
        Stopped(self)
    }

    /// How long the clock has stood still so far, and whether it does now.
    fn stood_still(&self, now: Instant) -> (Duration, bool) {
        let state = self.state.lock();
        match state.stopped_at {
            Some(at) => (state.stopped_for + now.saturating_duration_since(at), true),
            None => (state.stopped_for, false),
        }
    }
}

/// Keeps a clock stopped.
#[derive(Debug)]
pub(crate) struct Stopped<'a>(&'a Clock);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.asking -= 1;
        if state.asking == 0
            && let Some(at) = state.stopped_at.take()
        {
            state.stopped_for += at.elapsed();
        }
    }
}

/// How far ahead a look at the watch is ever planned.
const NO_BOUND: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The bounds of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
}

/// One call being timed.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    clock: &'a Clock,
    bounds: Bounds,
    started: Mark,
    last_word: Mark,
}

/// A moment, and how long the clock had stood still by then.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Instant,
    stood_still: Duration,
    is_stopped: bool,
}

/// What a look at the watch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Look again then.
    Until(Instant),
    /// The time is up.
    Expired(TimeoutKind, Duration),
}

impl<'a> Watch<'a> {
    pub(crate) fn start(clock: &'a Clock, bounds: Bounds) -> Self {
        let now = mark(clock);
        Self { clock, bounds, started: now, last_word: now }
    }

    /// There was a word on the call: the idle time begins anew.
    pub(crate) fn word(&mut self) {
        self.last_word = mark(self.clock);
    }

    /// How long the call may still take in all.
    pub(crate) fn left(&self) -> Duration {
        let now = mark(self.clock);
        let ran = now.at.saturating_duration_since(self.started.at);
        self.bounds.total.saturating_sub(ran.saturating_sub(now.stood_still - self.started.stood_still))
    }

    pub(crate) fn read(&self) -> Reading {
        self.read_at(mark(self.clock))
    }

    /// What the watch said at the last word, without looking at the time again.
    pub(crate) fn at_last_word(&self) -> Reading {
        self.read_at(self.last_word)
    }

    fn read_at(&self, now: Mark) -> Reading {
        let ran = |since: Mark| {
            now.at.saturating_duration_since(since.at).saturating_sub(now.stood_still - since.stood_still)
        };
        let (idle, total) = (ran(self.last_word), ran(self.started));
        if total >= self.bounds.total {
            return Reading::Expired(TimeoutKind::Total, self.bounds.total);
        }
        if idle >= self.bounds.idle {
            return Reading::Expired(TimeoutKind::Idle, self.bounds.idle);
        }
        // While the clock stands still it is looked at now and then; it cannot run out.
        let left = if now.is_stopped {
            Duration::from_millis(200)
        } else {
            (self.bounds.idle - idle).min(self.bounds.total - total)
        };
        // No bound is a time nobody lives to see; adding it would overflow.
        Reading::Until(now.at + left.min(NO_BOUND))
    }
}

fn mark(clock: &Clock) -> Mark {
    let at = Instant::now();
    let (stood_still, is_stopped) = clock.stood_still(at);
    Mark { at, stood_still, is_stopped }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn expired(watch: &Watch<'_>) -> Option<TimeoutKind> {
        match watch.read() {
            Reading::Expired(phase, _) => Some(phase),
            Reading::Until(_) => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_begins_anew_with_every_word_and_total_does_not() {
        let clock = Clock::default();
        let mut watch = Watch::start(&clock, Bounds { idle: 2 * SECOND, total: 5 * SECOND });
        for _ in 0..4 {
            tokio::time::advance(SECOND).await;
            watch.word();
            assert_eq!(expired(&watch), None);
        }
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&watch), Some(TimeoutKind::Total));
    }

    #[tokio::test(start_paused = true)]
    async fn both_stand_still_while_the_user_is_asked() {
        let clock = Clock::default();
        let watch = Watch::start(&clock, Bounds { idle: 2 * SECOND, total: 3 * SECOND });
        tokio::time::advance(SECOND).await;
        let asking = clock.stop();
        tokio::time::advance(3600 * SECOND).await;
        assert_eq!(expired(&watch), None);
        drop(asking);
        assert_eq!(watch.read(), Reading::Until(Instant::now() + SECOND));
        tokio::time::advance(SECOND).await;
        assert_eq!(expired(&watch), Some(TimeoutKind::Idle));
    }
}
