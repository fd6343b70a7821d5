//! When a list is asked for again: soon after a change, not for every change, and ever more seldom when the changes
//! are our own doing.
//!
//! Invariants: at most one refresh runs and one waits; at most one begins each second; a server that announces a change
//! whenever it is asked, with nothing changed, is asked ever more seldom.

use std::time::Duration;

use tokio::time::Instant;

use crate::registry::Novelty;

/// The least time between the beginnings of two refreshes.
const APART: Duration = Duration::from_secs(1);
/// The most a server that cries wolf is made to wait.
const LONGEST: Duration = Duration::from_secs(60);

/// When one list is asked for again.
#[derive(Debug)]
pub(crate) struct Refresh {
    /// When the last one began.
    began: Instant,
    /// Whether a change was told since, and whether it came on the heels of our asking.
    told: Told,
    apart: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    /// While or right after we asked: our asking may be what caused it.
    OnOurHeels,
    Change,
}

impl Refresh {
    /// The list was asked for just now.
    pub(crate) fn new(now: Instant) -> Self {
        Self { began: now, told: Told::Nothing, apart: APART }
    }

    /// The server says the list has changed.
    pub(crate) fn change(&mut self, now: Instant) {
        if self.told == Told::Nothing && now < self.began + APART {
            self.told = Told::OnOurHeels;
        } else if now >= self.began + APART {
            self.told = Told::Change;
        }
    }

    /// When the next refresh begins, if one is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self.told {
            Told::Nothing => None,
            Told::Change => Some(self.began + APART),
            Told::OnOurHeels => Some(self.began + self.apart),
        }
    }

    /// A refresh begins.
    pub(crate) fn begin(&mut self, now: Instant) -> Cause {
        let cause = Cause(self.told);
        self.began = now;
        self.told = Told::Nothing;
        cause
    }

    /// A refresh is done, and brought this.
    pub(crate) fn done(&mut self, cause: Cause, novelty: Novelty) {
        self.apart = match (cause.0, novelty) {
            (Told::OnOurHeels, Novelty::Same) => (self.apart * 2).min(LONGEST),
            _ => APART,
        };
    }

    /// The list could not be had: it is asked for again, ever more seldom.
    pub(crate) fn failed(&mut self) {
        self.apart = (self.apart * 2).min(LONGEST);
        if self.told == Told::Nothing {
            self.told = Told::OnOurHeels;
        }
    }
}

/// Why a refresh was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause(Told);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ten_thousand_changes_cost_few_lists() {
        let mut now = Instant::now();
        let mut refresh = Refresh::new(now - Duration::from_secs(10));
        let mut lists = 0;
        for _ in 0..10_000 {
            refresh.change(now);
            now += Duration::from_micros(100);
            if refresh.due().is_some_and(|due| due <= now) {
                let cause = refresh.begin(now);
                refresh.done(cause, Novelty::Changed);
                lists += 1;
            }
        }
        assert!(lists <= 2, "{lists} in one second");
        assert!(refresh.due().is_some(), "and the last change is not forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_announces_changes_when_it_is_asked_is_asked_ever_more_seldom() {
        let start = Instant::now();
        let mut now = start;
        let mut refresh = Refresh::new(now);
        let mut lists = 0;
        while now < start + Duration::from_secs(600) {
            // Its answer is followed by an announcement, and nothing has changed.
            refresh.change(now + Duration::from_millis(1));
            now = refresh.due().expect("a change was told");
            let cause = refresh.begin(now);
            refresh.done(cause, Novelty::Same);
            lists += 1;
        }
        assert!(lists <= 16, "{lists} in ten minutes");
        // A change that comes by itself is heeded at once.
        now += Duration::from_secs(5);
        refresh.change(now);
        assert!(refresh.due().is_some_and(|due| due <= now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_cannot_be_had_is_asked_for_ever_more_seldom() {
        let start = Instant::now();
        let mut refresh = Refresh::new(start);
        let mut asked = Vec::new();
        for _ in 0..8 {
            refresh.failed();
            let due = refresh.due().expect("it is asked for again");
            asked.push((due - start).as_secs());
            refresh.begin(due);
        }
        assert_eq!(asked, [2, 6, 14, 30, 62, 122, 182, 242]);
    }
}
