//! Connection task: one per slot. Connects, serves the session, reconnects with backoff, and stops it when it is idle.
//!
//! A keyed slot does not publish to the catalog and is not reconnected: its next call opens it again.
//!
//! Every await also selects on the desired state, so a change (disable, reconnect, remove) takes effect immediately.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_session::client::{Change, ChangeStream, SessionState};
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession, EraHint, SessionInfo, TimeoutKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::config::OffReason;
use crate::connection::SharedState;
use crate::connection::kept_lists::KeptLists;
use crate::connection::open::{FetchedCatalog, OpenSession, ToolListResult, open};
use crate::connection::refresh::{Refresh, RefreshCause};
use crate::connection::retry::{RetryDecision, RetryState, STABLE};
use crate::connection::session_clock::SessionClock;
use crate::event::HostEvent;
use crate::registry::{ListChange, ListDefects};
use crate::slot::{ConnectionHandle, DesiredState, RunState, Slot};
use crate::status::{ConnectionError, Status};

/// How long the tools of a disconnected server stay listed.
const GRACE_PERIOD: Duration = Duration::from_secs(10 * 60);
/// The timeout of the ping after a failed call.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Spawns the connection task of a slot. It waits until the slot is [started](Slot::start_initially).
pub(crate) fn spawn(slot: Arc<Slot>, shared: Arc<SharedState>) -> ConnectionHandle {
    let task = tokio::spawn(run(Arc::clone(&slot), shared));
    ConnectionHandle::new(slot, task)
}

/// Runs the connection task of a slot until the slot is removed.
async fn run(slot: Arc<Slot>, shared: Arc<SharedState>) {
    let desired = slot.desired();
    ConnectionTask { slot, shared, desired, era_hint: None, lost_at: None, opened: 0 }.run().await;
}

/// Connects one server, serves its session, and reconnects when it is lost, as the desired state of the slot requires.
struct ConnectionTask {
    slot: Arc<Slot>,
    shared: Arc<SharedState>,
    desired: watch::Receiver<DesiredState>,
    /// The era that an earlier session detected.
    era_hint: Option<EraHint>,
    /// When the connection was lost; its tools stay listed for a grace period after that.
    lost_at: Option<Instant>,
    /// The number of sessions opened so far.
    opened: u64,
}

/// A login that the server requires and that another process may make.
struct AwaitedLogin {
    /// The version of the credentials that were refused.
    credentials: Option<u64>,
}

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
                RunState::Undecided => {}
                RunState::Off(OffReason::Disabled) => self.publish_status(round, Status::Disabled),
                RunState::Off(OffReason::Unapproved) => self.publish_status(round, Status::AwaitingApproval),
                RunState::Asleep => self.publish_status(round, Status::Asleep),
                RunState::Stopped => {
                    self.lost_at = None;
                    self.shared.registry.remove_tools(self.slot.id);
                    self.publish_status(round, Status::Stopped);
                }
                RunState::Removed => return self.publish_status(u64::MAX, Status::Stopped),
                RunState::Running => {
                    // An explicit start: earlier failures do not count.
                    self.era_hint = None;
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
        let mut retry = RetryState::new(self.slot.spec.restart);
        loop {
            let began = Instant::now();
            self.publish_status(round, Status::Starting { since: began, attempt: retry.failures() + 1 });
            let (slot, shared, era_hint) = (Arc::clone(&self.slot), Arc::clone(&self.shared), self.era_hint);
            let connecting = async move {
                // Before the attempt, so that no login in between is missed.
                let credentials = shared.connectors.credential_version(&slot.name, &slot.spec).await;
                (credentials, open(slot, shared, era_hint).await)
            };
            let (credentials, opened) = tokio::select! {
                biased;
                _ = self.desired.changed() => return,
                opened = Box::pin(connecting) => opened,
            };
            let (failure, session) = match opened {
                Ok(opened) => match Box::pin(self.serve_session(round, opened, &mut retry)).await {
                    (Some(failure), session) => (failure, Some(session)),
                    (None, session) => return close(&session, &self.shared).await,
                },
                Err(failure) => {
                    self.slot.start_pause.start_failed(Instant::now());
                    (failure, None)
                }
            };
            tracing::debug!(server = %self.slot.name, error = %failure, "connection lost");
            if !self.slot.is_keyed() {
                self.lost_at.get_or_insert_with(Instant::now);
            }
            let next = match failure.challenge() {
                Some(_) => RetryDecision::GiveUp,
                None => retry.failed(&failure, began.elapsed(), jitter()),
            };
            let failed_pause =
                retry.pause_of_failed(&failure, jitter()).filter(|_| self.shared.retries_failed);
            let (status, until) = self.status_after_failure(next, failure, retry.failures());
            let until = match status {
                Status::Failed(_) => failed_pause.map(|pause| Instant::now() + pause),
                _ => until,
            };
            // The next call tries a keyed session again.
            let awaits_login = matches!(status, Status::NeedsAuth(_)) && !self.slot.is_keyed();
            let login = awaits_login.then_some(AwaitedLogin { credentials });
            self.publish_status(round, status);
            // After the status: closing may take a while.
            if let Some(session) = session {
                close(&session, &self.shared).await;
            }
            if self.wait(until, login).await == WaitOutcome::DesiredStateChanged {
                return;
            }
        }
    }

    /// Waits for the desired state to change, at most until then or until a login; removes the tools when the grace period
    /// is over.
    async fn wait(&mut self, until: Option<Instant>, login: Option<AwaitedLogin>) -> WaitOutcome {
        let slot = Arc::clone(&self.slot);
        let shared = Arc::clone(&self.shared);
        let mut login = login.map(|login| -> BoxFuture<'_, ()> {
            Box::pin(shared.connectors.credentials_changed(&slot.name, &slot.spec, login.credentials))
        });
        loop {
            let grace_end = self.lost_at.map(|since| since + GRACE_PERIOD);
            tokio::select! {
                biased;
                _ = self.desired.changed() => return WaitOutcome::DesiredStateChanged,
                () = sleep_until_some(until) => return WaitOutcome::Elapsed,
                () = poll_if_some(&mut login) => return WaitOutcome::Elapsed,
                () = sleep_until_some(grace_end) => {
                    self.lost_at = None;
                    self.shared.registry.remove_tools(self.slot.id);
                }
            }
        }
    }

    /// Serves an open session until it is lost, which is a failure, or the desired state changes. Returns it to be closed.
    async fn serve_session(
        &mut self,
        round: u64,
        opened: OpenSession,
        retry: &mut RetryState,
    ) -> (Option<ConnectionError>, ClientSession) {
        let OpenSession { session, changes, catalog } = opened;
        let session_info = match session.info() {
            Ok(session_info) => Arc::new(session_info.clone()),
            Err(error) => return (Some(error.into()), session),
        };
        self.slot.health_signal().clear();
        self.era_hint = session.era_hint().ok();
        self.lost_at = None;
        self.opened += 1;
        if self.opened > 1 {
            self.slot.meter.record_reconnect();
        }
        let mut health =
            Health { session_info, round, refresh: Refresh::new(Instant::now()), list_error: None };
        let mut kept = KeptLists::new(&session, &self.slot, &self.shared);
        let (mut listed, mut subscription) = (Ok(ListChange::Unchanged), None);
        if let Some(FetchedCatalog { subscription: changes, tools, lists }) = catalog {
            if let Some(lists) = lists {
                kept.store(lists);
            }
            listed = self.update_catalog(tools, &mut health.refresh);
            subscription = changes;
        }
        self.slot.set_session(Some(session.clone()));
        self.publish_list_outcome(&mut health, listed);
        // The status has the revision now.
        let mut clock = SessionClock::start(&self.slot);
        let outcome = Box::pin(self.run_session(&session, (changes, kept), &mut health, retry)).await;
        if let Some(clock) = &mut clock {
            clock.note_failure(outcome.as_ref());
        }
        self.slot.set_session(None);
        drop(subscription);
        (outcome, session)
    }

    /// Runs the event loop of an open session. Returns the failure; `None` if the desired state changed.
    async fn run_session(
        &mut self,
        session: &ClientSession,
        (mut changes, mut kept): (ChangeStream, KeptLists<'_>),
        health: &mut Health,
        retry: &mut RetryState,
    ) -> Option<ConnectionError> {
        let slot = Arc::clone(&self.slot);
        let mut state = session.watch_state();
        let mut resumes = self.shared.resumes.subscribe();
        let mut stable = Some(Instant::now() + STABLE);
        let mut is_stream_open = true;
        let idle_timeout = slot.idle_timeout();
        let mut idle_at = idle_timeout.map(|timeout| slot.usage.idle_at(timeout, Instant::now()));
        let mut listing: Option<(RefreshCause, BoxFuture<'_, ToolListResult>)> = None;
        let mut probing: Option<BoxFuture<'_, Result<(), CallError>>> = None;
        loop {
            let due = health.refresh.due().filter(|_| listing.is_none());
            tokio::select! {
                biased;
                _ = self.desired.changed() => return None,
                failure = session_ended(&mut state) => return Some(failure),
                error = slot.health_signal().next() => {
                    let failure = ConnectionError::from(error);
                    if failure.challenge().is_some() {
                        return Some(failure);
                    }
                    self.publish_status(health.round, Status::Degraded { session_info: Arc::clone(&health.session_info), failure });
                    probing.get_or_insert_with(|| Box::pin(probe(session)));
                }
                // The sender lives in the shared state, which outlives this task.
                Ok(()) = resumes.changed() => {
                    probing.get_or_insert_with(|| Box::pin(probe(session)));
                }
                alive = poll_if_some(&mut probing) => {
                    probing = None;
                    match alive {
                        Ok(()) => self.publish_status(health.round, health.status()),
                        Err(error) => return Some(error.into()),
                    }
                }
                change = changes.next(), if is_stream_open => match change {
                    Some(change) => {
                        if !slot.is_keyed() {
                            kept.note_change(&change);
                        }
                        self.handle_change(session.number(), change, &mut health.refresh);
                    }
                    None => is_stream_open = false,
                },
                () = kept.refresh() => {}
                tools = poll_listing(&mut listing) => {
                    let cause = listing.take().map(|(cause, _)| cause);
                    if let Some(lost) = self.finish_refresh(health, cause, tools) {
                        return Some(lost);
                    }
                }
                () = sleep_until_some(due) => {
                    let cause = health.refresh.begin(Instant::now());
                    listing = Some((cause, Box::pin(session.refresh_tools())));
                }
                () = sleep_until_some(stable) => {
                    stable = None;
                    retry.reset();
                }
                () = sleep_until_some(idle_at) => {
                    if let Some(asleep) = self.sleep_if_idle(health.round, idle_at) {
                        // Before the session is closed, which may take a while: a call that comes now starts another.
                        self.publish_status(asleep, Status::Asleep);
                        return None;
                    }
                    idle_at = idle_timeout.map(|timeout| slot.usage.idle_at(timeout, Instant::now()));
                }
            }
        }
    }

    /// Ends the session of a server that nobody has used until this time. Returns the round of its sleep.
    fn sleep_if_idle(&self, round: u64, checked: Option<Instant>) -> Option<u64> {
        let timeout = self.slot.idle_timeout()?;
        let is_due = self.slot.usage.idle_at(timeout, Instant::now()) <= checked?;
        if is_due { self.slot.begin_sleep(round) } else { None }
    }

    /// Records the outcome of a refresh of the tools. Returns the failure that ends the session: the login was lost.
    fn finish_refresh(
        &self,
        health: &mut Health,
        cause: Option<RefreshCause>,
        tools: ToolListResult,
    ) -> Option<ConnectionError> {
        let listed = self.update_catalog(tools, &mut health.refresh);
        if let Err(failure) = &listed
            && failure.is_login_lost()
        {
            return Some(failure.clone());
        }
        if let (Some(cause), Ok(list_change)) = (cause, &listed) {
            health.refresh.done(cause, *list_change);
            if *list_change == ListChange::Unchanged && cause.is_announced() {
                let (server, change) = (Arc::clone(&self.slot.name), Change::Tools);
                self.shared.events.send(HostEvent::UnchangedList { server, change });
            }
        }
        self.publish_list_outcome(health, listed);
        None
    }

    /// Updates the catalog with a new list. On failure the last good list stays.
    fn update_catalog(
        &self,
        tools: ToolListResult,
        refresh: &mut Refresh,
    ) -> Result<ListChange, ConnectionError> {
        let listing = tools.map_err(ConnectionError::from)?;
        refresh.set_lifetime(listing.lifetime.unwrap_or_default());
        let defects = ListDefects { rejected: &listing.rejected, cut: listing.cut.clone() };
        if self.shared.keeps_all_lists {
            let lifetime = listing.lifetime.unwrap_or_default();
            self.shared.registry.change_lists(self.slot.id, |kept| kept.lifetimes.tools = lifetime);
        }
        Ok(self.shared.registry.set_tools(&self.slot, &listing, defects))
    }

    /// Publishes the status after a list was fetched or failed.
    fn publish_list_outcome(&self, health: &mut Health, listed: Result<ListChange, ConnectionError>) {
        health.list_error = listed.err();
        if health.list_error.is_some() {
            health.refresh.failed();
        }
        self.publish_status(health.round, health.status());
    }

    fn handle_change(&self, session: u64, change: Change, refresh: &mut Refresh) {
        // The lists of the catalog are those of the main session.
        if self.slot.is_keyed() && !matches!(change, Change::ElicitationDone { .. } | Change::Task(_)) {
            return;
        }
        match change {
            Change::Tools => refresh.note_change(Instant::now()),
            change => {
                if matches!(change, Change::Missed(_)) {
                    // The missed changes may include a change of the tools.
                    refresh.note_change(Instant::now());
                }
                let server = Arc::clone(&self.slot.name);
                self.shared.events.send(HostEvent::ServerChange { server, session, change });
            }
        }
    }

    /// Returns the status after a failure, and the time of the next attempt.
    fn status_after_failure(
        &self,
        next: RetryDecision,
        failure: ConnectionError,
        failures: u32,
    ) -> (Status, Option<Instant>) {
        if let Some(challenge) = failure.challenge() {
            return (Status::NeedsAuth(self.slot.spec.explain_challenge(challenge)), None);
        }
        match next {
            RetryDecision::After(pause) => {
                let until = Instant::now() + pause;
                (Status::BackingOff { until, attempt: failures, failure }, Some(until))
            }
            RetryDecision::GiveUp => (Status::Failed(failure), None),
        }
    }

    fn publish_status(&self, round: u64, status: Status) {
        self.slot.set_status(round, status.clone());
        if self.slot.is_keyed() {
            return;
        }
        self.shared.events.send(HostEvent::Status { server: Arc::clone(&self.slot.name), status });
    }
}

/// The health of an open session.
struct Health {
    session_info: Arc<SessionInfo>,
    round: u64,
    refresh: Refresh,
    /// Why the last refresh of the tools failed.
    list_error: Option<ConnectionError>,
}

impl Health {
    fn status(&self) -> Status {
        let session_info = Arc::clone(&self.session_info);
        match self.list_error.clone() {
            None => Status::Ready(session_info),
            Some(failure) => Status::Degraded { session_info, failure },
        }
    }
}

/// Closes a session gracefully.
async fn close(session: &ClientSession, shared: &SharedState) {
    // Lets the dropped subscription be cancelled first: a server with an open subscription takes longer to exit.
    tokio::task::yield_now().await;
    if shared.detaches.load(Ordering::Acquire) {
        session.close_detached().await;
    } else {
        session.close().await;
    }
}

/// Waits for the end of the session and returns the reason.
async fn session_ended(state: &mut watch::Receiver<SessionState>) -> ConnectionError {
    let over = state.wait_for(|state| matches!(state, SessionState::Failed(_) | SessionState::Closed)).await;
    match over.as_deref() {
        Ok(SessionState::Failed(error)) => error.clone().into(),
        _ => CallError::Closed.into(),
    }
}

async fn probe(session: &ClientSession) -> Result<(), CallError> {
    let timed_out = CallError::TimedOut { kind: TimeoutKind::Idle, after: PROBE_TIMEOUT, hint: None };
    tokio::time::timeout(PROBE_TIMEOUT, session.ping()).await.unwrap_or(Err(timed_out))
}

/// Awaits the future; pending forever without one.
async fn poll_if_some<T>(future: &mut Option<BoxFuture<'_, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn poll_listing<T>(listing: &mut Option<(RefreshCause, BoxFuture<'_, T>)>) -> T {
    match listing {
        Some((_, future)) => future.await,
        None => std::future::pending().await,
    }
}

/// Sleeps until a time; pending forever without one.
async fn sleep_until_some(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Returns a random factor between 0 and 1 for the pause before a retry.
fn jitter() -> f64 {
    let mut bytes = [0; 4];
    // Without randomness the pause is zero.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
}
