//! Cache of verified tokens, by the SHA-256 of the token.
//!
//! Invariants: only verified tokens get in; an entry lives for at most [`MAX_LIFETIME`] and not longer than its token. Two
//! generations of half the capacity each: when the young one is full, it replaces the old one. A flood of valid tokens
//! thus costs one insertion each, without a search for what to evict, and tokens in use are moved to the young
//! generation again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use switchboard_http::VerifiedCaller;
use tokio::time::Instant;

/// How long a verified token is accepted without being verified again: a revocation takes effect at the latest then.
const MAX_LIFETIME: Duration = Duration::from_secs(60);

/// The cache of verified tokens.
pub(crate) struct TokenCache {
    // Held for a map operation, never across an await.
    generations: Mutex<Generations>,
    generation_capacity: usize,
}

#[derive(Default)]
struct Generations {
    young: HashMap<TokenDigest, CachedToken>,
    old: HashMap<TokenDigest, CachedToken>,
}

/// The SHA-256 of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

struct CachedToken {
    caller: Arc<VerifiedCaller>,
    expires: Instant,
}

impl TokenDigest {
    /// Returns the digest of a token.
    pub(crate) fn of(token: &str) -> Self {
        let digest = digest(&SHA256, token.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl TokenCache {
    /// Returns an empty cache.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { generations: Mutex::default(), generation_capacity: (capacity / 2).max(1) }
    }

    /// Returns the caller of a token that was verified before.
    pub(crate) fn get(&self, token: TokenDigest) -> Option<Arc<VerifiedCaller>> {
        let now = Instant::now();
        let mut generations = self.generations.lock();
        if let Some(cached) = generations.young.get(&token) {
            return (now < cached.expires).then(|| Arc::clone(&cached.caller));
        }
        let cached = generations.old.remove(&token).filter(|cached| now < cached.expires)?;
        let caller = Arc::clone(&cached.caller);
        let retired = generations.insert(token, cached, self.generation_capacity);
        drop(generations);
        drop(retired);
        Some(caller)
    }

    /// Adds a verified token that remains valid for this long.
    pub(crate) fn insert(
        &self,
        token: TokenDigest,
        caller: Arc<VerifiedCaller>,
        remaining: Option<Duration>,
    ) {
        let lifetime = remaining.map_or(MAX_LIFETIME, |remaining| remaining.min(MAX_LIFETIME));
        let cached = CachedToken { caller, expires: Instant::now() + lifetime };
        let retired = self.generations.lock().insert(token, cached, self.generation_capacity);
        // Thousands of entries: freed without the lock.
        drop(retired);
    }
}

impl Generations {
    /// Inserts into the young generation. Returns a generation that is no longer needed.
    fn insert(
        &mut self,
        token: TokenDigest,
        cached: CachedToken,
        capacity: usize,
    ) -> Option<HashMap<TokenDigest, CachedToken>> {
        let retired = (self.young.len() >= capacity).then(|| {
            let young = std::mem::take(&mut self.young);
            std::mem::replace(&mut self.old, young)
        });
        self.young.insert(token, cached);
        retired
    }
}

impl std::fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Arc<VerifiedCaller> {
        Arc::new(VerifiedCaller::new("ada"))
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_lives_for_a_minute_and_not_longer_than_its_token() {
        let cache = TokenCache::new(10);
        let digest = TokenDigest::of;
        cache.insert(digest("long"), caller(), Some(Duration::from_secs(3600)));
        cache.insert(digest("short"), caller(), Some(Duration::from_secs(5)));
        cache.insert(digest("unknown"), caller(), None);
        for (elapsed, valid) in
            [(0, ["long", "short", "unknown"].as_slice()), (5, &["long", "unknown"]), (55, &[])]
        {
            tokio::time::advance(Duration::from_secs(elapsed)).await;
            let names = ["long", "short", "unknown"].into_iter();
            assert_eq!(names.filter(|name| cache.get(digest(name)).is_some()).collect::<Vec<_>>(), valid);
        }
        assert!(cache.get(digest("other")).is_none());
    }

    #[tokio::test]
    async fn a_flood_of_tokens_stays_within_the_capacity_and_keeps_tokens_in_use() {
        let cache = TokenCache::new(100);
        let in_use = TokenDigest::of("in use");
        cache.insert(in_use, caller(), None);
        for number in 0..10_000 {
            cache.insert(TokenDigest::of(&number.to_string()), caller(), None);
            let generations = cache.generations.lock();
            assert!(generations.young.len() + generations.old.len() <= 100);
            drop(generations);
            assert!(cache.get(in_use).is_some(), "{number}");
        }
        assert!(cache.get(TokenDigest::of("0")).is_none());
    }
}
