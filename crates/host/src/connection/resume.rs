//! Notices that the machine has slept. Connections may be dead then without having said so, and a call should not be
//! what finds out.

use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio::task::AbortHandle;

/// How often the clocks are compared.
const LOOK: Duration = Duration::from_secs(5);
/// How much more time must have gone by on the wall than here. Clocks that are set by the network move less.
const SLEPT: Duration = Duration::from_secs(5);

/// Two clocks at one moment: one goes on while the machine sleeps, the other does not.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    wall: SystemTime,
    here: Instant,
}

impl Clocks {
    fn now() -> Self {
        Self { wall: SystemTime::now(), here: Instant::now() }
    }

    /// Whether the machine slept between the two.
    fn slept_until(&self, later: &Self) -> bool {
        // A wall clock that was set back says nothing.
        let on_the_wall = later.wall.duration_since(self.wall).unwrap_or_default();
        on_the_wall.saturating_sub(later.here.duration_since(self.here)) > SLEPT
    }
}

/// Looks at the clocks now and then, until it is dropped.
#[derive(Debug)]
pub(crate) struct Sentinel {
    task: AbortHandle,
}

impl Sentinel {
    /// Counts in `woken` how often the machine has woken up.
    pub(crate) fn new(woken: watch::Sender<u64>) -> Self {
        let task = tokio::spawn(async move {
            let mut before = Clocks::now();
            loop {
                tokio::time::sleep(LOOK).await;
                let now = Clocks::now();
                if before.slept_until(&now) {
                    tracing::debug!("the machine has slept; every connection is looked at");
                    woken.send_modify(|times| *times += 1);
                }
                before = now;
            }
        });
        Self { task: task.abort_handle() }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_that_went_by_on_the_wall_alone_is_sleep() {
        let start = Clocks::now();
        let seconds = Duration::from_secs;
        let later = |wall: u64, here: u64| Clocks {
            wall: start.wall + seconds(wall),
            here: start.here + seconds(here),
        };
        assert!(start.slept_until(&later(8 * 3600, 5)));
        assert!(!start.slept_until(&later(5, 5)));
        assert!(!start.slept_until(&later(600, 600)), "a busy machine did not sleep");
        assert!(!start.slept_until(&later(9, 5)), "a clock that was corrected");
        let set_back = Clocks { wall: start.wall - seconds(3600), here: start.here + seconds(5) };
        assert!(!start.slept_until(&set_back));
    }
}
