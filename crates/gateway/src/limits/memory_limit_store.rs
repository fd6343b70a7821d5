//! Buckets in the memory of this process.
//!
//! Invariant: a bucket is forgotten only when it is full, because then it equals a new one. The number of buckets is
//! bounded; when all of them are in use, a request with a new key is refused.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_session::link::BoxFuture;
use tokio::time::Instant;

use super::bucket::TokenBucket;
use super::key::BucketKey;
use super::store::{BucketRequest, LimitStore, TakeOutcome};

/// The default number of buckets.
const DEFAULT_CAPACITY: usize = 100_000;

/// A [`LimitStore`] in memory. Every replica counts for itself.
pub struct MemoryLimitStore {
    capacity: usize,
    // A std-like mutex: held for a few map operations, never across an await.
    buckets: Mutex<BucketMap>,
}

#[derive(Default)]
struct BucketMap {
    by_key: HashMap<BucketKey, TokenBucket>,
    /// The same buckets by the time when they are full: the first is the first that may be forgotten.
    by_full_at: BTreeSet<(Instant, BucketKey)>,
}

impl MemoryLimitStore {
    /// Creates a store of at most this many buckets; at least one.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), buckets: Mutex::default() }
    }

    /// Returns the number of buckets in use.
    pub fn len(&self) -> usize {
        self.buckets.lock().by_key.len()
    }

    /// Returns whether no bucket is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn take_at(&self, buckets: &[BucketRequest], now: Instant) -> TakeOutcome {
        let mut map = self.buckets.lock();
        let mut taken = Vec::with_capacity(buckets.len());
        let mut refused: Option<(usize, Duration)> = None;
        for (index, request) in buckets.iter().enumerate() {
            let bucket = match map.by_key.get(&request.key).copied() {
                Some(kept) => {
                    let adapted = kept.adapted(&request.rate, now);
                    if adapted != kept {
                        // Also if the request is refused: the time until a token is there counts from now on.
                        map.insert(&request.key, adapted);
                    }
                    adapted
                }
                None => TokenBucket::full(now),
            };
            match bucket.take(request.tokens, &request.rate, now) {
                Ok(bucket) => taken.push(bucket),
                Err(wait) if refused.is_none_or(|(_, longest)| wait > longest) => {
                    refused = Some((index, wait))
                }
                Err(_) => {}
            }
        }
        if let Some((bucket, retry_after)) = refused {
            return TakeOutcome::Refused { bucket, retry_after };
        }
        let new = buckets.iter().filter(|request| !map.by_key.contains_key(&request.key)).count();
        if let Err(retry_after) = map.make_room(new, self.capacity, now) {
            return TakeOutcome::Full { retry_after };
        }
        for (request, bucket) in buckets.iter().zip(taken) {
            map.insert(&request.key, bucket);
        }
        TakeOutcome::Taken
    }
}

impl BucketMap {
    fn insert(&mut self, key: &BucketKey, bucket: TokenBucket) {
        if let Some(old) = self.by_key.insert(key.clone(), bucket) {
            self.by_full_at.remove(&(old.full_at(), key.clone()));
        }
        self.by_full_at.insert((bucket.full_at(), key.clone()));
    }

    /// Forgets full buckets until there is room. Otherwise returns the time until the next one is full.
    fn make_room(&mut self, new: usize, capacity: usize, now: Instant) -> Result<(), Duration> {
        while self.by_key.len() + new > capacity {
            let Some((full_at, _)) = self.by_full_at.first() else { return Err(Duration::ZERO) };
            if *full_at > now {
                return Err(*full_at - now);
            }
            if let Some((_, key)) = self.by_full_at.pop_first() {
                self.by_key.remove(&key);
            }
        }
        Ok(())
    }
}

impl Default for MemoryLimitStore {
    fn default() -> Self {
        Self::new(DEFAULT_CAPACITY)
    }
}

impl LimitStore for MemoryLimitStore {
    fn take<'a>(&'a self, buckets: &'a [BucketRequest]) -> BoxFuture<'a, TakeOutcome> {
        let outcome = self.take_at(buckets, Instant::now());
        Box::pin(async { outcome })
    }
}

impl fmt::Debug for MemoryLimitStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLimitStore")
            .field("len", &self.len())
            .field("capacity", &self.capacity)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::BucketRate;

    fn request(key: &str, burst: u32) -> BucketRequest {
        BucketRequest::new(BucketKey::new(key, &[]), BucketRate::new(1, Duration::from_secs(1), burst))
    }

    #[test]
    fn all_buckets_or_none() {
        let (store, now) = (MemoryLimitStore::default(), Instant::now());
        let (wide, narrow) = (request("wide", 3), request("narrow", 1));
        assert_eq!(store.take_at(&[wide.clone(), narrow.clone()], now), TakeOutcome::Taken);
        for _ in 0..10 {
            let outcome = store.take_at(&[wide.clone(), narrow.clone()], now);
            assert_eq!(outcome, TakeOutcome::Refused { bucket: 1, retry_after: Duration::from_secs(1) });
        }
        // The refused requests took nothing from the first bucket.
        assert_eq!(store.take_at(std::slice::from_ref(&wide), now), TakeOutcome::Taken);
        assert_eq!(store.take_at(std::slice::from_ref(&wide), now), TakeOutcome::Taken);
        assert!(matches!(store.take_at(&[wide], now), TakeOutcome::Refused { bucket: 0, .. }));
    }

    #[test]
    fn a_flood_of_keys_does_not_refill_a_bucket() {
        let (store, now) = (MemoryLimitStore::new(10), Instant::now());
        let victim = request("victim", 1);
        assert_eq!(store.take_at(std::slice::from_ref(&victim), now), TakeOutcome::Taken);
        let mut full = 0;
        for index in 0..1000 {
            let outcome = store.take_at(&[request(&format!("flood {index}"), 1)], now);
            full += usize::from(
                matches!(outcome, TakeOutcome::Full { retry_after } if retry_after == Duration::from_secs(1)),
            );
        }
        assert_eq!((full, store.len()), (991, 10));
        assert!(matches!(store.take_at(std::slice::from_ref(&victim), now), TakeOutcome::Refused { .. }));
        // Full buckets make room.
        let later = now + Duration::from_secs(1);
        for index in 0..10 {
            assert_eq!(store.take_at(&[request(&format!("late {index}"), 1)], later), TakeOutcome::Taken);
        }
        assert_eq!(store.len(), 10);
    }

    #[test]
    fn a_faster_rate_applies_to_a_bucket_that_a_slower_one_has_emptied() {
        let (store, now) = (MemoryLimitStore::default(), Instant::now());
        let at = |period: Duration, burst: u32| {
            [BucketRequest::new(BucketKey::new("calls", &[]), BucketRate::new(1, period, burst))]
        };
        let (slow, fast) = (at(Duration::from_secs(3_600), 10), at(Duration::from_secs(1), 2));
        for _ in 0..10 {
            assert_eq!(store.take_at(&slow, now), TakeOutcome::Taken);
        }
        let wait = Duration::from_secs(1);
        assert_eq!(store.take_at(&fast, now), TakeOutcome::Refused { bucket: 0, retry_after: wait });
        assert_eq!(store.take_at(&fast, now + wait), TakeOutcome::Taken, "not after ten hours");
        assert!(matches!(store.take_at(&fast, now + wait), TakeOutcome::Refused { .. }));
    }

    #[test]
    fn a_request_that_finds_no_room_takes_nothing() {
        let (store, now) = (MemoryLimitStore::new(2), Instant::now());
        assert_eq!(store.take_at(&[request("a", 2), request("b", 5)], now), TakeOutcome::Taken);
        assert!(matches!(store.take_at(&[request("a", 2), request("c", 5)], now), TakeOutcome::Full { .. }));
        assert_eq!(store.take_at(&[request("a", 2)], now), TakeOutcome::Taken);
        assert!(matches!(store.take_at(&[request("a", 2)], now), TakeOutcome::Refused { .. }));
    }
}
