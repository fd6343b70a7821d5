//! Cache of the outcome of verifications, by the digest of the token.
//!
//! Invariants: an entry lives for at most the lifetime of the cache and not longer than its token. Two generations of
//! half the capacity each: when the young one is full, it replaces the old one. A flood of tokens thus costs one
//! insertion each, without a search for what to evict, and tokens in use are moved to the young generation again.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::resource_server::token_digest::TokenDigest;

/// A cache by token.
pub(crate) struct TokenCache<V> {
    // Held for a map operation, never across an await.
    generations: Mutex<Generations<V>>,
    generation_capacity: usize,
    max_lifetime: Duration,
}

struct Generations<V> {
    young: HashMap<TokenDigest, CachedValue<V>>,
    old: HashMap<TokenDigest, CachedValue<V>>,
}

struct CachedValue<V> {
    value: V,
    expires: Instant,
}

impl<V: Clone> TokenCache<V> {
    /// Returns an empty cache of so many entries, which live for so long.
    pub(crate) fn new(capacity: usize, max_lifetime: Duration) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new() };
        let generation_capacity = (capacity / 2).max(1);
        Self { generations: Mutex::new(generations), generation_capacity, max_lifetime }
    }

    /// Returns the value of a token.
    pub(crate) fn get(&self, token: TokenDigest) -> Option<V> {
        let now = Instant::now();
        let mut generations = self.generations.lock();
        if let Some(cached) = generations.young.get(&token) {
            return (now < cached.expires).then(|| cached.value.clone());
        }
        let cached = generations.old.remove(&token).filter(|cached| now < cached.expires)?;
        let value = cached.value.clone();
        let retired = generations.insert(token, cached, self.generation_capacity);
        drop(generations);
        drop(retired);
        Some(value)
    }

    /// Adds a token that remains valid for this long.
    pub(crate) fn insert(&self, token: TokenDigest, value: V, remaining: Option<Duration>) {
        let lifetime = remaining.map_or(self.max_lifetime, |remaining| remaining.min(self.max_lifetime));
        let cached = CachedValue { value, expires: Instant::now() + lifetime };
        let retired = self.generations.lock().insert(token, cached, self.generation_capacity);
        // Thousands of entries: freed without the lock.
        drop(retired);
    }
}

impl<V> Generations<V> {
    /// Inserts into the young generation. Returns a generation that is no longer needed.
    fn insert(
        &mut self,
        token: TokenDigest,
        cached: CachedValue<V>,
        capacity: usize,
    ) -> Option<HashMap<TokenDigest, CachedValue<V>>> {
        let retired = (self.young.len() >= capacity).then(|| {
            let young = std::mem::take(&mut self.young);
            std::mem::replace(&mut self.old, young)
        });
        self.young.insert(token, cached);
        retired
    }
}

impl<V> std::fmt::Debug for TokenCache<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource_server::token_digest::TokenHasher;

    #[tokio::test(start_paused = true)]
    async fn an_entry_lives_for_a_minute_and_not_longer_than_its_token() {
        let cache = TokenCache::new(10, Duration::from_secs(60));
        let hasher = TokenHasher::new();
        let digest = |token| hasher.digest(token);
        cache.insert(digest("long"), 1, Some(Duration::from_secs(3600)));
        cache.insert(digest("short"), 2, Some(Duration::from_secs(5)));
        cache.insert(digest("unknown"), 3, None);
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
        let cache = TokenCache::new(100, Duration::from_secs(60));
        let hasher = TokenHasher::new();
        let in_use = hasher.digest("in use");
        cache.insert(in_use, (), None);
        for number in 0..10_000 {
            cache.insert(hasher.digest(&number.to_string()), (), None);
            let generations = cache.generations.lock();
            assert!(generations.young.len() + generations.old.len() <= 100);
            drop(generations);
            assert!(cache.get(in_use).is_some(), "{number}");
        }
        assert!(cache.get(hasher.digest("0")).is_none());
    }
}
