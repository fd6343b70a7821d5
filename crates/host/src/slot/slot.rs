//! What everybody but its task sees of a server: how it is doing, its session, and what is wanted of it.
//!
//! Invariant: looking at a slot never waits for the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use switchboard_design::schema::PatternBudget;
use switchboard_session::link::LinkError;
use switchboard_session::{CallError, ClientSession};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::config::{Off, Start};
use crate::question_router::QuestionRouter;
use crate::server_spec::ServerSpec;
use crate::slot::ChildSlot;
use crate::slot::turns::Turns;
use crate::status::{Status, StatusKind};
use crate::telemetry::Meter;
use crate::transport::Transport;

/// Calls that run on a server at a time: here, and elsewhere.
const LOCAL_CALLS: usize = 256;
const REMOTE_CALLS: usize = 128;

/// How long it takes at most to notice that a session is over.
const A_MOMENT: Duration = Duration::from_secs(1);

/// One server.
pub(crate) struct Slot {
    /// Never used again: a later server of the same name has another.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) spec: ServerSpec,
    pub(crate) questions: Arc<QuestionRouter>,
    pub(crate) meter: Meter,
    pub(crate) turns: Turns,
    /// Memory for the compiled patterns of all its schemas.
    pub(crate) patterns: PatternBudget,
    pub(crate) child: Arc<ChildSlot>,
    is_off: AtomicBool,
    desired: watch::Sender<DesiredState>,
    seen: watch::Sender<Seen>,
    // Held for a clone or a swap, never across an await.
    session: RwLock<Option<ClientSession>>,
    /// How many sessions there have been.
    opened: AtomicU64,
    health_signal: HealthSignal,
}

/// The state that a slot's task brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DesiredState {
    /// Goes up with every change, so that the same state can be asked for again.
    pub(crate) round: u64,
    pub(crate) run: Run,
}

/// Whether a server is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Not decided yet.
    Held,
    /// Not, for this reason.
    Off(Off),
    /// When it is used.
    Asleep,
    /// Yes.
    Up,
    /// No more, for good.
    Gone,
}

/// How a server is doing, and since which wish.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) round: u64,
    pub(crate) status: Status,
}

/// Errors of calls that say something about the connection, for its task.
#[derive(Debug, Default)]
pub(crate) struct HealthSignal {
    changed: Notify,
    last: Mutex<Option<CallError>>,
}

impl HealthSignal {
    /// Forgets an error of a call on an earlier connection.
    pub(crate) fn clear(&self) {
        *self.last.lock() = None;
    }

    /// Waits for the next error of a call.
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

/// Whether a server's tools are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}

/// What a slot starts out with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outset {
    /// As its description says.
    Fresh,
    /// Its tools are known already, so that it may sleep.
    Remembered,
}

impl Slot {
    pub(crate) fn new(name: Arc<str>, spec: ServerSpec, questions: QuestionRouter) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let is_off = spec.start == Start::Off(Off::Disabled);
        let status = match spec.start {
            Start::Off(Off::Disabled) => Status::Disabled,
            Start::Off(Off::Unapproved) => Status::AwaitingApproval,
            // Not begun, but about to be: whoever needs it waits.
            Start::AtOnce | Start::WhenUsed => Status::Starting { since: Instant::now(), attempt: 1 },
        };
        let most_calls = match spec.transport {
            Transport::Http(_) | Transport::Proxy { .. } => REMOTE_CALLS,
            _ => LOCAL_CALLS,
        };
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name,
            spec,
            questions: Arc::new(questions),
            meter: Meter::default(),
            turns: Turns::new(most_calls),
            patterns: PatternBudget::default(),
            child: Arc::default(),
            is_off: AtomicBool::new(is_off),
            desired: watch::Sender::new(DesiredState { round: 0, run: Run::Held }),
            seen: watch::Sender::new(Seen { round: 0, status }),
            session: RwLock::new(None),
            opened: AtomicU64::new(0),
            health_signal: HealthSignal::default(),
        }
    }

    /// How the server is doing; switched off wins.
    pub(crate) fn status(&self) -> Status {
        match self.switch() {
            Switch::Off => Status::Disabled,
            Switch::On => self.seen.borrow().status.clone(),
        }
    }

    pub(crate) fn switch(&self) -> Switch {
        if self.is_off.load(Ordering::Acquire) { Switch::Off } else { Switch::On }
    }

    pub(crate) fn set_switch(&self, switch: Switch) {
        self.is_off.store(switch == Switch::Off, Ordering::Release);
    }

    /// Begins, as its description says.
    pub(crate) fn begin(&self, outset: Outset) -> u64 {
        self.want(match (self.spec.start, outset) {
            (Start::Off(off), _) => Run::Off(off),
            (Start::WhenUsed, Outset::Remembered) => Run::Asleep,
            // Nothing is known of it, so it has to be asked once.
            (Start::WhenUsed, Outset::Fresh) | (Start::AtOnce, _) => Run::Up,
        })
    }

    /// Starts the server, anew if it runs. Gives the round to wait for.
    pub(crate) fn start(&self) -> u64 {
        self.want(Run::Up)
    }

    /// Starts a server that was given up, and gives the round to wait for; does nothing to another.
    pub(crate) fn start_again(&self) -> Option<u64> {
        let is_given_up = matches!(self.seen.borrow().status, Status::Failed(_) | Status::NeedsAuth(_));
        is_given_up.then(|| self.start())
    }

    /// Starts a server that is not connected and not being connected, and gives the round to wait for.
    pub(crate) fn try_now(&self) -> Option<u64> {
        let is_down = matches!(
            self.seen.borrow().status,
            Status::Failed(_) | Status::NeedsAuth(_) | Status::BackingOff { .. }
        );
        is_down.then(|| self.start())
    }

    /// Wakes a server that sleeps; does nothing to one that runs or may not.
    pub(crate) fn wake(&self) -> u64 {
        self.desired.send_if_modified(|wanted| {
            let sleeps = wanted.run == Run::Asleep;
            if sleeps {
                *wanted = DesiredState { round: wanted.round + 1, run: Run::Up };
            }
            sleeps
        });
        self.desired.borrow().round
    }

    /// Whether nobody has started it since its description said not to.
    pub(crate) fn is_unstarted(&self) -> bool {
        matches!(self.desired.borrow().run, Run::Off(_) | Run::Held)
    }

    pub(crate) fn want(&self, run: Run) -> u64 {
        let mut round = 0;
        self.desired.send_if_modified(|wanted| {
            let may_change = wanted.run != Run::Gone;
            if may_change {
                *wanted = DesiredState { round: wanted.round + 1, run };
            }
            round = wanted.round;
            may_change
        });
        round
    }

    /// Waits until what was wanted in a round has come to something, and says to what.
    pub(crate) async fn settled(&self, round: u64) -> Status {
        let mut seen = self.seen.subscribe();
        let settled = seen.wait_for(|seen| seen.round >= round && seen.status.is_settled()).await;
        settled.map_or(Status::Stopped, |seen| seen.status.clone())
    }

    /// The session, for a call: wakes a server that sleeps, and waits for one that starts.
    pub(crate) async fn session(&self) -> Result<ClientSession, Status> {
        match self.at_hand() {
            Some(session) => Ok(session),
            None if self.switch() == Switch::Off => Err(Status::Disabled),
            None => Box::pin(self.session_soon()).await,
        }
    }

    /// The same, when nobody has to be woken or waited for: as nearly always.
    #[inline]
    pub(crate) fn at_hand(&self) -> Option<ClientSession> {
        if self.switch() == Switch::Off { None } else { self.current() }
    }

    async fn session_soon(&self) -> Result<ClientSession, Status> {
        let mut status = self.status();
        // Twice: it may turn out to sleep only when its place is free.
        for _ in 0..2 {
            status = match status {
                Status::Asleep | Status::Starting { .. } => {
                    let round = self.wake();
                    self.settled(round).await
                }
                // Lost a moment ago, and not noticed yet.
                Status::Ready(_) | Status::Degraded { .. } => {
                    let mut seen = self.seen.subscribe();
                    let noticed = seen.wait_for(|seen| seen.status.terms().is_none());
                    match tokio::time::timeout(A_MOMENT, noticed).await {
                        Ok(Ok(seen)) => seen.status.clone(),
                        Ok(Err(_)) | Err(_) => self.status(),
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

    /// The session, if there is one now.
    pub(crate) fn current(&self) -> Option<ClientSession> {
        let session = self.session.read();
        session.as_ref().filter(|session| session.is_ready()).cloned()
    }

    /// How many sessions there have been.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Acquire)
    }

    /// A session opened after so many, once there is one; none when there will not be one soon.
    pub(crate) async fn session_after(&self, opened: u64) -> Option<ClientSession> {
        let mut seen = self.seen.subscribe();
        let another = seen.wait_for(|seen| match seen.status.kind() {
            StatusKind::Connected => self.opened() > opened,
            StatusKind::Pending => false,
            StatusKind::Failed | StatusKind::NeedsAuth | StatusKind::Disabled => true,
        });
        let in_time = tokio::time::timeout(self.spec.startup_timeout, another).await;
        in_time.ok()?.ok()?;
        self.current().filter(|_| self.opened() > opened)
    }

    /// Is told what a call came to, where that says something about the connection.
    pub(crate) fn note(&self, error: &CallError) {
        let CallError::Link(link) = error else { return };
        let says_something = match link {
            // Too little for one tool says nothing about the others.
            LinkError::Challenged(challenge) => challenge.status == 401,
            LinkError::Unreachable { .. } => true,
            other => other.ends_connection(),
        };
        if says_something {
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
        if session.is_some() {
            self.opened.fetch_add(1, Ordering::AcqRel);
        }
        *self.session.write() = session;
    }

    pub(crate) fn tell(&self, round: u64, status: Status) {
        self.seen.send_replace(Seen { round, status });
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
