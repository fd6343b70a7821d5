//! Schedules refreshes of a list after change notifications, with coalescing and backoff, and when its lifetime is over.
//!
//! Invariants: at most one refresh runs and one is scheduled; at most one starts per second; a server that announces a
//! change after every refresh, without a change, is refreshed with exponential backoff.

use std::time::Duration;

use tokio::time::Instant;

use crate::registry::ListChange;

/// The least time between the starts of two refreshes.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The greatest interval for a server that announces changes without any.
const MAX_INTERVAL: Duration = Duration::from_secs(60);
/// The least time after which a list is fetched again because its lifetime is over, however short that is.
const MIN_LIFETIME: Duration = Duration::from_secs(10);

/// The refresh schedule of one list.
#[derive(Debug)]
pub(crate) struct Refresh {
    /// The start of the last refresh.
    started: Instant,
    /// The pending change notification.
    pending: PendingChange,
    interval: Duration,
    /// When the lifetime of the list is over, if the server said how long that is.
    expires: Option<Instant>,
}

/// A change notification since the start of the last refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingChange {
    None,
    /// During or right after a refresh, which may have caused it.
    AfterRefresh,
    Change,
}

impl Refresh {
    /// Creates the schedule of a list that is fetched now.
    pub(crate) fn new(now: Instant) -> Self {
        Self { started: now, pending: PendingChange::None, interval: MIN_INTERVAL, expires: None }
    }

    /// Records a change notification.
    pub(crate) fn note_change(&mut self, now: Instant) {
        if self.pending == PendingChange::None && now < self.started + MIN_INTERVAL {
            self.pending = PendingChange::AfterRefresh;
        } else if now >= self.started + MIN_INTERVAL {
            self.pending = PendingChange::Change;
        }
    }

    /// Returns when the next refresh is due, if one is scheduled.
    pub(crate) fn due(&self) -> Option<Instant> {
        let announced = match self.pending {
            PendingChange::None => None,
            PendingChange::Change => Some(self.started + MIN_INTERVAL),
            PendingChange::AfterRefresh => Some(self.started + self.interval),
        };
        announced.into_iter().chain(self.expires).min()
    }

    /// Records how long the list that was fetched last is fresh; zero if the server did not say.
    pub(crate) fn set_lifetime(&mut self, lifetime: Duration) {
        let lifetime = Some(lifetime).filter(|lifetime| !lifetime.is_zero());
        self.expires = lifetime.and_then(|lifetime| self.started.checked_add(lifetime.max(MIN_LIFETIME)));
    }

    /// Records the start of a refresh.
    pub(crate) fn begin(&mut self, now: Instant) -> RefreshCause {
        let cause = RefreshCause(self.pending);
        self.started = now;
        self.pending = PendingChange::None;
        self.expires = None;
        cause
    }

    /// Records the result of a refresh.
    pub(crate) fn done(&mut self, cause: RefreshCause, list_change: ListChange) {
        self.interval = match (cause.0, list_change) {
            (PendingChange::AfterRefresh, ListChange::Unchanged) => (self.interval * 2).min(MAX_INTERVAL),
            _ => MIN_INTERVAL,
        };
    }

    /// Records a failed refresh, which is retried with backoff.
    pub(crate) fn failed(&mut self) {
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        if self.pending == PendingChange::None {
            self.pending = PendingChange::AfterRefresh;
        }
    }
}

/// The cause of a refresh.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefreshCause(PendingChange);

impl RefreshCause {
    /// Returns whether the server announced a change; otherwise the lifetime was over.
    pub(crate) fn is_announced(self) -> bool {
        self.0 != PendingChange::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ten_thousand_changes_cause_few_refreshes() {
        let mut now = Instant::now();
        let mut refresh = Refresh::new(now - Duration::from_secs(10));
        let mut lists = 0;
        for _ in 0..10_000 {
            refresh.note_change(now);
            now += Duration::from_micros(100);
            if refresh.due().is_some_and(|due| due <= now) {
                let cause = refresh.begin(now);
                refresh.done(cause, ListChange::Changed);
                lists += 1;
            }
        }
        assert!(lists <= 2, "{lists} in one second");
        assert!(refresh.due().is_some(), "the last change is still scheduled");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_announces_a_change_after_every_refresh_is_backed_off() {
        let start = Instant::now();
        let mut now = start;
        let mut refresh = Refresh::new(now);
        let mut lists = 0;
        while now < start + Duration::from_secs(600) {
            // Every response is followed by a notification, although nothing has changed.
            refresh.note_change(now + Duration::from_millis(1));
            now = refresh.due().expect("a change was announced");
            let cause = refresh.begin(now);
            refresh.done(cause, ListChange::Unchanged);
            lists += 1;
        }
        assert!(lists <= 16, "{lists} in ten minutes");
        // An unprompted change is refreshed at once.
        now += Duration::from_secs(5);
        refresh.note_change(now);
        assert!(refresh.due().is_some_and(|due| due <= now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_is_refreshed_when_its_lifetime_is_over() {
        let start = Instant::now();
        let mut refresh = Refresh::new(start);
        refresh.set_lifetime(Duration::ZERO);
        assert_eq!(refresh.due(), None, "the server did not say");
        refresh.set_lifetime(Duration::from_secs(300));
        assert_eq!(refresh.due(), Some(start + Duration::from_secs(300)));
        assert!(!refresh.begin(start + Duration::from_secs(300)).is_announced());
        assert_eq!(refresh.due(), None, "until it is fetched");
        refresh.set_lifetime(Duration::from_millis(1));
        assert_eq!(refresh.due(), Some(refresh.started + MIN_LIFETIME));
        refresh.note_change(refresh.started + Duration::from_secs(2));
        assert_eq!(refresh.due(), Some(refresh.started + MIN_INTERVAL), "a change comes first");
        refresh.set_lifetime(Duration::MAX);
        assert!(refresh.begin(start + Duration::from_secs(302)).is_announced());
        refresh.set_lifetime(Duration::MAX);
        assert_eq!(refresh.due(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_refresh_is_retried_with_backoff() {
        let start = Instant::now();
        let mut refresh = Refresh::new(start);
        let mut asked = Vec::new();
        for _ in 0..8 {
            refresh.failed();
            let due = refresh.due().expect("a retry is scheduled");
            asked.push((due - start).as_secs());
            refresh.begin(due);
        }
        assert_eq!(asked, [2, 6, 14, 30, 62, 122, 182, 242]);
    }
}
