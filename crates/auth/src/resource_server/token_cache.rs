//! Cache of the outcome of verifications, by the fingerprint or the digest of the token.
//!
//! Invariants: an entry lives for at most the lifetime of the cache and not longer than its token. Two generations of
//! half the capacity each: when the young one is full, or as old as an entry may become, it replaces the old one. A flood
//! of tokens thus costs one insertion each, without a search for what to evict, and tokens in use are moved to the young
//! generation again. What has expired is freed by an insertion after at most another lifetime.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// A cache by token.
pub(crate) struct TokenCache<K, V> {
    // Held for a map operation, never across an await.
    generations: Mutex<Generations<K, V>>,
    generation_capacity: usize,
    max_lifetime: Duration,
}

struct Generations<K, V> {
    young: HashMap<K, CachedValue<V>>,
    old: HashMap<K, CachedValue<V>>,
    /// When the young generation is retired, full or not.
    retires: Instant,
}

struct CachedValue<V> {
    value: V,
    expires: Instant,
}

impl<K: Eq + Hash, V: Clone> TokenCache<K, V> {
    /// Returns an empty cache of so many entries, which live for so long.
    pub(crate) fn new(capacity: usize, max_lifetime: Duration) -> Self {
        let retires = Instant::now() + max_lifetime;
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), retires };
        let generation_capacity = (capacity / 2).max(1);
        Self { generations: Mutex::new(generations), generation_capacity, max_lifetime }
    }

    /// Returns the value of a token.
    pub(crate) fn get(&self, token: K) -> Option<V> {
        let now = Instant::now();
        let mut generations = self.generations.lock();
        if let Some(cached) = generations.young.get(&token) {
            return (now < cached.expires).then(|| cached.value.clone());
        }
        let cached = generations.old.remove(&token).filter(|cached| now < cached.expires)?;
        let value = cached.value.clone();
        let retired = self.retire(&mut generations, now);
        generations.young.insert(token, cached);
        drop(generations);
        drop(retired);
        Some(value)
    }

    /// Adds a token that remains valid for this long.
    pub(crate) fn insert(&self, token: K, value: V, remaining: Option<Duration>) {
        let now = Instant::now();
        let lifetime = remaining.map_or(self.max_lifetime, |remaining| remaining.min(self.max_lifetime));
        let cached = CachedValue { value, expires: now + lifetime };
        let mut generations = self.generations.lock();
        let retired = self.retire(&mut generations, now);
        generations.young.insert(token, cached);
        drop(generations);
        // Thousands of entries: freed without the lock.
        drop(retired);
    }

    /// Makes room in the young generation. Returns a generation that is no longer needed.
    fn retire(
        &self,
        generations: &mut Generations<K, V>,
        now: Instant,
    ) -> Option<HashMap<K, CachedValue<V>>> {
        let is_full = generations.young.len() >= self.generation_capacity;
        (is_full || now >= generations.retires).then(|| {
            generations.retires = now + self.max_lifetime;
            let young = std::mem::take(&mut generations.young);
            std::mem::replace(&mut generations.old, young)
        })
    }
}

impl<K, V> std::fmt::Debug for TokenCache<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_entry_lives_for_a_minute_and_not_longer_than_its_token() {
        let cache = TokenCache::new(10, Duration::from_secs(60));
        cache.insert("long", 1, Some(Duration::from_secs(3600)));
        cache.insert("short", 2, Some(Duration::from_secs(5)));
        cache.insert("unknown", 3, None);
        for (elapsed, valid) in
            [(0, ["long", "short", "unknown"].as_slice()), (5, &["long", "unknown"]), (55, &[])]
        {
            tokio::time::advance(Duration::from_secs(elapsed)).await;
            let names = ["long", "short", "unknown"].into_iter();
            assert_eq!(names.filter(|name| cache.get(name).is_some()).collect::<Vec<_>>(), valid);
        }
        assert!(cache.get("other").is_none());
    }

    #[tokio::test]
    async fn a_flood_of_tokens_stays_within_the_capacity_and_keeps_tokens_in_use() {
        let cache = TokenCache::new(100, Duration::from_secs(60));
        let in_use = u32::MAX;
        cache.insert(in_use, (), None);
        for number in 0..10_000 {
            cache.insert(number, (), None);
            let generations = cache.generations.lock();
            assert!(generations.young.len() + generations.old.len() <= 100);
            drop(generations);
            assert!(cache.get(in_use).is_some(), "{number}");
        }
        assert!(cache.get(0).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_expired_is_freed() {
        let cache = TokenCache::new(100, Duration::from_secs(60));
        cache.insert(0, (), None);
        for number in 1..5 {
            tokio::time::advance(Duration::from_secs(60)).await;
            cache.insert(number, (), None);
            let generations = cache.generations.lock();
            assert_eq!((generations.young.len(), generations.old.len()), (1, 1));
        }
    }
}
