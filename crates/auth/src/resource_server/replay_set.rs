//! The DPoP proofs that were used: each is accepted once.
//!
//! Invariants: a proof is remembered for as long as its time would be accepted. Two generations of half the capacity each;
//! if the young one is full before the old one has expired, the old one is dropped, and proofs that are not younger than
//! its youngest are rejected from then on: a flood makes proofs invalid, it never makes a replay valid.

use std::collections::HashSet;

use parking_lot::Mutex;
use ring::digest::{SHA256, digest};

/// The used proofs.
#[derive(Debug)]
pub(crate) struct ReplaySet {
    // Held for a set operation, never across an await.
    state: Mutex<ReplayState>,
    generation_capacity: usize,
    /// For how many seconds the time of a proof is accepted, from the earliest to the latest.
    window: u64,
}

#[derive(Debug, Default)]
struct ReplayState {
    young: ProofGeneration,
    old: ProofGeneration,
    /// Proofs up to this time may have been forgotten.
    forgotten_until: u64,
}

#[derive(Debug, Default)]
struct ProofGeneration {
    proofs: HashSet<[u8; 32]>,
    /// When the first of them was used.
    began: u64,
    /// The latest time that one of them names.
    latest: u64,
}

impl ReplaySet {
    /// Returns an empty set for so many proofs.
    pub(crate) fn new(capacity: usize, window: u64) -> Self {
        Self { state: Mutex::default(), generation_capacity: (capacity / 2).max(1), window }
    }

    /// Records the proof with this id, of this key, that was made at this time. Returns false if it was used before, or may
    /// have been.
    pub(crate) fn record(&self, thumbprint: &str, id: &str, issued_at: u64, now: u64) -> bool {
        let proof = digest(&SHA256, format!("{thumbprint}.{id}").as_bytes());
        let proof: [u8; 32] = proof.as_ref().try_into().expect("SHA-256 has 32 bytes");
        let mut state = self.state.lock();
        let retired = state.rotate(self.generation_capacity, self.window, now);
        if issued_at <= state.forgotten_until || state.old.proofs.contains(&proof) {
            return false;
        }
        if state.young.proofs.is_empty() {
            state.young.began = now;
        }
        state.young.latest = state.young.latest.max(issued_at);
        let is_new = state.young.proofs.insert(proof);
        drop(state);
        // Thousands of entries: freed without the lock.
        drop(retired);
        is_new
    }
}

impl ReplayState {
    /// Begins a new generation if the young one is full or long enough in use. Returns one that is no longer needed.
    fn rotate(&mut self, capacity: usize, window: u64, now: u64) -> Option<ProofGeneration> {
        let is_full = self.young.proofs.len() >= capacity;
        let is_over = !self.young.proofs.is_empty() && now.saturating_sub(self.young.began) > window;
        if !is_full && !is_over {
            return None;
        }
        let retired = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
        // Every proof of it has expired if the generation after it was in use for a whole window.
        if !retired.proofs.is_empty() && !is_over {
            self.forgotten_until = self.forgotten_until.max(retired.latest);
        }
        Some(retired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_accepted_once_while_its_time_is_accepted() {
        let used = ReplaySet::new(1000, 120);
        assert!(used.record("k", "a", 1000, 1000));
        for now in [1000, 1060, 1119, 1121] {
            assert!(!used.record("k", "a", 1000, now), "{now}");
            assert!(used.record("k", &format!("other at {now}"), now, now));
        }
        assert!(used.record("other key", "a", 1121, 1121));
        // Long after its time, the set has forgotten it; the time is checked before.
        assert!(used.record("k", "b", 1300, 1300) && used.record("k", "c", 1500, 1500));
        let state = used.state.lock();
        assert!(state.old.proofs.len() + state.young.proofs.len() <= 2);
    }

    #[test]
    fn a_flood_stays_within_the_capacity_and_never_makes_a_replay_valid() {
        let used = ReplaySet::new(100, 120);
        assert!(used.record("k", "first", 1000, 1000));
        for number in 0..1000_u64 {
            // Ten proofs a second.
            let now = 1000 + number / 10;
            used.record("k", &number.to_string(), now, now);
            let state = used.state.lock();
            assert!(state.young.proofs.len() + state.old.proofs.len() <= 100);
            drop(state);
            assert!(!used.record("k", "first", 1000, now), "{number}");
        }
        // Fresh proofs are still accepted.
        assert!(used.record("k", "last", 1101, 1101));
    }
}
