//! Answers the server said may be kept, until they are stale.
//!
//! Keyed by method and parameters; one session has one authorization context, so nothing private is ever shared.
//! Answers that took a round of input are never kept.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{CacheHints, FromRaw, Raw};
use tokio::time::Instant;

use crate::request::Limits;

/// The answers kept.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    bytes: usize,
    /// Goes up with everything that makes answers stale, so that one under way then is not kept.
    epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    method: &'static str,
    params: String,
}

#[derive(Debug)]
struct Entry {
    answer: Raw,
    until: Instant,
}

impl Cache {
    /// A fresh answer, if there is one.
    pub(crate) fn find(&self, method: &'static str, params: &str) -> Option<Raw> {
        let mut kept = self.kept.lock();
        let key = Key { method, params: params.to_owned() };
        match kept.entries.get(&key) {
            Some(entry) if entry.until > Instant::now() => Some(entry.answer.clone()),
            Some(_) => {
                kept.remove(&key);
                None
            }
            None => None,
        }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.kept.lock().epoch
    }

    /// Keeps an answer as long as its hints say, unless something made it stale since `epoch`.
    pub(crate) fn keep(&self, method: &'static str, params: &str, answer: &Raw, epoch: u64, limits: &Limits) {
        let lifetime = lifetime(CacheHints::from_raw(answer).unwrap_or_default(), limits);
        let Some(ttl) = lifetime.filter(|ttl| !ttl.is_zero()) else { return };
        let mut kept = self.kept.lock();
        if kept.epoch != epoch || answer.len() > limits.cache_bytes {
            return;
        }
        let now = Instant::now();
        if kept.entries.len() >= limits.cache_entries || kept.bytes + answer.len() > limits.cache_bytes {
            kept.make_room(answer.len(), limits, now);
        }
        let key = Key { method, params: params.to_owned() };
        kept.remove(&key);
        // Copied, because a slice would keep the whole read buffer it came in.
        let Ok(answer) = Raw::parse(answer.as_str().to_owned()) else { return };
        kept.bytes += answer.len();
        kept.entries.insert(key, Entry { answer, until: now + ttl });
    }

    /// Forgets the answers of these methods.
    pub(crate) fn forget(&self, methods: &[&'static str]) {
        let mut kept = self.kept.lock();
        kept.epoch += 1;
        let stale: Vec<_> =
            kept.entries.keys().filter(|key| methods.contains(&key.method)).cloned().collect();
        stale.iter().for_each(|key| kept.remove(key));
    }
}

impl Kept {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.answer.len();
        }
    }

    /// Drops what is stale, then what would be stale soonest.
    fn make_room(&mut self, bytes: usize, limits: &Limits, now: Instant) {
        let held = &mut self.bytes;
        self.entries.retain(|_, entry| {
            let is_good = entry.until > now;
            *held -= if is_good { 0 } else { entry.answer.len() };
            is_good
        });
        while self.entries.len() >= limits.cache_entries || self.bytes + bytes > limits.cache_bytes {
            let soonest = self.entries.iter().min_by_key(|(_, entry)| entry.until);
            let Some(key) = soonest.map(|(key, _)| key.clone()) else { return };
            self.remove(&key);
        }
    }
}

/// How long the server says an answer may be kept, within our bound; `None` when it does not say.
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
    async fn kept_until_stale_and_never_for_other_parameters() {
        let (cache, limits) = (Cache::default(), Limits::default());
        cache.keep("resources/read", "a", &answer(1000), 0, &limits);
        assert!(cache.find("resources/read", "a").is_some());
        assert!(cache.find("resources/read", "b").is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(cache.find("resources/read", "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_while_the_answer_was_under_way_keeps_it_out() {
        let (cache, limits) = (Cache::default(), Limits::default());
        let epoch = cache.epoch();
        cache.forget(&["resources/read"]);
        cache.keep("resources/read", "a", &answer(1000), epoch, &limits);
        assert!(cache.find("resources/read", "a").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn bounded_in_entries_and_bytes() {
        let cache = Cache::default();
        let limits = Limits { cache_entries: 3, ..Limits::default() };
        for n in 0..10 {
            cache.keep("resources/read", &n.to_string(), &answer(1000 + n), 0, &limits);
        }
        assert_eq!(cache.kept.lock().entries.len(), 3);
        assert!(cache.find("resources/read", "9").is_some());
        let limits = Limits { cache_bytes: 10, ..Limits::default() };
        cache.keep("resources/read", "big", &answer(1), 0, &limits);
        assert!(cache.find("resources/read", "big").is_none());
    }
}
