//! Connection task: one per configured server. Connects, serves the session, reconnects with backoff.
//!
//! Every await also selects on the desired state, so a change (disable, reconnect, remove) takes effect immediately.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_protocol::{ListenFilter, ServerCapabilities, Tool};
use switchboard_session::client::{Change, ChangeStream, List, SessionState, Subscription};
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession, EraHint, SessionInfo, TimeoutKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::config::Off;
use crate::connection::SharedState;
use crate::connection::refresh::{Cause, Refresh};
use crate::connection::retry::{Next, Retry, STABLE};
use crate::event::Event;
use crate::registry::{Novelty, Unread};
use crate::slot::{DesiredState, Run, Slot};
use crate::status::{Failure, Status};

/// How long the tools of a lost server stay listed.
const GRACE_PERIOD: Duration = Duration::from_secs(10 * 60);
/// What an error carries of a server's stderr.
const LAST_WORDS: usize = 4 * 1024;
/// How long a server whose calls failed may take to say that it is alive.
const PROBE: Duration = Duration::from_secs(10);

/// Runs the connection task of a slot until the slot is removed.
pub(crate) async fn run(slot: Arc<Slot>, shared: Arc<SharedState>) {
    let desired = slot.desired();
    ConnectionTask { slot, shared, desired, verdict: None, lost_at: None, opened: 0 }.run().await;
}

struct ConnectionTask {
    slot: Arc<Slot>,
    shared: Arc<SharedState>,
    desired: watch::Receiver<DesiredState>,
    /// What an earlier session found out about the server.
    verdict: Option<EraHint>,
    /// When the connection was lost; its tools stay listed for a grace period after that.
    lost_at: Option<Instant>,
    /// How often it was opened.
    opened: u64,
}

/// A session that has just been opened.
struct Opened {
    session: ClientSession,
    changes: ChangeStream,
    /// Held for what its drop does: a modern server tells only who listens.
    listening: Option<Subscription>,
    tools: ToolListResult,
}

/// The outcome of listing tools.
type ToolListResult = Result<Arc<List<Tool>>, CallError>;

/// Why a wait is over.
#[derive(PartialEq, Eq)]
enum WaitOutcome {
    DesiredStateChanged,
    Elapsed,
}

impl ConnectionTask {
    async fn run(&mut self) {
        loop {
            let DesiredState { round, run } = *self.desired.borrow_and_update();
            match run {
                Run::Held => {}
                Run::Off(Off::Disabled) => self.tell(round, Status::Disabled),
                Run::Off(Off::Unapproved) => self.tell(round, Status::AwaitingApproval),
                Run::Asleep => self.tell(round, Status::Asleep),
                Run::Gone => return self.tell(u64::MAX, Status::Stopped),
                Run::Up => {
                    // Somebody asked, so nothing that failed before counts.
                    self.verdict = None;
                    Box::pin(self.run_until_changed(round)).await;
                    continue;
                }
            }
            if self.desired.changed().await.is_err() {
                return;
            }
        }
    }

    /// Connects and serves the session until the desired state changes.
    async fn run_until_changed(&mut self, round: u64) {
        let mut retry = Retry::new(self.slot.spec.restart);
        loop {
            let began = Instant::now();
            self.tell(round, Status::Starting { since: began, attempt: retry.failures() + 1 });
            let opening = open(Arc::clone(&self.slot), Arc::clone(&self.shared), self.verdict);
            let opened = tokio::select! {
                biased;
                _ = self.desired.changed() => return,
                opened = Box::pin(opening) => opened,
            };
            let (failure, session) = match opened {
                Ok(opened) => match Box::pin(self.serve_session(round, opened, &mut retry)).await {
                    (Some(failure), session) => (failure, Some(session)),
                    (None, session) => return close(&session, &self.shared).await,
                },
                Err(failure) => (failure, None),
            };
            tracing::debug!(server = %self.slot.name, error = %failure, "connection lost");
            self.lost_at.get_or_insert_with(Instant::now);
            let next = match failure.challenge() {
                Some(_) => Next::GiveUp,
                None => retry.failed(&failure, began.elapsed(), jitter()),
            };
            let (status, until) = after(next, failure, retry.failures());
            self.tell(round, status);
            // Said first: what is lost may take its time to be left.
            if let Some(session) = session {
                close(&session, &self.shared).await;
            }
            if self.wait(until).await == WaitOutcome::DesiredStateChanged {
                return;
            }
        }
    }

    /// Waits for the desired state to change, at most until then; removes the tools when the grace period is over.
    async fn wait(&mut self, until: Option<Instant>) -> WaitOutcome {
        loop {
            let forget = self.lost_at.map(|since| since + GRACE_PERIOD);
            tokio::select! {
                biased;
                _ = self.desired.changed() => return WaitOutcome::DesiredStateChanged,
                () = at(until) => return WaitOutcome::Elapsed,
                () = at(forget) => {
                    self.lost_at = None;
                    self.shared.registry.forget(self.slot.id);
                }
            }
        }
    }

    /// Serves an open session until it is lost, which is a failure, or the desired state changes. Returns it to be closed.
    async fn serve_session(
        &mut self,
        round: u64,
        opened: Opened,
        retry: &mut Retry,
    ) -> (Option<Failure>, ClientSession) {
        let Opened { session, changes, listening, tools } = opened;
        let terms = match session.info() {
            Ok(terms) => Arc::new(terms.clone()),
            Err(error) => return (Some(error.into()), session),
        };
        self.slot.health_signal().clear();
        self.verdict = session.era_hint().ok();
        self.lost_at = None;
        self.opened += 1;
        if self.opened > 1 {
            self.slot.meter.reconnected();
        }
        let mut health = Health { terms, round, refresh: Refresh::new(Instant::now()), ill: None };
        let listed = self.take_in(tools);
        self.slot.set_session(Some(session.clone()));
        self.say(&mut health, listed);
        let outcome = Box::pin(self.hear(&session, changes, &mut health, retry)).await;
        self.slot.set_session(None);
        drop(listening);
        (outcome, session)
    }

    async fn hear(
        &mut self,
        session: &ClientSession,
        mut changes: ChangeStream,
        health: &mut Health,
        retry: &mut Retry,
    ) -> Option<Failure> {
        let slot = Arc::clone(&self.slot);
        let mut state = session.watch_state();
        let mut woken = self.shared.woken.subscribe();
        let mut stable = Some(Instant::now() + STABLE);
        let mut hears = true;
        let mut listing: Option<(Cause, BoxFuture<'_, ToolListResult>)> = None;
        let mut probing: Option<BoxFuture<'_, Result<(), CallError>>> = None;
        loop {
            let due = health.refresh.due().filter(|_| listing.is_none());
            tokio::select! {
                biased;
                _ = self.desired.changed() => return None,
                failure = lost(&mut state) => return Some(failure),
                error = slot.health_signal().next() => {
                    let failure = Failure::from(error);
                    if failure.challenge().is_some() {
                        return Some(failure);
                    }
                    self.tell(health.round, Status::Degraded { terms: Arc::clone(&health.terms), failure });
                    probing.get_or_insert_with(|| Box::pin(probe(session)));
                }
                // The sender is in the shared state, which outlives this task.
                Ok(()) = woken.changed() => {
                    probing.get_or_insert_with(|| Box::pin(probe(session)));
                }
                alive = poll_if_some(&mut probing) => {
                    probing = None;
                    match alive {
                        Ok(()) => self.tell(health.round, health.status()),
                        Err(error) => return Some(error.into()),
                    }
                }
                change = changes.next(), if hears => match change {
                    Some(change) => self.heard(change, &mut health.refresh),
                    None => hears = false,
                },
                tools = finish(&mut listing) => {
                    let cause = listing.take().map(|(cause, _)| cause);
                    let listed = self.take_in(tools);
                    if let (Some(cause), Ok(novelty)) = (cause, &listed) {
                        health.refresh.done(cause, *novelty);
                    }
                    self.say(health, listed);
                }
                () = at(due) => {
                    let cause = health.refresh.begin(Instant::now());
                    listing = Some((cause, Box::pin(session.refresh_tools())));
                }
                () = at(stable) => {
                    stable = None;
                    retry.stayed_up();
                }
            }
        }
    }

    /// Takes in what the server listed. On failure the last good list stays.
    fn take_in(&self, tools: ToolListResult) -> Result<Novelty, Failure> {
        let listing = tools.map_err(Failure::from)?;
        let unread = Unread { rejected: &listing.rejected, cut: listing.cut.clone() };
        Ok(self.shared.registry.list(&self.slot, &listing, unread))
    }

    /// Says how the server is after its list came, or did not.
    fn say(&self, health: &mut Health, listed: Result<Novelty, Failure>) {
        health.ill = listed.err();
        if health.ill.is_some() {
            health.refresh.failed();
        }
        self.tell(health.round, health.status());
    }

    fn heard(&self, change: Change, refresh: &mut Refresh) {
        match change {
            Change::Tools => refresh.change(Instant::now()),
            change => {
                if matches!(change, Change::Missed(_)) {
                    // A change of the tools may be among them.
                    refresh.change(Instant::now());
                }
                self.shared.events.tell(Event::Told { server: Arc::clone(&self.slot.name), change });
            }
        }
    }

    fn tell(&self, round: u64, status: Status) {
        self.slot.tell(round, status.clone());
        self.shared.events.tell(Event::Status { server: Arc::clone(&self.slot.name), status });
    }
}

/// How an open session is doing.
struct Health {
    terms: Arc<SessionInfo>,
    round: u64,
    refresh: Refresh,
    /// Why its list is old.
    ill: Option<Failure>,
}

impl Health {
    fn status(&self) -> Status {
        let terms = Arc::clone(&self.terms);
        match self.ill.clone() {
            None => Status::Ready(terms),
            Some(failure) => Status::Degraded { terms, failure },
        }
    }
}

/// How a server is after a failure, and until when.
fn after(next: Next, failure: Failure, failures: u32) -> (Status, Option<Instant>) {
    if let Some(challenge) = failure.challenge() {
        return (Status::NeedsAuth(challenge), None);
    }
    match next {
        Next::After(pause) => {
            let until = Instant::now() + pause;
            (Status::BackingOff { until, attempt: failures, failure }, Some(until))
        }
        Next::GiveUp => (Status::Failed(failure), None),
    }
}

/// Closes a session in order.
async fn close(session: &ClientSession, shared: &SharedState) {
    // What held the subscription takes it back when it runs next: a server that still thought itself listened to would
    // take its time to leave.
    tokio::task::yield_now().await;
    if shared.detaches.load(Ordering::Acquire) {
        session.close_detached().await;
    } else {
        session.close().await;
    }
}

/// Opens a session within its startup timeout, and lists its tools.
async fn open(
    slot: Arc<Slot>,
    shared: Arc<SharedState>,
    verdict: Option<EraHint>,
) -> Result<Opened, Failure> {
    let spec = &slot.spec;
    let late = || CallError::TimedOut { kind: TimeoutKind::Startup, after: spec.startup_timeout, hint: None };
    let opening = async {
        let dial = shared.connectors.dial(&slot.name, spec, &slot.child).await?;
        let mut limits = shared.limits.clone();
        limits.startup = spec.startup_timeout;
        limits.probe = limits.probe.min(spec.startup_timeout / 2);
        if let Some(call) = spec.call_timeout {
            limits.call_total = call;
            limits.call_idle = limits.call_idle.max(call);
        }
        let mut client = shared.client.clone().with_limits(limits).with_answers(Arc::clone(&slot.questions));
        if let Some(verdict) = verdict {
            client = client.with_era_hint(verdict);
        }
        if let Some(roots) = shared.roots.read().clone() {
            client = client.with_roots(roots);
        }
        let session = client.connect(dial).await?;
        // Before the list, so that no change of it is missed.
        let changes = session.changes()?;
        let listening = listen(&session).await;
        let tools = session.list_tools().await;
        match tools {
            Err(error @ (CallError::Link(_) | CallError::Closed)) => Err(error.into()),
            tools => Ok(Opened { session, changes, listening, tools }),
        }
    };
    // A little longer than the session's own bound, whose error says more.
    let within = spec.startup_timeout.saturating_add(Duration::from_millis(100));
    let opened = tokio::time::timeout(within, opening).await.unwrap_or_else(|_| Err(late().into()));
    opened.map_err(|failure| match failure {
        Failure::Session(error @ CallError::TimedOut { .. }) => silent(error, &slot),
        other => other,
    })
}

/// A server that did not answer in time, with what it wrote instead.
fn silent(error: CallError, slot: &Slot) -> Failure {
    let stderr = slot.child.get().map(|child| child.stderr_tail()).unwrap_or_default();
    match stderr.is_empty() {
        true => Failure::Session(error),
        false => Failure::Silent { error, stderr: last(&stderr, LAST_WORDS).to_owned() },
    }
}

/// The end of a text, cut between characters.
fn last(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// Listens to the changes that the server says it tells.
async fn listen(session: &ClientSession) -> Option<Subscription> {
    let filter = filter(&session.info().ok()?.capabilities);
    if filter.is_empty() {
        return None;
    }
    match session.listen(filter).await {
        Ok(listening) => Some(listening),
        Err(error) => {
            tracing::debug!(%error, "changes of the lists will not be heard");
            None
        }
    }
}

fn filter(offered: &ServerCapabilities) -> ListenFilter {
    let mut filter = ListenFilter::new();
    filter.tools_list_changed = offered.tools.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter.prompts_list_changed =
        offered.prompts.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter.resources_list_changed =
        offered.resources.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter
}

/// Ready when the session is over, with the reason.
async fn lost(state: &mut watch::Receiver<SessionState>) -> Failure {
    let over = state.wait_for(|state| matches!(state, SessionState::Failed(_) | SessionState::Closed)).await;
    match over.as_deref() {
        Ok(SessionState::Failed(error)) => error.clone().into(),
        _ => CallError::Closed.into(),
    }
}

async fn probe(session: &ClientSession) -> Result<(), CallError> {
    let late = CallError::TimedOut { kind: TimeoutKind::Idle, after: PROBE, hint: None };
    tokio::time::timeout(PROBE, session.ping()).await.unwrap_or(Err(late))
}

/// What a future comes to; never, without one.
async fn poll_if_some<T>(future: &mut Option<BoxFuture<'_, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn finish<T>(listing: &mut Option<(Cause, BoxFuture<'_, T>)>) -> T {
    match listing {
        Some((_, future)) => future.await,
        None => std::future::pending().await,
    }
}

/// Waits until then; for ever, without a time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Returns a random factor between 0 and 1 for the pause before a retry.
fn jitter() -> f64 {
    let mut bytes = [0; 4];
    // Without randomness the pause is merely the shortest.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}
