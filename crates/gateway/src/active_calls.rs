//! The calls in progress in each session with a server, with their owners: a log message or a question that may belong to any
//! of them is passed on only if they are all of one owner.
//!
//! Over a pipe a legacy server does not say which call a log message or a question belongs to. It may hold data of its call, so
//! it must not reach another principal. Work may go on after its call: that of a task, and for a while that of a call without
//! an answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_host::SessionKey;
use switchboard_session::server::{Caller, RequestContext};
use tokio::time::Instant;

/// How long a server may go on with a call that was cancelled or timed out.
const AFTERMATH: Duration = Duration::from_secs(60);
/// Owners of such calls that are remembered for one session. When there are more, nobody gets its shared messages.
const MAX_LINGERING: usize = 256;

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
    calls: HashMap<CallSession, BTreeMap<u64, Arc<CallOwner>>>,
    /// The owners of tasks.
    tasks: HashMap<CallSession, BTreeMap<u64, Arc<CallOwner>>>,
    /// The owners of calls that ended without an answer, and how long they count.
    lingering: HashMap<CallSession, Vec<LingeringOwner>>,
}

/// The owner of a call that ended without an answer, and how long it counts; `None` stands for those beyond the limit.
type LingeringOwner = (Option<Arc<CallOwner>>, Instant);

impl ActiveState {
    fn linger(&mut self, session: &CallSession, owner: Arc<CallOwner>) {
        let now = Instant::now();
        self.lingering.retain(|_, owners| {
            owners.retain(|(_, until)| *until > now);
            !owners.is_empty()
        });
        let owners = self.lingering.entry(session.clone()).or_default();
        let owner = (owners.len() < MAX_LINGERING).then_some(owner);
        owners.retain(|(known, _)| *known != owner);
        owners.push((owner, now + AFTERMATH));
    }

    /// Returns whether all work that goes on in a session outside of calls is of an owner that matches.
    fn is_background_of(&self, session: &CallSession, matches: impl Fn(&CallOwner) -> bool) -> bool {
        let now = Instant::now();
        let tasks = self.tasks.get(session).into_iter().flat_map(BTreeMap::values);
        let lingering = self.lingering.get(session).into_iter().flatten();
        let mut lingering = lingering.filter(|(_, until)| *until > now).map(|(owner, _)| owner.as_deref());
        tasks.map(Arc::as_ref).all(&matches) && lingering.all(|owner| owner.is_some_and(&matches))
    }
}

fn remove(table: &mut HashMap<CallSession, BTreeMap<u64, Arc<CallOwner>>>, session: &CallSession, id: u64) {
    if let Some(owners) = table.get_mut(session) {
        owners.remove(&id);
        if owners.is_empty() {
            table.remove(session);
        }
    }
}

/// The session of a call: its server, and the key unless it is the main one.
pub(crate) type CallSession = (Arc<str>, Option<SessionKey>);

/// Whose a call is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallOwner {
    /// `None` for all anonymous callers.
    pub(crate) principal: Option<String>,
    /// The principal, or else the session. `None` for anonymous callers without a session.
    pub(crate) caller: Option<String>,
    /// The session of the client, which gets log messages once; without one they belong to requests.
    pub(crate) session: Option<String>,
}

impl CallOwner {
    pub(crate) fn of(cx: &RequestContext) -> Arc<Self> {
        let principal = cx.caller().map(Caller::principal);
        Arc::new(Self { principal, caller: cx.owner(), session: cx.session_key() })
    }

    /// Returns the owner of a task, as its id names it: see [`RequestContext::owner`].
    pub(crate) fn of_task(owner: Option<String>) -> Arc<Self> {
        let session = owner.as_ref().and_then(|owner| owner.strip_prefix("session ")).map(str::to_owned);
        let principal = owner.clone().filter(|_| session.is_none());
        Arc::new(Self { principal, caller: owner, session })
    }

    /// Returns whether both may be one caller: of one principal, or anonymous and not of two sessions.
    fn may_be(&self, other: &Self) -> bool {
        let sessions = (&self.session, &other.session);
        let is_of_two_sessions = matches!(sessions, (Some(one), Some(two)) if one != two);
        self.principal == other.principal && (self.principal.is_some() || !is_of_two_sessions)
    }
}

impl ActiveCalls {
    /// Registers a call until the guard is dropped.
    pub(crate) fn register(self: &Arc<Self>, session: CallSession, owner: Arc<CallOwner>) -> ActiveCall {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.calls.entry(session.clone()).or_default().insert(id, owner);
        drop(state);
        ActiveCall { calls: Arc::clone(self), session, id, is_answered: AtomicBool::new(false) }
    }

    /// Registers the work of a task until the guard is dropped.
    pub(crate) fn register_task(self: &Arc<Self>, session: CallSession, owner: Arc<CallOwner>) -> ActiveTask {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.tasks.entry(session.clone()).or_default().insert(id, owner);
        drop(state);
        ActiveTask { calls: Arc::clone(self), session, id }
    }

    /// Returns whether a question that names no call cannot be of another principal's work that goes on outside of calls.
    pub(crate) fn may_ask(&self, session: &CallSession, own: &CallOwner) -> bool {
        self.state.lock().is_background_of(session, |owner| owner.may_be(own))
    }
}

/// A task in progress.
pub(crate) struct ActiveTask {
    calls: Arc<ActiveCalls>,
    session: CallSession,
    id: u64,
}

impl Drop for ActiveTask {
    fn drop(&mut self) {
        remove(&mut self.calls.state.lock().tasks, &self.session, self.id);
    }
}

impl std::fmt::Debug for ActiveTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActiveTask").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A call in progress.
pub(crate) struct ActiveCall {
    calls: Arc<ActiveCalls>,
    session: CallSession,
    id: u64,
    is_answered: AtomicBool,
}

impl ActiveCall {
    /// Notes that the server has answered, or was never asked: it does not go on with the call.
    pub(crate) fn set_answered(&self) {
        self.is_answered.store(true, Ordering::Relaxed);
    }

    /// Returns whether this call passes on a log message that may belong to any call in its session.
    pub(crate) fn takes_shared_log(&self) -> bool {
        let state = self.calls.state.lock();
        let Some(calls) = state.calls.get(&self.session) else { return false };
        let Some(own) = calls.get(&self.id) else { return false };
        let is_own = |owner: &CallOwner| owner == &**own;
        let is_first = || calls.first_key_value().is_some_and(|(first, _)| *first == self.id);
        calls.values().all(|owner| is_own(owner))
            && state.is_background_of(&self.session, is_own)
            && (own.caller.is_some() || own.session.is_some())
            && (own.session.is_none() || is_first())
    }
}

impl Drop for ActiveCall {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock();
        let owner = state.calls.get(&self.session).and_then(|calls| calls.get(&self.id)).cloned();
        remove(&mut state.calls, &self.session, self.id);
        if let Some(owner) = owner.filter(|_| !self.is_answered.load(Ordering::Relaxed)) {
            state.linger(&self.session, owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(name: &str) -> Arc<CallOwner> {
        Arc::new(CallOwner { principal: Some(name.to_owned()), caller: Some(name.to_owned()), session: None })
    }

    fn session(name: &str) -> Arc<CallOwner> {
        let ada = || Some("ada".to_owned());
        Arc::new(CallOwner { principal: ada(), caller: ada(), session: Some(name.to_owned()) })
    }

    #[test]
    fn anonymous_callers_are_told_apart_by_their_sessions() {
        let of_session = |key: &str| CallOwner::of_task(Some(format!("session {key}")));
        assert!(of_session("a").may_be(&of_session("a")));
        assert!(!of_session("a").may_be(&of_session("b")));
        assert!(of_session("a").may_be(&CallOwner::default()), "a modern client has no session");
        assert!(session("a").may_be(&session("b")), "one principal");
        assert!(!principal("ada").may_be(&CallOwner::default()));
    }

    #[test]
    fn a_shared_log_reaches_one_owner_and_a_session_once() {
        let calls: Arc<ActiveCalls> = Arc::default();
        let server: CallSession = ("server".into(), None);
        let register = |session: &CallSession, owner| {
            let call = calls.register(session.clone(), owner);
            call.set_answered();
            call
        };
        let (one, two) = (register(&server, session("a")), register(&server, session("a")));
        assert!(one.takes_shared_log() && !two.takes_shared_log());
        let other = register(&("server".into(), Some(SessionKey::new(["other"]))), session("b"));
        assert!(one.takes_shared_log() && other.takes_shared_log());
        let stranger = register(&server, session("b"));
        assert!(!one.takes_shared_log() && !stranger.takes_shared_log());
        drop((stranger, one));
        assert!(two.takes_shared_log());
        drop((two, other));
        let ada = || register(&server, principal("ada"));
        let (one, two) = (ada(), ada());
        assert!(one.takes_shared_log() && two.takes_shared_log(), "each request has its own messages");
        let unknown = register(&server, Arc::default());
        assert!(!one.takes_shared_log() && !unknown.takes_shared_log());
        drop((one, two, unknown));
        assert!(calls.state.lock().calls.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_goes_on_after_its_call_counts_for_its_owner() {
        let calls: Arc<ActiveCalls> = Arc::default();
        let server: CallSession = ("server".into(), None);
        let call = |name: &str| calls.register(server.clone(), principal(name));
        // Cancelled: the server may not know yet.
        drop(call("ada"));
        let (ada, bob) = (call("ada"), call("bob"));
        drop(ada);
        assert!(!bob.takes_shared_log(), "it may be of a call of ada");
        tokio::time::advance(AFTERMATH).await;
        assert!(bob.takes_shared_log());
        // A task goes on until it is over.
        let task = calls.register_task(server.clone(), principal("ada"));
        tokio::time::advance(AFTERMATH).await;
        assert!(!bob.takes_shared_log());
        let ada = call("ada");
        drop(task);
        ada.set_answered();
        drop(ada);
        assert!(bob.takes_shared_log());
        // Whoever cancels as many others remembers none of them alone.
        for number in 0..2 * MAX_LINGERING {
            drop(call(&number.to_string()));
        }
        assert_eq!(calls.state.lock().lingering[&server].len(), MAX_LINGERING + 1);
        assert!(!bob.takes_shared_log());
        tokio::time::advance(AFTERMATH).await;
        assert!(bob.takes_shared_log());
        drop(bob);
        let state = calls.state.lock();
        assert!(state.calls.is_empty() && state.tasks.is_empty() && state.lingering.len() == 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_not_asked_while_work_of_another_caller_may_go_on() {
        let calls: Arc<ActiveCalls> = Arc::default();
        let server: CallSession = ("server".into(), None);
        let (bob, anonymous) = (principal("bob"), CallOwner::default());
        assert!(calls.may_ask(&server, &bob) && calls.may_ask(&server, &anonymous));
        drop(calls.register(server.clone(), session("one")));
        assert!(!calls.may_ask(&server, &bob) && !calls.may_ask(&server, &anonymous));
        assert!(calls.may_ask(&server, &session("two")), "of the same principal");
        assert!(calls.may_ask(&("other".into(), None), &bob));
        tokio::time::advance(AFTERMATH).await;
        assert!(calls.may_ask(&server, &bob));
        let task = calls.register_task(server.clone(), principal("ada"));
        tokio::time::advance(AFTERMATH).await;
        assert!(!calls.may_ask(&server, &bob) && calls.may_ask(&server, &principal("ada")));
        drop(task);
        assert!(calls.may_ask(&server, &bob));
    }
}
