//! The state of a session, and its watchers.

use std::sync::OnceLock;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::request::CallError;

/// The state of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SessionState {
    /// Created, and not opened yet.
    Created,
    /// Open.
    Ready,
    /// Opening failed or the connection was lost, for this reason.
    Failed(CallError),
    /// Closed by this side.
    Closed,
}

/// Holds the state of one session and notifies its watchers.
#[derive(Debug)]
pub(crate) struct StateCell {
    // Held for a read or a change, never across an await nor while the watchers are notified.
    state: Mutex<SessionState>,
    /// Created for the first watcher: most sessions have none, and it is large.
    sender: OnceLock<watch::Sender<SessionState>>,
}

impl StateCell {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(SessionState::Created), sender: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> SessionState {
        self.state.lock().clone()
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(*self.state.lock(), SessionState::Ready)
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.state.lock(), SessionState::Closed)
    }

    /// Changes the state to `to` if `from` accepts the current one; returns whether it did.
    pub(crate) fn change(&self, from: impl FnOnce(&SessionState) -> bool, to: SessionState) -> bool {
        let mut state = self.state.lock();
        if !from(&state) {
            return false;
        }
        *state = to;
        let sender = self.sender.get();
        drop(state);
        if let Some(sender) = sender {
            // Read again: of two concurrent changes the last counts, whichever is sent first.
            sender.send_modify(|seen| *seen = self.get());
        }
        true
    }

    pub(crate) fn watch(&self) -> watch::Receiver<SessionState> {
        // Under the lock, so that no change is missed between the read and the creation.
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
        assert!(cell.change(|state| matches!(state, SessionState::Created), SessionState::Ready));
        let mut seen = cell.watch();
        assert!(matches!(*seen.borrow_and_update(), SessionState::Ready));
        assert!(!cell.change(|state| matches!(state, SessionState::Created), SessionState::Closed));
        assert!(!seen.has_changed().unwrap());
        assert!(cell.change(|_| true, SessionState::Closed));
        assert!(matches!(*seen.borrow_and_update(), SessionState::Closed) && cell.is_closed());
        drop(cell);
        assert!(seen.has_changed().is_err());
    }
}
