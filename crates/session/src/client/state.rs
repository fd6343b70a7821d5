//! How a session is, for whoever watches.

use std::sync::OnceLock;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::request::CallError;

/// How a session is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum State {
    /// Made, and not opened yet.
    Created,
    /// Open.
    Ready,
    /// It did not open, or its connection was lost; this is why.
    Failed(CallError),
    /// Closed from this side.
    Closed,
}

/// The state of one session, and whoever watches it.
#[derive(Debug)]
pub(crate) struct StateCell {
    // Held for a look or a change, never across an await nor while those who watch are told.
    state: Mutex<State>,
    /// Made for the first who watches: few do, and it is larger than most of what a session holds.
    sender: OnceLock<watch::Sender<State>>,
}

impl StateCell {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::Created), sender: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> State {
        self.state.lock().clone()
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(*self.state.lock(), State::Ready)
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.state.lock(), State::Closed)
    }

    /// Changes it, where `from` says so of what it is.
    pub(crate) fn change(&self, from: impl FnOnce(&State) -> bool, to: State) -> bool {
        let mut state = self.state.lock();
        if !from(&state) {
            return false;
        }
        *state = to;
        let sender = self.sender.get();
        drop(state);
        if let Some(sender) = sender {
            // Looked at anew: of two changes at once the last counts, whichever is told first.
            sender.send_modify(|seen| *seen = self.get());
        }
        true
    }

    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        // Under the lock, so that no change goes by between the look and the making.
        let state = self.state.lock();
        self.sender.get_or_init(|| watch::Sender::new(state.clone())).subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_watcher_sees_the_current_state_and_later_changes() {
        let cell = StateCell::new();
        assert!(cell.change(|state| matches!(state, State::Created), State::Ready));
        let mut seen = cell.watch();
        assert!(matches!(*seen.borrow_and_update(), State::Ready));
        assert!(!cell.change(|state| matches!(state, State::Created), State::Closed));
        assert!(!seen.has_changed().unwrap());
        assert!(cell.change(|_| true, State::Closed));
        assert!(matches!(*seen.borrow_and_update(), State::Closed) && cell.is_closed());
        drop(cell);
        assert!(seen.has_changed().is_err());
    }
}
