//! The shared state of one server: status, session and desired state.
//!
//! Invariant: reading a slot never waits for the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use switchboard_design::schema::PatternBudget;
use switchboard_protocol::Level;
use switchboard_session::link::LinkError;
use switchboard_session::{CallError, ClientSession, SessionInfo};
use switchboard_transport::stdio::ChildSlot;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::config::{OffReason, RestartPolicy, StartPolicy};
use crate::question_router::QuestionRouter;
use crate::server_spec::ServerSpec;
use crate::session_scope::SessionScope;
use crate::slot::KeyedSessions;
use crate::slot::call_limiter::CallLimiter;
use crate::slot::start_pause::StartPause;
use crate::slot::usage::Usage;
use crate::status::{Status, StatusKind};
use crate::telemetry::{CallMeter, CallMetrics};
use crate::transport::Transport;

/// Concurrent calls of a server: local and over the network.
const MAX_LOCAL_CALLS: usize = 256;
const MAX_REMOTE_CALLS: usize = 128;

/// How long a keyed session may be unused, unless its server has an idle timeout.
pub(crate) const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long the connection task may take to notice that a session has ended.
const SESSION_END_LATENCY: Duration = Duration::from_secs(1);

/// The shared state of one server.
pub(crate) struct Slot {
    /// Unique: a later server of the same name has another id.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) spec: ServerSpec,
    pub(crate) questions: Arc<QuestionRouter>,
    pub(crate) meter: CallMeter,
    pub(crate) limiter: CallLimiter,
    /// Memory budget for the compiled patterns of all its schemas.
    pub(crate) patterns: PatternBudget,
    pub(crate) child: ChildSlot,
    /// How the session of a keyed slot is opened; `None` for the main session of a server.
    pub(crate) scope: Option<SessionScope>,
    /// The keyed sessions of the server; empty in a keyed slot.
    pub(crate) keyed: KeyedSessions,
    pub(crate) usage: Usage,
    pub(crate) start_pause: StartPause,
    /// Whether it has to list its tools anew, because a keyed session was started while it was asleep.
    is_listing_due: AtomicBool,
    /// The most detailed log level that was requested in the current session.
    log_level: Mutex<Option<Level>>,
    /// The info of the last session, also after it has ended.
    last_info: Mutex<Option<Arc<SessionInfo>>>,
    is_off: AtomicBool,
    desired: watch::Sender<DesiredState>,
    status: watch::Sender<ObservedStatus>,
    // Held for a clone or a swap, never across an await.
    session: RwLock<Option<ClientSession>>,
    /// The number of sessions opened so far.
    session_count: AtomicU64,
    health_signal: HealthSignal,
}

/// The state that the connection task brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DesiredState {
    /// Incremented by every change, so the same state can be requested again.
    pub(crate) round: u64,
    pub(crate) run: RunState,
}

/// Whether a server should run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunState {
    /// Not decided yet.
    Undecided,
    /// It should not, for this reason.
    Off(OffReason),
    /// It should start when it is used.
    Asleep,
    /// It should run.
    Running,
    /// It was stopped; it should not run until it is started again.
    Stopped,
    /// It was removed; final.
    Removed,
}

/// The status of a server, and the round of the desired state it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct ObservedStatus {
    pub(crate) round: u64,
    pub(crate) status: Status,
}

/// Errors of calls that concern the connection, for the connection task.
#[derive(Debug, Default)]
pub(crate) struct HealthSignal {
    changed: Notify,
    last: Mutex<Option<CallError>>,
}

impl HealthSignal {
    /// Drops an error of an earlier connection.
    pub(crate) fn clear(&self) {
        *self.last.lock() = None;
    }

    /// Waits for the next error.
    pub(crate) async fn next(&self) -> CallError {
        loop {
            let changed = self.changed.notified();
            if let Some(error) = self.last.lock().take() {
                return error;
            }
            changed.await;
        }
    }
}

/// Whether a server is enabled: its tools are listed and callable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Whether the tools of a server are known before it connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InitialTools {
    /// They are not.
    Unknown,
    /// A manifest has them, so the server need not be started.
    FromManifest,
}

impl Slot {
    /// Returns the metrics of the calls of the server, over all its sessions.
    pub(crate) fn metrics(&self) -> CallMetrics {
        let (mut running, mut queued) = self.limiter.load();
        for keyed in self.keyed.slots() {
            let load = keyed.limiter.load();
            (running, queued) = (running + load.0, queued + load.1);
        }
        self.meter.snapshot((running, queued))
    }

    /// Returns the number of processes of the server, over all its sessions.
    pub(crate) fn process_count(&self) -> usize {
        let keyed = self.keyed.slots();
        let of_keyed = keyed.iter().filter(|slot| slot.child.get().is_some()).count();
        of_keyed + usize::from(self.child.get().is_some())
    }

    pub(crate) fn new(name: Arc<str>, spec: ServerSpec, questions: QuestionRouter) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let is_off = spec.start == StartPolicy::Off(OffReason::Disabled);
        let status = match spec.start {
            StartPolicy::Off(OffReason::Disabled) => Status::Disabled,
            StartPolicy::Off(OffReason::Unapproved) => Status::AwaitingApproval,
            // About to be started: calls wait for it.
            StartPolicy::AtOnce | StartPolicy::WhenUsed => {
                Status::Starting { since: Instant::now(), attempt: 1 }
            }
        };
        let max_calls = match spec.transport {
            Transport::Http(_) | Transport::Proxy { .. } => MAX_REMOTE_CALLS,
            _ => MAX_LOCAL_CALLS,
        };
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name,
            spec,
            questions: Arc::new(questions),
            meter: CallMeter::default(),
            limiter: CallLimiter::new(max_calls),
            patterns: PatternBudget::default(),
            child: ChildSlot::default(),
            scope: None,
            keyed: KeyedSessions::default(),
            usage: Usage::default(),
            start_pause: StartPause::default(),
            is_listing_due: AtomicBool::new(false),
            log_level: Mutex::default(),
            last_info: Mutex::default(),
            is_off: AtomicBool::new(is_off),
            desired: watch::Sender::new(DesiredState { round: 0, run: RunState::Undecided }),
            status: watch::Sender::new(ObservedStatus { round: 0, status }),
            session: RwLock::new(None),
            session_count: AtomicU64::new(0),
            health_signal: HealthSignal::default(),
        }
    }

    /// Creates the slot of a keyed session with the server of a slot. It is not reconnected, but opened again by the next call.
    pub(crate) fn keyed(main: &Self, scope: SessionScope, questions: QuestionRouter) -> Self {
        let mut spec = main.spec.clone().restart(RestartPolicy::Never).start(StartPolicy::AtOnce);
        spec.idle_timeout.get_or_insert(DEFAULT_IDLE_TIMEOUT);
        Self { scope: Some(scope), ..Self::new(Arc::clone(&main.name), spec, questions) }
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.scope.is_some()
    }

    /// Returns how long it may be unused before it is stopped; `None` if it is never stopped.
    pub(crate) fn idle_timeout(&self) -> Option<Duration> {
        let may_sleep = self.is_keyed() || self.spec.start == StartPolicy::WhenUsed;
        self.spec.idle_timeout.filter(|_| may_sleep)
    }

    /// Takes the session of a slot without users, which is to be stopped. Returns the new round; `None` if it must go on.
    pub(crate) fn begin_sleep(&self, round: u64) -> Option<u64> {
        // A user is counted before it reads the session: either it is seen here, or it finds no session.
        let mut session = self.session.write();
        if !self.usage.is_unused() {
            return None;
        }
        let mut asleep = None;
        self.desired.send_if_modified(|desired| {
            if *desired == (DesiredState { round, run: RunState::Running }) {
                *desired = DesiredState { round: round + 1, run: RunState::Asleep };
                asleep = Some(round + 1);
            }
            asleep.is_some()
        });
        if asleep.is_some() {
            *session = None;
        }
        asleep
    }

    /// Returns whether there is neither a session nor an attempt to open one.
    pub(crate) fn has_ended(&self) -> bool {
        let (desired, observed) = (*self.desired.borrow(), self.status.borrow());
        desired.round <= observed.round
            && !matches!(
                observed.status,
                Status::Starting { .. } | Status::Ready(_) | Status::Degraded { .. }
            )
    }

    /// Returns whether a keyed slot can be removed: it has ended, nobody uses it, and it may be started again at once.
    pub(crate) fn is_removable(&self, now: Instant) -> bool {
        self.usage.is_unused() && self.has_ended() && self.start_pause.is_over(now)
    }

    /// Returns the info of the current or the last session.
    pub(crate) fn last_info(&self) -> Option<Arc<SessionInfo>> {
        self.last_info.lock().clone()
    }

    /// Returns whether this log level has to be requested in the current session, and records it as requested.
    pub(crate) fn lower_log_level(&self, level: Level) -> bool {
        let mut current = self.log_level.lock();
        let is_lower = current.is_none_or(|current| level < current);
        if is_lower {
            *current = Some(level);
        }
        is_lower
    }

    /// Returns the status; a disabled server is always [`Status::Disabled`].
    pub(crate) fn status(&self) -> Status {
        match self.switch() {
            Switch::Off => Status::Disabled,
            Switch::On => self.status.borrow().status.clone(),
        }
    }

    pub(crate) fn switch(&self) -> Switch {
        if self.is_off.load(Ordering::Acquire) { Switch::Off } else { Switch::On }
    }

    pub(crate) fn set_switch(&self, switch: Switch) {
        self.is_off.store(switch == Switch::Off, Ordering::Release);
    }

    /// Applies the start policy.
    pub(crate) fn start_initially(&self, initial_tools: InitialTools) -> u64 {
        self.set_desired(match (self.spec.start, initial_tools) {
            (StartPolicy::Off(off), _) => RunState::Off(off),
            (StartPolicy::WhenUsed, InitialTools::FromManifest) => RunState::Asleep,
            // Its tools are unknown, so it is started once to list them.
            (StartPolicy::WhenUsed, InitialTools::Unknown) | (StartPolicy::AtOnce, _) => RunState::Running,
        })
    }

    /// Starts or restarts the server. Returns the round to wait for.
    pub(crate) fn start(&self) -> u64 {
        self.set_desired(RunState::Running)
    }

    /// Starts a server that was given up. Returns the round to wait for; `None` if nothing was done.
    pub(crate) fn restart_if_failed(&self) -> Option<u64> {
        let is_given_up = matches!(self.status.borrow().status, Status::Failed(_) | Status::NeedsAuth(_));
        is_given_up.then(|| self.start())
    }

    /// Starts a server that is neither connected nor connecting. Returns the round to wait for; `None` if nothing was done.
    pub(crate) fn restart_if_down(&self) -> Option<u64> {
        let is_down = matches!(
            self.status.borrow().status,
            Status::Failed(_) | Status::NeedsAuth(_) | Status::BackingOff { .. }
        );
        is_down.then(|| self.start())
    }

    /// Starts a sleeping server. Returns the round to wait for.
    pub(crate) fn wake(&self) -> u64 {
        self.desired.send_if_modified(|desired| {
            let sleeps = desired.run == RunState::Asleep;
            if sleeps {
                *desired = DesiredState { round: desired.round + 1, run: RunState::Running };
            }
            sleeps
        });
        self.desired.borrow().round
    }

    /// Starts a sleeping server, so that it lists its tools anew.
    pub(crate) fn list_if_asleep(&self) {
        self.desired.send_if_modified(|desired| {
            let sleeps = desired.run == RunState::Asleep;
            if sleeps {
                self.is_listing_due.store(true, Ordering::Release);
                *desired = DesiredState { round: desired.round + 1, run: RunState::Running };
            }
            sleeps
        });
    }

    /// Returns whether the server itself has listed its tools, and need not do so again before a call.
    #[inline]
    pub(crate) fn has_listed(&self) -> bool {
        self.session_count() > 0 && !self.is_listing_due.load(Ordering::Acquire)
    }

    /// Starts a slot again that has failed, once for all its callers. Returns the round to wait for; `None` while the pause after a
    /// failed start lasts.
    pub(crate) fn restart_after_pause(&self) -> Option<u64> {
        if !self.start_pause.is_over(Instant::now()) {
            return None;
        }
        self.desired.send_if_modified(|desired| {
            let observed = self.status.borrow();
            let has_failed = matches!(observed.status, Status::Failed(_) | Status::NeedsAuth(_));
            // A later round means that another caller has started it.
            let restarts = has_failed && observed.round == desired.round && desired.run == RunState::Running;
            if restarts {
                *desired = DesiredState { round: desired.round + 1, run: RunState::Running };
            }
            restarts
        });
        Some(self.desired.borrow().round)
    }

    /// Returns whether it was never started, because of its start policy.
    pub(crate) fn is_unstarted(&self) -> bool {
        matches!(self.desired.borrow().run, RunState::Off(_) | RunState::Undecided)
    }

    /// Waits until it is decided whether the server should run, at most as long as a start may take.
    pub(crate) async fn wait_until_decided(&self) {
        let mut desired = self.desired.subscribe();
        let decided = desired.wait_for(|desired| desired.run != RunState::Undecided);
        // Whoever waits looks at the decision.
        let _ = tokio::time::timeout(self.spec.startup_timeout, decided).await;
    }

    /// Sets the desired state, unless the server was removed. Returns the round.
    pub(crate) fn set_desired(&self, run: RunState) -> u64 {
        let mut round = 0;
        self.desired.send_if_modified(|desired| {
            let may_change = desired.run != RunState::Removed;
            if may_change {
                *desired = DesiredState { round: desired.round + 1, run };
            }
            round = desired.round;
            may_change
        });
        round
    }

    /// Waits until the attempt of a round has ended, and returns its status.
    pub(crate) async fn wait_until_settled(&self, round: u64) -> Status {
        let mut observed = self.status.subscribe();
        let settled =
            observed.wait_for(|observed| observed.round >= round && observed.status.is_settled()).await;
        settled.map_or(Status::Stopped, |observed| observed.status.clone())
    }

    /// Returns the session for a call: starts a sleeping server and waits for one that is starting.
    pub(crate) async fn session(&self) -> Result<ClientSession, Status> {
        match self.ready_session() {
            Some(session) => Ok(session),
            None if self.switch() == Switch::Off => Err(Status::Disabled),
            None => Box::pin(self.wait_for_session()).await,
        }
    }

    /// Returns the session without waiting, if the server is enabled and connected.
    #[inline]
    pub(crate) fn ready_session(&self) -> Option<ClientSession> {
        if self.switch() == Switch::Off { None } else { self.current() }
    }

    async fn wait_for_session(&self) -> Result<ClientSession, Status> {
        let mut status = self.status();
        // Twice: it may go to sleep only after the server it replaces has ended.
        for _ in 0..2 {
            status = match status {
                Status::Asleep | Status::Starting { .. } => {
                    let round = self.wake();
                    self.wait_until_settled(round).await
                }
                // The session has just ended; the connection task has not noticed yet.
                Status::Ready(_) | Status::Degraded { .. } => {
                    let mut observed = self.status.subscribe();
                    let ended = observed.wait_for(|observed| observed.status.session_info().is_none());
                    match tokio::time::timeout(SESSION_END_LATENCY, ended).await {
                        Ok(Ok(observed)) => observed.status.clone(),
                        Ok(Err(_)) | Err(_) => self.status(),
                    }
                }
                Status::Failed(_) | Status::NeedsAuth(_) if self.is_keyed() => {
                    match self.restart_after_pause() {
                        Some(round) => self.wait_until_settled(round).await,
                        None => return Err(status),
                    }
                }
                other => other,
            };
            if let Some(session) = self.current() {
                return Ok(session);
            }
        }
        Err(status)
    }

    /// Returns the current session, if there is one.
    pub(crate) fn current(&self) -> Option<ClientSession> {
        let session = self.session.read();
        session.as_ref().filter(|session| session.is_ready()).cloned()
    }

    /// Returns the number of sessions opened so far.
    pub(crate) fn session_count(&self) -> u64 {
        self.session_count.load(Ordering::Acquire)
    }

    /// Waits for a session newer than the given count; `None` if the server fails or takes too long.
    pub(crate) async fn session_after(&self, count: u64) -> Option<ClientSession> {
        if self.is_keyed() {
            // Not reconnected by its task.
            return self.session().await.ok().filter(|_| self.session_count() > count);
        }
        let mut observed = self.status.subscribe();
        let another = observed.wait_for(|observed| match observed.status.kind() {
            StatusKind::Connected => self.session_count() > count,
            StatusKind::Pending => false,
            StatusKind::Failed | StatusKind::NeedsAuth | StatusKind::Disabled => true,
        });
        let in_time = tokio::time::timeout(self.spec.startup_timeout, another).await;
        in_time.ok()?.ok()?;
        self.current().filter(|_| self.session_count() > count)
    }

    /// Reports the error of a call to the connection task, if it concerns the connection.
    pub(crate) fn report_call_error(&self, error: &CallError) {
        let CallError::Link(link) = error else { return };
        let concerns_connection = match link {
            // 403: insufficient scope for one tool does not concern the others.
            LinkError::Challenged(challenge) => challenge.status == 401,
            LinkError::Unreachable { .. } => true,
            other => other.ends_connection(),
        };
        if concerns_connection {
            *self.health_signal.last.lock() = Some(error.clone());
            self.health_signal.changed.notify_one();
        }
    }

    pub(crate) fn health_signal(&self) -> &HealthSignal {
        &self.health_signal
    }

    pub(crate) fn desired(&self) -> watch::Receiver<DesiredState> {
        self.desired.subscribe()
    }

    pub(crate) fn set_session(&self, session: Option<ClientSession>) {
        if let Some(session) = &session {
            self.session_count.fetch_add(1, Ordering::AcqRel);
            self.start_pause.started();
            *self.log_level.lock() = None;
            *self.last_info.lock() = session.info().ok().map(|info| Arc::new(info.clone()));
            self.usage.touch();
            self.is_listing_due.store(false, Ordering::Release);
        }
        *self.session.write() = session;
    }

    pub(crate) fn set_status(&self, round: u64, status: Status) {
        self.status.send_replace(ObservedStatus { round, status });
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot")
            .field("name", &self.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
