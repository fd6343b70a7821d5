//! The era ladder: opens a session, first in the modern era, then by falling back to the legacy one.
//!
//! The rules are those of spec 2026-07-28, basic/versioning. The fallback does not depend on one error code; a server
//! that exits on the probe is restarted and opened with a handshake; a server known to be modern is never demoted.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Poll, ready};

use parking_lot::Mutex;
use switchboard_protocol::{ClientCapabilities, Implementation, Raw, RequestId, Revision, RpcError};

use crate::era::legacy::{self, HandshakeOutcome};
use crate::era::modern::{self, ProbeOutcome};
use crate::era::{ClientDialect, EraHint, RevisionPolicy, SessionInfo};
use crate::link::{
    BoxFuture, Dial, DialStep, Exchange, Inbound, InboundMessage, Link, LinkError, OneWayMessage,
};
use crate::request::{CallError, Limits, TimeoutKind};

/// The configuration of a client session.
#[derive(Debug, Clone)]
pub(crate) struct SessionConfig {
    pub(crate) revisions: RevisionPolicy,
    pub(crate) era_hint: Option<EraHint>,
    pub(crate) implementation: Implementation,
    /// The capabilities declared to a server of the legacy era.
    pub(crate) legacy_capabilities: ClientCapabilities,
    /// The capabilities declared with every request of the modern era.
    pub(crate) modern_capabilities: ClientCapabilities,
    /// Timeouts and size limits.
    pub(crate) limits: Limits,
    /// The initial roots of a session.
    pub(crate) roots: Vec<switchboard_protocol::Root>,
}

/// The result of opening a session.
pub(crate) struct NegotiatedSession {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) dialect: ClientDialect,
    pub(crate) info: Box<SessionInfo>,
    pub(crate) inbound: Option<Inbound>,
    pub(crate) early: EarlyMessages,
}

/// The messages that the server sent while the session was being opened. Bounded: when full, the oldest is dropped and
/// counted.
#[derive(Debug, Default)]
pub(crate) struct EarlyMessages(pub(crate) VecDeque<InboundMessage>);

/// Messages kept.
const MAX_EARLY: usize = 1024;

impl EarlyMessages {
    /// Waits for `answer` and collects the messages that arrive meanwhile. Pings are answered at once.
    pub(crate) async fn collect_while<T>(
        &mut self,
        link: &dyn Link,
        inbound: Option<&mut Inbound>,
        answer: impl Future<Output = T>,
    ) -> T {
        let Some(inbound) = inbound else { return answer.await };
        let mut answer = std::pin::pin!(answer);
        let mut ended = false;
        poll_fn(|cx| {
            loop {
                // The answer first: a flood of other messages must not delay it.
                if let Poll::Ready(outcome) = answer.as_mut().poll(cx) {
                    return Poll::Ready(outcome);
                }
                if ended {
                    return Poll::Pending;
                }
                match ready!(inbound.poll_next(cx)) {
                    Some(inward) => self.receive(link, inward),
                    None => ended = true,
                }
            }
        })
        .await
    }

    fn receive(&mut self, link: &dyn Link, inward: InboundMessage) {
        match inward {
            InboundMessage::Upcall(upcall) if &*upcall.method == "ping" => {
                let _ =
                    link.post(OneWayMessage::Response { id: &upcall.id, outcome: Ok(&Raw::empty_object()) });
            }
            inward => self.push(link, inward),
        }
    }

    fn push(&mut self, link: &dyn Link, inward: InboundMessage) {
        if self.0.len() == MAX_EARLY {
            self.0.pop_front();
            link.counters().inspect(|counters| _ = counters.dropped_notes());
        }
        self.0.push_back(inward);
    }
}

/// A link on which opening is attempted.
struct Attempt {
    link: Arc<dyn Link>,
    inbound: Option<Inbound>,
}

impl Attempt {
    async fn dial(dial: &dyn Dial, step: DialStep, previous: Option<Self>) -> Result<Self, CallError> {
        let (before, inbound) = match previous {
            Some(Self { link, inbound }) => (Some(link), inbound),
            None => (None, None),
        };
        let link = dial.dial(step, before.clone()).await?;
        // For the same link the inbound stream was already taken.
        let same = before.is_some_and(|before| Arc::ptr_eq(&before, &link));
        let inbound = if same { inbound } else { link.inbound() };
        Ok(Self { link, inbound })
    }
}

/// Opens a session over a link from `dial`.
///
/// Boxed: its code is generated once and not in every crate that connects, and its memory is freed when the session is open.
///
/// # Errors
/// When nothing can be reached, or no revision is shared.
pub(crate) fn open_session<'a>(
    dial: &'a dyn Dial,
    config: &'a SessionConfig,
    ids: &'a AtomicI64,
) -> BoxFuture<'a, Result<NegotiatedSession, CallError>> {
    Box::pin(open_with_timeout(dial, config, ids))
}

async fn open_with_timeout(
    dial: &dyn Dial,
    config: &SessionConfig,
    ids: &AtomicI64,
) -> Result<NegotiatedSession, CallError> {
    let current = CurrentLink::default();
    let within = config.limits.startup;
    let opened =
        tokio::time::timeout(within, open_in_any_era(&Ladder { dial, config, ids, current: &current })).await;
    opened.unwrap_or_else(|_| {
        let hint = current.0.lock().as_ref().and_then(|link| link.hint());
        Err(CallError::TimedOut { kind: TimeoutKind::Startup, after: within, hint })
    })
}

/// The link of the current attempt, for its hint about a server that does not respond.
#[derive(Default)]
struct CurrentLink(Mutex<Option<Arc<dyn Link>>>);

async fn open_in_any_era(ladder: &Ladder<'_>) -> Result<NegotiatedSession, CallError> {
    let Ladder { config, .. } = ladder;
    let modern = config.revisions.modern();
    if modern.is_empty()
        || (config.era_hint == Some(EraHint::Legacy) && !config.revisions.legacy().is_empty())
    {
        let attempt = ladder.dial(DialStep::Legacy, None).await?;
        return Box::pin(ladder.legacy(attempt, ProbeLeftovers::default(), SwitchBack::Allowed)).await;
    }
    ladder.modern(modern[0]).await
}

/// The state of a failed probe that the following handshake still needs.
#[derive(Default)]
struct ProbeLeftovers {
    /// The probe itself, which may still get a response.
    probe: Option<Exchange>,
    /// The revisions that the server named; the newest common one is requested first.
    named: Vec<String>,
    /// The messages that the server sent meanwhile.
    early: EarlyMessages,
}

/// Whether a server that turns out to be modern during the handshake may be probed again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SwitchBack {
    Allowed,
    Done,
}

/// The inputs of opening one session.
struct Ladder<'a> {
    dial: &'a dyn Dial,
    config: &'a SessionConfig,
    ids: &'a AtomicI64,
    current: &'a CurrentLink,
}

impl Ladder<'_> {
    async fn dial(&self, step: DialStep, previous: Option<Attempt>) -> Result<Attempt, CallError> {
        let attempt = Attempt::dial(self.dial, step, previous).await?;
        *self.current.0.lock() = Some(Arc::clone(&attempt.link));
        Ok(attempt)
    }

    fn next_id(&self) -> RequestId {
        RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates the error for no common revision, with the server's own error.
    fn no_common_revision(&self, theirs: Vec<String>, refusal: Option<RpcError>) -> CallError {
        CallError::NoCommonRevision {
            ours: self.config.revisions.all(),
            theirs,
            refusal: refusal.map(Box::new),
        }
    }

    async fn modern(&self, revision: Revision) -> Result<NegotiatedSession, CallError> {
        let mut attempt = self.dial(DialStep::Modern, None).await?;
        let mut early = EarlyMessages::default();
        let mut revision = revision;
        // One retry when the server names another revision, or the same one again.
        for _ in 0..2 {
            let mut probe = self.send_probe(&attempt, revision)?;
            let asked = early.collect_while(&*attempt.link, attempt.inbound.as_mut(), probe.done());
            let outcome = tokio::time::timeout(self.config.limits.probe, asked).await;
            let (verdict, rejection) = match outcome {
                Ok(Ok(outcome)) => {
                    let rejection = outcome.as_ref().err().cloned();
                    (modern::interpret_probe(outcome, &self.config.revisions.modern()), rejection)
                }
                // A malformed response is a sign of the legacy era.
                Ok(Err(LinkError::Malformed(_) | LinkError::TooLarge { .. })) => {
                    (ProbeOutcome::Legacy(Vec::new()), None)
                }
                Ok(Err(error)) => return Box::pin(self.recover_from_lost_probe(Some(attempt), error)).await,
                Err(_) if self.may_fall_back() && self.dial.probe_may_kill_server() => {
                    // The probe may still get a response: wait for it and for the handshake, and take the first.
                    let leftovers = ProbeLeftovers { probe: Some(probe), early, ..ProbeLeftovers::default() };
                    // A server that is slow to start may exit on the probe.
                    return self.handshake_or_redial(attempt, leftovers).await;
                }
                Err(_) => {
                    let (after, hint) = (self.config.limits.probe, attempt.link.hint());
                    return Err(CallError::TimedOut { kind: TimeoutKind::Startup, after, hint });
                }
            };
            match verdict {
                ProbeOutcome::Modern(info) => return self.opened_modern(attempt, info, early),
                ProbeOutcome::Again(named) => revision = named,
                ProbeOutcome::Foreign(theirs) => return Err(self.no_common_revision(theirs, rejection)),
                ProbeOutcome::Refused(error) => return Err(CallError::Remote(error)),
                ProbeOutcome::Legacy(theirs) if !self.may_fall_back() => {
                    // A server known to be modern that only returns an error has failed; it has not changed its era.
                    let known = self.config.era_hint == Some(EraHint::Modern) && theirs.is_empty();
                    return Err(match rejection {
                        Some(error) if known => CallError::Remote(error),
                        rejection => self.no_common_revision(theirs, rejection),
                    });
                }
                ProbeOutcome::Legacy(named) => {
                    let before = Arc::clone(&attempt.link);
                    let attempt = self.dial(DialStep::Legacy, Some(attempt)).await?;
                    // Requests from another link cannot be answered on this one.
                    let early =
                        if Arc::ptr_eq(&before, &attempt.link) { early } else { EarlyMessages::default() };
                    let leftovers = ProbeLeftovers { named, early, ..ProbeLeftovers::default() };
                    // It has responded to the probe, and may still exit on it.
                    return self.handshake_or_redial(attempt, leftovers).await;
                }
            }
        }
        Err(self.no_common_revision(vec![revision.to_string()], None))
    }

    /// Performs the handshake after a probe, and once more on a new link when the server exits on the probe.
    ///
    /// Boxed, as every step that not all servers take: many concurrent connects should not allocate memory for all of them.
    async fn handshake_or_redial(
        &self,
        attempt: Attempt,
        leftovers: ProbeLeftovers,
    ) -> Result<NegotiatedSession, CallError> {
        match Box::pin(self.legacy(attempt, leftovers, SwitchBack::Allowed)).await {
            Err(CallError::Link(error)) => Box::pin(self.recover_from_lost_probe(None, error)).await,
            other => other,
        }
    }

    fn may_fall_back(&self) -> bool {
        self.config.era_hint != Some(EraHint::Modern) && !self.config.revisions.legacy().is_empty()
    }

    /// Handles a link that failed during the probe: a legacy server may have exited on it.
    async fn recover_from_lost_probe(
        &self,
        attempt: Option<Attempt>,
        error: LinkError,
    ) -> Result<NegotiatedSession, CallError> {
        // An old server rejects an unknown request on the transport level.
        let died = matches!(error, LinkError::Exited(_) | LinkError::Lost { .. })
            && self.dial.probe_may_kill_server();
        if !(died || error.is_refused()) || !self.may_fall_back() {
            return Err(error.into());
        }
        tracing::debug!(%error, "the probe failed; retrying with a handshake");
        match self.dial(DialStep::Legacy, attempt).await {
            Ok(again) => self.legacy(again, ProbeLeftovers::default(), SwitchBack::Done).await,
            // There is no second link: report why the first one failed.
            Err(CallError::Closed) => Err(error.into()),
            Err(other) => Err(other),
        }
    }

    fn send_probe(&self, attempt: &Attempt, revision: Revision) -> Result<Exchange, CallError> {
        let SessionConfig { implementation, modern_capabilities, .. } = self.config;
        modern::discover(&*attempt.link, self.next_id(), revision, implementation, modern_capabilities)
    }

    fn opened_modern(
        &self,
        attempt: Attempt,
        info: Box<SessionInfo>,
        early: EarlyMessages,
    ) -> Result<NegotiatedSession, CallError> {
        let SessionConfig { implementation, modern_capabilities, .. } = self.config;
        let dialect = ClientDialect::Modern(modern::ModernClient::new(
            info.revision,
            implementation,
            modern_capabilities,
        )?);
        let Attempt { link, inbound } = attempt;
        link.agreed(crate::link::Agreement { batches: false, revision: info.revision.as_str() });
        Ok(NegotiatedSession { link, dialect, info, inbound, early })
    }

    /// Performs the handshake, over the dialled binding or, when the server rejects it there, over the oldest one.
    async fn legacy(
        &self,
        attempt: Attempt,
        leftovers: ProbeLeftovers,
        switch_back: SwitchBack,
    ) -> Result<NegotiatedSession, CallError> {
        match self.handshake(attempt, leftovers, switch_back).await {
            Err(CallError::Link(rejection)) if rejection.is_refused() && self.dial.has_oldest() => {
                tracing::debug!(%rejection, "the server rejected the handshake; trying the oldest binding");
                let attempt = match self.dial(DialStep::Oldest, None).await {
                    // There is no older binding either: report the first rejection.
                    Err(CallError::Link(older)) if older.is_refused() => return Err(rejection.into()),
                    other => other?,
                };
                Box::pin(self.handshake(attempt, ProbeLeftovers::default(), SwitchBack::Done)).await
            }
            other => other,
        }
    }

    async fn handshake(
        &self,
        mut attempt: Attempt,
        leftovers: ProbeLeftovers,
        switch_back: SwitchBack,
    ) -> Result<NegotiatedSession, CallError> {
        let ProbeLeftovers { mut probe, named, mut early } = leftovers;
        let legacy = self.config.revisions.legacy();
        let is_named = |revision: &&Revision| named.iter().any(|name| name == revision.as_str());
        let Some(&first) = legacy.iter().find(is_named).or(legacy.first()) else {
            return Err(self.no_common_revision(Vec::new(), None));
        };
        let mut revision = first;
        // One retry when the server names a revision that it accepts.
        for _ in 0..2 {
            let answered = {
                let handshake = std::pin::pin!(legacy::handshake(
                    &*attempt.link,
                    self.next_id(),
                    revision,
                    (&self.config.implementation, &self.config.legacy_capabilities),
                    (attempt.inbound.as_mut(), &mut early),
                ));
                race_with_probe(handshake, probe.as_mut(), &self.config.revisions.modern()).await?
            };
            match answered {
                FirstResponse::Probe(info) => return self.opened_modern(attempt, info, early),
                FirstResponse::Handshake(HandshakeOutcome::Open(info)) if legacy.contains(&info.revision) => {
                    let dialect = ClientDialect::Legacy(legacy::LegacyClient { revision: info.revision });
                    legacy::send_initialized(&*attempt.link, info.revision)?;
                    let Attempt { link, inbound } = attempt;
                    return Ok(NegotiatedSession { link, dialect, info, inbound, early });
                }
                FirstResponse::Handshake(HandshakeOutcome::Open(info)) => {
                    return Err(self.no_common_revision(vec![info.revision.to_string()], None));
                }
                FirstResponse::Handshake(HandshakeOutcome::IsModern(_, rejection))
                    if switch_back == SwitchBack::Allowed && !self.config.revisions.modern().is_empty() =>
                {
                    let mut probe = self.send_probe(&attempt, self.config.revisions.modern()[0])?;
                    let outcome = probe.done().await?;
                    return match modern::interpret_probe(outcome, &self.config.revisions.modern()) {
                        ProbeOutcome::Modern(info) => self.opened_modern(attempt, info, early),
                        _ => Err(self.no_common_revision(Vec::new(), Some(rejection))),
                    };
                }
                FirstResponse::Handshake(HandshakeOutcome::IsModern(theirs, rejection)) => {
                    return Err(self.no_common_revision(theirs, Some(rejection)));
                }
                FirstResponse::Handshake(HandshakeOutcome::Offers(theirs, rejection)) => {
                    let next =
                        legacy.iter().find(|r| **r != revision && theirs.iter().any(|t| t == r.as_str()));
                    match next {
                        Some(next) => revision = *next,
                        None => return Err(self.no_common_revision(theirs, rejection)),
                    }
                }
                FirstResponse::Handshake(HandshakeOutcome::Refused(error)) => {
                    return Err(CallError::Remote(error));
                }
            }
            probe = None;
        }
        Err(self.no_common_revision(vec![revision.to_string()], None))
    }
}

/// The usable response: the late one to the probe, or the one to the handshake.
enum FirstResponse {
    Probe(Box<SessionInfo>),
    Handshake(HandshakeOutcome),
}

/// The first response of a race between a late probe and a handshake.
enum ProbeRace {
    Probe(Result<Result<Raw, RpcError>, LinkError>),
    Handshake(Result<HandshakeOutcome, CallError>),
}

/// Waits for the handshake, or for the late response to the probe if that comes first and is modern.
async fn race_with_probe(
    mut handshake: Pin<&mut impl Future<Output = Result<HandshakeOutcome, CallError>>>,
    probe: Option<&mut Exchange>,
    modern: &[Revision],
) -> Result<FirstResponse, CallError> {
    let Some(probe) = probe else { return handshake.await.map(FirstResponse::Handshake) };
    // The probe first: a server that was slow to start responds to both at once, and its response to the probe counts.
    let mut late = std::pin::pin!(probe.done());
    let winner = poll_fn(|cx| match late.as_mut().poll(cx) {
        Poll::Ready(late) => Poll::Ready(ProbeRace::Probe(late)),
        Poll::Pending => handshake.as_mut().poll(cx).map(ProbeRace::Handshake),
    });
    let late = match winner.await {
        ProbeRace::Probe(late) => late,
        ProbeRace::Handshake(outcome) => return outcome.map(FirstResponse::Handshake),
    };
    if let Ok(outcome) = late
        && let ProbeOutcome::Modern(info) = modern::interpret_probe(outcome, modern)
    {
        return Ok(FirstResponse::Probe(info));
    }
    handshake.await.map(FirstResponse::Handshake)
}
