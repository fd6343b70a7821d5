//! The rate limiter: finds the buckets of a request.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::bucket::BucketRate;
use super::error::RateLimited;
use super::key::BucketKey;
use super::limit_document::read_limits;
use super::memory_limit_store::MemoryLimitStore;
use super::store::{BucketRequest, LimitStore, TakeOutcome};
use crate::policy::{
    Effect, PolicyError, Selector, Subject, Target, TargetView, parse_document, parse_section,
};

/// The name of the limit that a full store reports.
const STORE_LIMIT: &str = "tracked callers";

/// A request that is limited.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Operation<'a> {
    /// A call of a target, after the policy allowed it.
    Call(&'a Target<'a>),
    /// A list of tools, resources, templates or prompts.
    List,
    /// `initialize` or `server/discover`.
    Discover,
}

/// The kind of an [`Operation`] in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    Call,
    List,
    Discover,
}

impl OperationKind {
    pub(super) const NAMES: [(&'static str, Self); 3] =
        [("call", Self::Call), ("list", Self::List), ("discover", Self::Discover)];
}

/// What a limit counts separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPart {
    Principal,
    Server,
    Tool,
    View,
}

impl KeyPart {
    pub(super) const NAMES: [(&'static str, Self); 4] = [
        ("principal", Self::Principal),
        ("server", Self::Server),
        ("tool", Self::Tool),
        ("view", Self::View),
    ];
}

/// A compiled limit.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    pub(super) name: Arc<str>,
    /// Empty for all.
    pub(super) operations: Vec<OperationKind>,
    pub(super) rate: BucketRate,
    pub(super) parts: Vec<KeyPart>,
    pub(super) selector: Arc<Selector>,
}

/// Limits with the store of their buckets.
pub struct RateLimiter {
    limits: Vec<RateLimit>,
    store: Arc<dyn LimitStore>,
    /// Requests that each limit has refused.
    refused: Box<[AtomicU64]>,
}

/// A limit, and what it has refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitStatus {
    /// Its name.
    pub name: Arc<str>,
    /// What it counts separately, such as `principal`; empty if all requests are counted together.
    pub per: Vec<&'static str>,
    /// Its rate.
    pub rate: BucketRate,
    /// Requests that it has refused since the limits were set.
    pub refused: u64,
}

impl RateLimiter {
    /// Reads the `[[limit]]` tables of a policy document; the buckets are in memory.
    ///
    /// # Errors
    /// Names the line, the limit and the key that is invalid.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        Ok(Self::new(parse_document(text, read_limits)?, Arc::new(MemoryLimitStore::default())))
    }

    /// As [`Self::parse`], for a document in the table `section` of another document.
    ///
    /// # Errors
    /// As [`Self::parse`]; when there is no such table.
    pub fn parse_section(text: &str, section: &str) -> Result<Self, PolicyError> {
        let limits = parse_section(text, section, read_limits)?;
        Ok(Self::new(limits, Arc::new(MemoryLimitStore::default())))
    }

    fn new(limits: Vec<RateLimit>, store: Arc<dyn LimitStore>) -> Self {
        let refused = limits.iter().map(|_| AtomicU64::new(0)).collect();
        Self { limits, store, refused }
    }

    /// Returns the limits in order, with what each has refused.
    pub fn status(&self) -> Vec<LimitStatus> {
        let status = |(limit, refused): (&RateLimit, &AtomicU64)| LimitStatus {
            name: Arc::clone(&limit.name),
            per: limit.part_names(),
            rate: limit.rate,
            refused: refused.load(Ordering::Relaxed),
        };
        self.limits.iter().zip(&self.refused).map(status).collect()
    }

    /// Takes over the store of the limits that these ones replace: buckets of unchanged names keep their state.
    #[must_use]
    pub fn with_state_of(mut self, replaced: &Self) -> Self {
        self.store = Arc::clone(&replaced.store);
        self
    }

    /// Replaces the store.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn LimitStore>) -> Self {
        self.store = store;
        self
    }

    /// Replaces the limits and keeps the store: buckets of unchanged names keep their state.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn reload(&self, text: &str) -> Result<Self, PolicyError> {
        Ok(Self::new(parse_document(text, read_limits)?, Arc::clone(&self.store)))
    }

    /// Returns whether no request is limited.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Returns the limits that apply to a request, by name, with their rates.
    pub fn applying<'a>(
        &'a self,
        subject: &Subject<'_>,
        operation: &Operation<'_>,
    ) -> Vec<(&'a str, BucketRate)> {
        let applying = self.limits.iter().filter(|limit| limit.applies(subject, operation));
        applying.map(|limit| (&*limit.name, limit.rate)).collect()
    }

    /// Takes a token from every bucket of the request, or refuses it and takes none.
    ///
    /// # Errors
    /// Names the limit that refused, and the time until a retry can pass.
    pub async fn check(&self, subject: &Subject<'_>, operation: &Operation<'_>) -> Result<(), RateLimited> {
        self.check_all(subject, std::slice::from_ref(operation)).await
    }

    /// As [`Self::check`], for a request of several operations: takes a token for each of them from each of its buckets,
    /// or refuses the request and takes none.
    ///
    /// # Errors
    /// As [`Self::check`]; also when the request needs more tokens of a bucket than it ever has.
    pub async fn check_all(
        &self,
        subject: &Subject<'_>,
        operations: &[Operation<'_>],
    ) -> Result<(), RateLimited> {
        let (mut limits, mut buckets): (Vec<&RateLimit>, Vec<BucketRequest>) = Default::default();
        let mut known: HashMap<BucketKey, usize> = HashMap::new();
        for operation in operations {
            for limit in self.limits.iter().filter(|limit| limit.applies(subject, operation)) {
                let key = limit.key(subject, operation);
                if let Some(at) = known.get(&key).copied() {
                    buckets[at].tokens = buckets[at].tokens.saturating_add(1);
                    continue;
                }
                // The buckets of one operation are of different limits.
                if operations.len() > 1 {
                    known.insert(key.clone(), buckets.len());
                }
                limits.push(limit);
                buckets.push(BucketRequest::new(key, limit.rate));
            }
        }
        if buckets.is_empty() {
            return Ok(());
        }
        let refused = match buckets.iter().position(|bucket| bucket.tokens > bucket.rate.burst()) {
            Some(at) => {
                let largest = Some(buckets[at].rate.burst());
                RateLimited { limit: limits[at].name.to_string(), retry_after: Duration::ZERO, largest }
            }
            None => match self.store.take(&buckets).await {
                TakeOutcome::Taken => return Ok(()),
                TakeOutcome::Refused { bucket, retry_after } => {
                    let limit = limits.get(bucket).map_or(STORE_LIMIT, |limit| &limit.name);
                    RateLimited { limit: limit.to_owned(), retry_after, largest: None }
                }
                TakeOutcome::Full { retry_after } => {
                    RateLimited { limit: STORE_LIMIT.to_owned(), retry_after, largest: None }
                }
            },
        };
        let counts = self.limits.iter().zip(&self.refused);
        if let Some((_, count)) = counts.into_iter().find(|(known, _)| *known.name == *refused.limit) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Err(refused)
    }
}

impl RateLimit {
    fn part_names(&self) -> Vec<&'static str> {
        let names = KeyPart::NAMES.into_iter().filter(|(_, part)| self.parts.contains(part));
        names.map(|(name, _)| name).collect()
    }

    fn applies(&self, subject: &Subject<'_>, operation: &Operation<'_>) -> bool {
        let kind = match operation {
            Operation::Call(_) => OperationKind::Call,
            Operation::List => OperationKind::List,
            Operation::Discover => OperationKind::Discover,
        };
        let is_operation = self.operations.is_empty() || self.operations.contains(&kind);
        // As a deny rule reads it: what may be meant is limited.
        is_operation
            && match operation {
                Operation::Call(target) => {
                    self.selector.matches(subject, &TargetView::new(target), Effect::Deny)
                }
                Operation::List | Operation::Discover => self.selector.matches_caller(subject, Effect::Deny),
            }
    }

    fn key(&self, subject: &Subject<'_>, operation: &Operation<'_>) -> BucketKey {
        let target = match operation {
            Operation::Call(target) => Some(*target),
            Operation::List | Operation::Discover => None,
        };
        let has = |part| self.parts.contains(&part);
        BucketKey::new(
            &self.name,
            &[
                subject.principal.filter(|_| has(KeyPart::Principal)),
                // A principal is unique per issuer.
                subject.issuer.filter(|_| has(KeyPart::Principal)),
                subject.view.filter(|_| has(KeyPart::View)),
                // A tool is unique per server.
                target.filter(|_| has(KeyPart::Server) || has(KeyPart::Tool)).map(|target| target.server),
                target.filter(|_| has(KeyPart::Tool)).map(|target| target.kind.base().as_str()),
                target.filter(|_| has(KeyPart::Tool)).map(|target| target.name),
            ],
        )
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").field("limits", &self.limits).finish_non_exhaustive()
    }
}
