//! The step-ups of the last minutes: a server that refuses again and again must not send the user to the login page again
//! and again.
//!
//! Invariant: an accepted request resets nothing, because another request may have been accepted than the one that was refused.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::scope::Scopes;

/// The most step-ups for the same scopes.
const MAX_FOR_SCOPES: usize = 2;
/// The most step-ups in all, whatever the scopes.
const MAX_IN_ALL: usize = 6;
/// The time in which they are counted.
const WINDOW: Duration = Duration::from_secs(600);

/// The step-ups of the last minutes, by the scopes of their challenges.
#[derive(Default)]
pub(super) struct StepUpLog {
    /// The oldest first.
    recent: VecDeque<(Instant, Scopes)>,
}

impl StepUpLog {
    /// Records a step-up, and returns whether it may be made.
    pub(super) fn admit(&mut self, scopes: &Scopes) -> bool {
        while self.recent.front().is_some_and(|(at, _)| at.elapsed() >= WINDOW) {
            self.recent.pop_front();
        }
        let same = self.recent.iter().filter(|(_, other)| other.is_same_set(scopes)).count();
        let is_admitted = same < MAX_FOR_SCOPES && self.recent.len() < MAX_IN_ALL;
        if is_admitted {
            self.recent.push_back((Instant::now(), scopes.clone()));
        }
        is_admitted
    }

    /// Forgets the step-ups: the user has logged in of their own accord.
    pub(super) fn clear(&mut self) {
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_challenge_has_two_step_ups_in_ten_minutes() {
        let mut log = StepUpLog::default();
        let mut admit = |scopes: &str| log.admit(&Scopes::parse(scopes));
        assert!(admit("a b") && admit("b a"));
        assert!(!admit("a b"), "the order of scopes does not count");
        assert!(admit("c"));
        tokio::time::advance(WINDOW).await;
        assert!(admit("a b"));
    }

    #[tokio::test(start_paused = true)]
    async fn ever_new_scopes_come_to_an_end() {
        let mut log = StepUpLog::default();
        let admitted = (0..100).filter(|number| log.admit(&Scopes::parse(&format!("s{number}")))).count();
        assert_eq!(admitted, MAX_IN_ALL);
        log.clear();
        assert!(log.admit(&Scopes::parse("s0")));
    }
}
