//! Opening a session: climb from the modern era down to the legacy one, once, and remember the answer.
//!
//! The rules are those of spec 2026-07-28, basic/versioning. Falling back is keyed to no one error code; a server
//! that dies of the probe is started again and asked the old way; one known to be modern is never demoted.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Poll, ready};

use parking_lot::Mutex;
use switchboard_protocol::{ClientCapabilities, Implementation, Raw, RequestId, Revision, RpcError};

use crate::era::legacy::{self, Shaken};
use crate::era::modern::{self, Probed};
use crate::era::{ClientDialect, EraHint, RevisionPolicy, SessionInfo};
use crate::link::{BoxFuture, Dial, Exchange, Inbound, Inward, Link, LinkError, Post, Rung};
use crate::request::{CallError, Limits, TimeoutKind};

/// What a client brings to the opening.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    pub(crate) offer: RevisionPolicy,
    pub(crate) known: Option<EraHint>,
    pub(crate) who: Implementation,
    /// What is declared to a server of the legacy era.
    pub(crate) legacy_capabilities: ClientCapabilities,
    /// What is declared with every request of the modern era.
    pub(crate) modern_capabilities: ClientCapabilities,
    /// How long to wait and how much to take.
    pub(crate) limits: Limits,
    /// The roots a session begins with.
    pub(crate) roots: Vec<switchboard_protocol::Root>,
}

/// An open session.
pub(crate) struct Opened {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) dialect: ClientDialect,
    pub(crate) terms: Box<SessionInfo>,
    pub(crate) inbound: Option<Inbound>,
    pub(crate) stash: Stash,
}

/// What the server started while the session was being opened. Bounded: the oldest gives way, and is counted.
#[derive(Debug, Default)]
pub(crate) struct Stash(pub(crate) VecDeque<Inward>);

/// What is kept for an open session.
const MOST_STASHED: usize = 1024;

impl Stash {
    /// Waits for `answer`, keeping what arrives meanwhile. Pings are answered at once: servers may check on us.
    pub(crate) async fn keep_while<T>(
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
                // The answer first: what it settles is not held up by how much else is said.
                if let Poll::Ready(outcome) = answer.as_mut().poll(cx) {
                    return Poll::Ready(outcome);
                }
                if ended {
                    return Poll::Pending;
                }
                match ready!(inbound.poll_next(cx)) {
                    Some(inward) => self.hear(link, inward),
                    None => ended = true,
                }
            }
        })
        .await
    }

    fn hear(&mut self, link: &dyn Link, inward: Inward) {
        match inward {
            Inward::Upcall(upcall) if &*upcall.method == "ping" => {
                let _ = link.post(Post::Answer { id: &upcall.id, outcome: Ok(&Raw::empty_object()) });
            }
            inward => self.keep(link, inward),
        }
    }

    fn keep(&mut self, link: &dyn Link, inward: Inward) {
        if self.0.len() == MOST_STASHED {
            self.0.pop_front();
            link.counters().inspect(|counters| _ = counters.dropped_notes());
        }
        self.0.push_back(inward);
    }
}

/// A link on the way to a session.
struct Attempt {
    link: Arc<dyn Link>,
    inbound: Option<Inbound>,
}

impl Attempt {
    async fn dial(dial: &dyn Dial, rung: Rung, previous: Option<Self>) -> Result<Self, CallError> {
        let (before, inbound) = match previous {
            Some(Self { link, inbound }) => (Some(link), inbound),
            None => (None, None),
        };
        let link = dial.dial(rung, before.clone()).await?;
        // The same link again: what it says is already being heard.
        let same = before.is_some_and(|before| Arc::ptr_eq(&before, &link));
        let inbound = if same { inbound } else { link.inbound() };
        Ok(Self { link, inbound })
    }
}

/// Opens a session with whatever `dial` reaches.
///
/// Boxed: it is made once and not in every crate that connects, and its room is free again before the session needs any.
///
/// # Errors
/// When nothing can be reached, or no revision is shared.
pub(crate) fn climb<'a>(
    dial: &'a dyn Dial,
    opening: &'a Opening,
    ids: &'a AtomicI64,
) -> BoxFuture<'a, Result<Opened, CallError>> {
    Box::pin(climb_in_time(dial, opening, ids))
}

async fn climb_in_time(dial: &dyn Dial, opening: &Opening, ids: &AtomicI64) -> Result<Opened, CallError> {
    let climbing = Climbing::default();
    let within = opening.limits.startup;
    let climbed =
        tokio::time::timeout(within, climb_on(&Ladder { dial, opening, ids, climbing: &climbing })).await;
    climbed.unwrap_or_else(|_| {
        let hint = climbing.0.lock().as_ref().and_then(|link| link.hint());
        Err(CallError::TimedOut { phase: TimeoutKind::Startup, after: within, hint })
    })
}

/// The link being tried, for what it knows of a server that does not answer.
#[derive(Default)]
struct Climbing(Mutex<Option<Arc<dyn Link>>>);

async fn climb_on(ladder: &Ladder<'_>) -> Result<Opened, CallError> {
    let Ladder { opening, .. } = ladder;
    let modern = opening.offer.modern();
    if modern.is_empty() || (opening.known == Some(EraHint::Legacy) && !opening.offer.legacy().is_empty()) {
        let attempt = ladder.dial(Rung::Legacy, None).await?;
        return Box::pin(ladder.legacy(attempt, ProbeLeftovers::default(), SwitchBack::Allowed)).await;
    }
    ladder.modern(modern[0]).await
}

/// What a probe has left for the handshake after it.
#[derive(Default)]
struct ProbeLeftovers {
    /// The probe itself, which may still be answered.
    probe: Option<Exchange>,
    /// The revisions the server named; the newest that both speak is asked for first.
    named: Vec<String>,
    /// What the server started meanwhile.
    stash: Stash,
}

/// Whether a server that turns out modern in the middle of a handshake may still be asked the modern way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SwitchBack {
    Allowed,
    Done,
}

struct Ladder<'a> {
    dial: &'a dyn Dial,
    opening: &'a Opening,
    ids: &'a AtomicI64,
    climbing: &'a Climbing,
}

impl Ladder<'_> {
    async fn dial(&self, rung: Rung, previous: Option<Attempt>) -> Result<Attempt, CallError> {
        let attempt = Attempt::dial(self.dial, rung, previous).await?;
        *self.climbing.0.lock() = Some(Arc::clone(&attempt.link));
        Ok(attempt)
    }

    fn next_id(&self) -> RequestId {
        RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The error when no revision is shared, with what the server said itself.
    fn no_common(&self, theirs: Vec<String>, refusal: Option<RpcError>) -> CallError {
        CallError::NoCommonRevision { ours: self.opening.offer.all(), theirs, refusal: refusal.map(Box::new) }
    }

    async fn modern(&self, revision: Revision) -> Result<Opened, CallError> {
        let mut attempt = self.dial(Rung::Modern, None).await?;
        let mut stash = Stash::default();
        let mut revision = revision;
        // One more try when the server names another revision, or the same one again.
        for _ in 0..2 {
            let mut probe = self.probe(&attempt, revision)?;
            let asked = stash.keep_while(&*attempt.link, attempt.inbound.as_mut(), probe.done());
            let outcome = tokio::time::timeout(self.opening.limits.probe, asked).await;
            let (judged, refused) = match outcome {
                Ok(Ok(outcome)) => {
                    let refused = outcome.as_ref().err().cloned();
                    (modern::judge(outcome, &self.opening.offer.modern()), refused)
                }
                // An answer nobody can read is no answer of the modern era.
                Ok(Err(LinkError::Malformed(_) | LinkError::TooLarge { .. })) => {
                    (Probed::Legacy(Vec::new()), None)
                }
                Ok(Err(error)) => return Box::pin(self.fell(Some(attempt), error)).await,
                Err(_) if self.may_fall_back() && self.dial.probe_may_kill_server() => {
                    // It may still answer: listen for both, and take whichever comes first.
                    let heard = ProbeLeftovers { probe: Some(probe), stash, ..ProbeLeftovers::default() };
                    // Slow to start, it may die of the probe that was waiting for it.
                    return self.legacy_or_again(attempt, heard).await;
                }
                Err(_) => {
                    let (after, hint) = (self.opening.limits.probe, attempt.link.hint());
                    return Err(CallError::TimedOut { phase: TimeoutKind::Startup, after, hint });
                }
            };
            match judged {
                Probed::Modern(terms) => return self.opened_modern(attempt, terms, stash),
                Probed::Again(named) => revision = named,
                Probed::Foreign(theirs) => return Err(self.no_common(theirs, refused)),
                Probed::Refused(error) => return Err(CallError::Remote(error)),
                Probed::Legacy(theirs) if !self.may_fall_back() => {
                    // One that is known to be modern and only says no is out of order, not of another era.
                    let known = self.opening.known == Some(EraHint::Modern) && theirs.is_empty();
                    return Err(match refused {
                        Some(error) if known => CallError::Remote(error),
                        refused => self.no_common(theirs, refused),
                    });
                }
                Probed::Legacy(named) => {
                    let before = Arc::clone(&attempt.link);
                    let attempt = self.dial(Rung::Legacy, Some(attempt)).await?;
                    // What was started on another link is not answered on this one.
                    let stash = if Arc::ptr_eq(&before, &attempt.link) { stash } else { Stash::default() };
                    let heard = ProbeLeftovers { named, stash, ..ProbeLeftovers::default() };
                    // It said what it made of the probe, and may die of it all the same.
                    return self.legacy_or_again(attempt, heard).await;
                }
            }
        }
        Err(self.no_common(vec![revision.to_string()], None))
    }

    /// The handshake after a probe, and once more on a new link when the server dies of the probe meanwhile.
    ///
    /// Boxed, as every step that not all servers take: many connects at once should not hold room for all of them.
    async fn legacy_or_again(&self, attempt: Attempt, heard: ProbeLeftovers) -> Result<Opened, CallError> {
        match Box::pin(self.legacy(attempt, heard, SwitchBack::Allowed)).await {
            Err(CallError::Link(error)) => Box::pin(self.fell(None, error)).await,
            other => other,
        }
    }

    fn may_fall_back(&self) -> bool {
        self.opening.known != Some(EraHint::Modern) && !self.opening.offer.legacy().is_empty()
    }

    /// The link broke under the probe: a legacy server may have died of it.
    async fn fell(&self, attempt: Option<Attempt>, error: LinkError) -> Result<Opened, CallError> {
        // A refusal without words of the protocol is how an old server answers what it does not know.
        let died = matches!(error, LinkError::Exited(_) | LinkError::Lost { .. })
            && self.dial.probe_may_kill_server();
        if !(died || error.is_refused()) || !self.may_fall_back() {
            return Err(error.into());
        }
        tracing::debug!(%error, "the server does not take the probe; asking it again with a handshake");
        match self.dial(Rung::Legacy, attempt).await {
            Ok(again) => self.legacy(again, ProbeLeftovers::default(), SwitchBack::Done).await,
            // There is no second link to be had: what broke the first is the reason.
            Err(CallError::Closed) => Err(error.into()),
            Err(other) => Err(other),
        }
    }

    fn probe(&self, attempt: &Attempt, revision: Revision) -> Result<Exchange, CallError> {
        let Opening { who, modern_capabilities, .. } = self.opening;
        modern::discover(&*attempt.link, self.next_id(), revision, who, modern_capabilities)
    }

    fn opened_modern(
        &self,
        attempt: Attempt,
        terms: Box<SessionInfo>,
        stash: Stash,
    ) -> Result<Opened, CallError> {
        let Opening { who, modern_capabilities, .. } = self.opening;
        let dialect = ClientDialect::Modern(modern::Client::new(terms.revision, who, modern_capabilities)?);
        let Attempt { link, inbound } = attempt;
        link.agreed(crate::link::Agreement { batches: false, revision: terms.revision.as_str() });
        Ok(Opened { link, dialect, terms, inbound, stash })
    }

    /// The handshake, over the binding that was dialled or, when the server refuses it there, over the oldest one.
    async fn legacy(
        &self,
        attempt: Attempt,
        heard: ProbeLeftovers,
        switch_back: SwitchBack,
    ) -> Result<Opened, CallError> {
        match self.shake(attempt, heard, switch_back).await {
            Err(CallError::Link(refused)) if refused.is_refused() && self.dial.has_oldest() => {
                tracing::debug!(%refused, "the server refuses the handshake; trying its oldest binding");
                let attempt = match self.dial(Rung::Oldest, None).await {
                    // There is no older binding either: what was said first is the reason.
                    Err(CallError::Link(older)) if older.is_refused() => return Err(refused.into()),
                    other => other?,
                };
                Box::pin(self.shake(attempt, ProbeLeftovers::default(), SwitchBack::Done)).await
            }
            other => other,
        }
    }

    async fn shake(
        &self,
        mut attempt: Attempt,
        heard: ProbeLeftovers,
        switch_back: SwitchBack,
    ) -> Result<Opened, CallError> {
        let ProbeLeftovers { mut probe, named, mut stash } = heard;
        let offer = self.opening.offer.legacy();
        let is_named = |revision: &&Revision| named.iter().any(|name| name == revision.as_str());
        let Some(&first) = offer.iter().find(is_named).or(offer.first()) else {
            return Err(self.no_common(Vec::new(), None));
        };
        let mut revision = first;
        // One more try when the server names a revision it would take.
        for _ in 0..2 {
            let answered = {
                let shaking = std::pin::pin!(legacy::handshake(
                    &*attempt.link,
                    self.next_id(),
                    revision,
                    (&self.opening.who, &self.opening.legacy_capabilities),
                    (attempt.inbound.as_mut(), &mut stash),
                ));
                first_of(shaking, probe.as_mut(), &self.opening.offer.modern()).await?
            };
            match answered {
                First::Probe(terms) => return self.opened_modern(attempt, terms, stash),
                First::Shaken(Shaken::Open(terms)) if offer.contains(&terms.revision) => {
                    let dialect = ClientDialect::Legacy(legacy::Client { revision: terms.revision });
                    legacy::welcome(&*attempt.link, terms.revision)?;
                    let Attempt { link, inbound } = attempt;
                    return Ok(Opened { link, dialect, terms, inbound, stash });
                }
                First::Shaken(Shaken::Open(terms)) => {
                    return Err(self.no_common(vec![terms.revision.to_string()], None));
                }
                First::Shaken(Shaken::IsModern(_, refused))
                    if switch_back == SwitchBack::Allowed && !self.opening.offer.modern().is_empty() =>
                {
                    let mut probe = self.probe(&attempt, self.opening.offer.modern()[0])?;
                    let outcome = probe.done().await?;
                    return match modern::judge(outcome, &self.opening.offer.modern()) {
                        Probed::Modern(terms) => self.opened_modern(attempt, terms, stash),
                        _ => Err(self.no_common(Vec::new(), Some(refused))),
                    };
                }
                First::Shaken(Shaken::IsModern(theirs, refused)) => {
                    return Err(self.no_common(theirs, Some(refused)));
                }
                First::Shaken(Shaken::Offers(theirs, refused)) => {
                    let next =
                        offer.iter().find(|r| **r != revision && theirs.iter().any(|t| t == r.as_str()));
                    match next {
                        Some(next) => revision = *next,
                        None => return Err(self.no_common(theirs, refused)),
                    }
                }
                First::Shaken(Shaken::Refused(error)) => return Err(CallError::Remote(error)),
            }
            probe = None;
        }
        Err(self.no_common(vec![revision.to_string()], None))
    }
}

enum First {
    Probe(Box<SessionInfo>),
    Shaken(Shaken),
}

/// Which of the two was sooner.
enum ProbeRace {
    Late(Result<Result<Raw, RpcError>, LinkError>),
    Shaken(Result<Shaken, CallError>),
}

/// The handshake, or the late answer to the probe when that is a modern one and comes first.
async fn first_of(
    mut shaking: Pin<&mut impl Future<Output = Result<Shaken, CallError>>>,
    probe: Option<&mut Exchange>,
    offer: &[Revision],
) -> Result<First, CallError> {
    let Some(probe) = probe else { return shaking.await.map(First::Shaken) };
    // The probe first: a server that was slow to start answers both at once, and what it says to the probe counts.
    let mut late = std::pin::pin!(probe.done());
    let sooner = poll_fn(|cx| match late.as_mut().poll(cx) {
        Poll::Ready(late) => Poll::Ready(ProbeRace::Late(late)),
        Poll::Pending => shaking.as_mut().poll(cx).map(ProbeRace::Shaken),
    });
    let late = match sooner.await {
        ProbeRace::Late(late) => late,
        ProbeRace::Shaken(shaken) => return shaken.map(First::Shaken),
    };
    if let Ok(outcome) = late
        && let Probed::Modern(terms) = modern::judge(outcome, offer)
    {
        return Ok(First::Probe(terms));
    }
    shaking.await.map(First::Shaken)
}
