//! The calls in progress in each session with a server, with their owners: a log message that may belong to any of them is passed on only if
//! they are all of one owner.
//!
//! Over a pipe a legacy server does not say which call a log message belongs to. It may hold data of its call, so it must not
//! reach another principal.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_host::SessionKey;
use switchboard_session::server::{Caller, RequestContext};

/// The calls in progress.
#[derive(Default)]
pub(crate) struct ActiveCalls {
    // Held for a lookup or a change, never across an await.
    state: Mutex<ActiveState>,
}

#[derive(Default)]
struct ActiveState {
    next: u64,
    /// By session, in the order of their start.
    calls: HashMap<CallSession, BTreeMap<u64, CallOwner>>,
}

/// The session of a call: its server, and the key unless it is the main one.
pub(crate) type CallSession = (Arc<str>, Option<SessionKey>);

/// Whose a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallOwner {
    /// Of a session, which gets log messages once.
    Session(String),
    /// Of a principal without a session: log messages belong to requests.
    Principal(String),
    /// Not known: it might be anyone's.
    Unknown,
}

impl CallOwner {
    pub(crate) fn of(cx: &RequestContext) -> Self {
        match (cx.session_key(), cx.caller()) {
            (Some(session), _) => Self::Session(session),
            (None, Some(caller)) => Self::Principal(Caller::principal(caller)),
            (None, None) => Self::Unknown,
        }
    }
}

impl ActiveCalls {
    /// Registers a call until the guard is dropped.
    pub(crate) fn register(self: &Arc<Self>, session: CallSession, owner: CallOwner) -> ActiveCall {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.calls.entry(session.clone()).or_default().insert(id, owner);
        drop(state);
        ActiveCall { calls: Arc::clone(self), session, id }
    }
}

/// A call in progress.
pub(crate) struct ActiveCall {
    calls: Arc<ActiveCalls>,
    session: CallSession,
    id: u64,
}

impl ActiveCall {
    /// Returns whether this call passes on a log message that may belong to any call in its session.
    pub(crate) fn takes_shared_log(&self) -> bool {
        let state = self.calls.state.lock();
        let Some(calls) = state.calls.get(&self.session) else { return false };
        let Some(own) = calls.get(&self.id) else { return false };
        let is_of_one_owner = calls.values().all(|owner| owner == own);
        is_of_one_owner
            && match own {
                CallOwner::Session(_) => calls.first_key_value().is_some_and(|(first, _)| *first == self.id),
                CallOwner::Principal(_) => true,
                CallOwner::Unknown => false,
            }
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock();
        if let Some(calls) = state.calls.get_mut(&self.session) {
            calls.remove(&self.id);
            if calls.is_empty() {
                state.calls.remove(&self.session);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_log_reaches_one_owner_and_a_session_once() {
        let calls: Arc<ActiveCalls> = Arc::default();
        let server: CallSession = ("server".into(), None);
        let session = |name: &str| CallOwner::Session(name.to_owned());
        let (one, two) =
            (calls.register(server.clone(), session("a")), calls.register(server.clone(), session("a")));
        assert!(one.takes_shared_log() && !two.takes_shared_log());
        let other = calls.register(("server".into(), Some(SessionKey::new(["other"]))), session("b"));
        assert!(one.takes_shared_log() && other.takes_shared_log());
        let stranger = calls.register(server.clone(), session("b"));
        assert!(!one.takes_shared_log() && !stranger.takes_shared_log());
        drop((stranger, one));
        assert!(two.takes_shared_log());
        drop((two, other));
        let ada = || calls.register(server.clone(), CallOwner::Principal("ada".to_owned()));
        let (one, two) = (ada(), ada());
        assert!(one.takes_shared_log() && two.takes_shared_log(), "each request has its own messages");
        let unknown = calls.register(server.clone(), CallOwner::Unknown);
        assert!(!one.takes_shared_log() && !unknown.takes_shared_log());
        drop((one, two, unknown));
        assert!(calls.state.lock().calls.is_empty());
    }
}
