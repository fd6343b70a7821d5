//! A cache of results that the server declared cacheable, until they are stale.
//!
//! Keyed by method and parameters; one session has one authorization context, so nothing private is ever shared.
//! Results that took a round of input are never cached.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{CacheHints, FromRaw, Raw};
use tokio::time::Instant;

use crate::request::Limits;

/// The cache of results of one session.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    entries: HashMap<CacheKey, CacheEntry>,
    bytes: usize,
    /// Incremented by every invalidation, so that a result requested before it is not cached.
    epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CacheKey {
    method: &'static str,
    params: String,
}

#[derive(Debug)]
struct CacheEntry {
    answer: Raw,
    expires_at: Instant,
}

impl Cache {
    /// Returns a fresh result, if there is one.
    pub(crate) fn get(&self, method: &'static str, params: &str) -> Option<Raw> {
        let mut state = self.state.lock();
        let key = CacheKey { method, params: params.to_owned() };
        match state.entries.get(&key) {
            Some(entry) if entry.expires_at > Instant::now() => Some(entry.answer.clone()),
            Some(_) => {
                state.remove(&key);
                None
            }
            None => None,
        }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.state.lock().epoch
    }

    /// Caches a result for the lifetime in its hints, unless the cache was invalidated since `epoch`.
    pub(crate) fn insert(
        &self,
        method: &'static str,
        params: &str,
        answer: &Raw,
        epoch: u64,
        limits: &Limits,
    ) {
        let lifetime = lifetime(CacheHints::from_raw(answer).unwrap_or_default(), limits);
        let Some(ttl) = lifetime.filter(|ttl| !ttl.is_zero()) else { return };
        let mut state = self.state.lock();
        if state.epoch != epoch || answer.len() > limits.cache_bytes {
            return;
        }
        let now = Instant::now();
        if state.entries.len() >= limits.cache_entries || state.bytes + answer.len() > limits.cache_bytes {
            state.make_room(answer.len(), limits, now);
        }
        let key = CacheKey { method, params: params.to_owned() };
        state.remove(&key);
        // Copied, because a slice would keep its whole read buffer alive.
        let Ok(answer) = Raw::parse(answer.as_str().to_owned()) else { return };
        state.bytes += answer.len();
        state.entries.insert(key, CacheEntry { answer, expires_at: now + ttl });
    }

    /// Removes the results of these methods.
    pub(crate) fn invalidate(&self, methods: &[&'static str]) {
        let mut state = self.state.lock();
        state.epoch += 1;
        let stale: Vec<_> =
            state.entries.keys().filter(|key| methods.contains(&key.method)).cloned().collect();
        stale.iter().for_each(|key| state.remove(key));
    }
}

impl CacheState {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.answer.len();
        }
    }

    /// Removes the stale entries, then those that expire first.
    fn make_room(&mut self, bytes: usize, limits: &Limits, now: Instant) {
        let bytes_held = &mut self.bytes;
        self.entries.retain(|_, entry| {
            let is_fresh = entry.expires_at > now;
            *bytes_held -= if is_fresh { 0 } else { entry.answer.len() };
            is_fresh
        });
        while self.entries.len() >= limits.cache_entries || self.bytes + bytes > limits.cache_bytes {
            let first_to_expire = self.entries.iter().min_by_key(|(_, entry)| entry.expires_at);
            let Some(key) = first_to_expire.map(|(key, _)| key.clone()) else { return };
            self.remove(&key);
        }
    }
}

/// Returns the lifetime that the server grants a result, capped by our limit; `None` when it names none.
pub(crate) fn lifetime(hints: CacheHints, limits: &Limits) -> Option<Duration> {
    Some(Duration::from_millis(hints.ttl_ms?).min(limits.cache_ttl))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ttl: u64) -> Raw {
        Raw::from(serde_json::json!({"contents": [], "ttlMs": ttl, "cacheScope": "private"}))
    }

    #[tokio::test(start_paused = true)]
    async fn entries_expire_and_are_keyed_by_parameters() {
        let (cache, limits) = (Cache::default(), Limits::default());
        cache.insert("resources/read", "a", &answer(1000), 0, &limits);
        assert!(cache.get("resources/read", "a").is_some());
        assert!(cache.get("resources/read", "b").is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(cache.get("resources/read", "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_invalidated_in_flight_is_not_cached() {
        let (cache, limits) = (Cache::default(), Limits::default());
        let epoch = cache.epoch();
        cache.invalidate(&["resources/read"]);
        cache.insert("resources/read", "a", &answer(1000), epoch, &limits);
        assert!(cache.get("resources/read", "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn bounded_in_entries_and_bytes() {
        let cache = Cache::default();
        let limits = Limits { cache_entries: 3, ..Limits::default() };
        for n in 0..10 {
            cache.insert("resources/read", &n.to_string(), &answer(1000 + n), 0, &limits);
        }
        assert_eq!(cache.state.lock().entries.len(), 3);
        assert!(cache.get("resources/read", "9").is_some());
        let limits = Limits { cache_bytes: 10, ..Limits::default() };
        cache.insert("resources/read", "big", &answer(1), 0, &limits);
        assert!(cache.get("resources/read", "big").is_none());
    }
}
