//! The pause between failed starts of a keyed session: its calls start it, so they must not do so in a tight loop.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The first pause; it doubles with every consecutive failure.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The consecutive failed starts of a session.
#[derive(Debug, Default)]
pub(crate) struct StartPause {
    state: Mutex<PauseState>,
}

#[derive(Debug, Default)]
struct PauseState {
    failures: u32,
    until: Option<Instant>,
}

impl StartPause {
    pub(crate) fn start_failed(&self, now: Instant) {
        let mut state = self.state.lock();
        let pause = FIRST_PAUSE.saturating_mul(1 << state.failures.min(16)).min(LONGEST_PAUSE);
        state.failures = state.failures.saturating_add(1);
        state.until = Some(now + pause);
    }

    pub(crate) fn started(&self) {
        *self.state.lock() = PauseState::default();
    }

    /// Returns whether another start may be tried.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.state.lock().until.is_none_or(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_pause_doubles_up_to_a_bound_and_a_start_ends_it() {
        let pause = StartPause::default();
        let mut now = Instant::now();
        assert!(pause.is_over(now));
        for millis in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            pause.start_failed(now);
            now += Duration::from_millis(millis - 1);
            assert!(!pause.is_over(now), "{millis}");
            now += Duration::from_millis(1);
            assert!(pause.is_over(now), "{millis}");
        }
        pause.start_failed(now);
        pause.started();
        assert!(pause.is_over(now));
    }
}
