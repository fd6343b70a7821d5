//! Used request states: each is accepted once.
//!
//! Holds the nonces of states that were used and have not expired, at most [`MOST_USED`]. When there are more, the ones
//! that expire first are removed, and every state that expires no later is rejected from then on, used or not: a flood
//! makes states expire sooner, and never lets a state be used twice.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The most nonces held: about 8 MiB, and 400 answered rounds per second for the lifetime of a state.
const MAX_USED: usize = 262_144;

/// The unique number of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Nonce(u128);

impl Nonce {
    /// # Errors
    /// When the system has no randomness to give.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(u128::from_le_bytes(bytes)))
    }
}

/// The nonces of used states.
#[derive(Debug)]
pub(crate) struct UsedStates {
    capacity: usize,
    nonces: Mutex<UsedNonces>,
}

#[derive(Debug, Default)]
struct UsedNonces {
    /// Sorted by when they expire, in seconds since 1970.
    used: BTreeSet<(u64, Nonce)>,
    /// States that expire at this time or earlier are rejected.
    horizon: u64,
}

impl Default for UsedStates {
    fn default() -> Self {
        Self::with_capacity(MAX_USED)
    }
}

impl UsedStates {
    fn with_capacity(capacity: usize) -> Self {
        Self { capacity, nonces: Mutex::default() }
    }

    /// Marks a state as used. Returns false when it was used before, or may have been.
    pub(crate) fn insert(&self, expires: u64, nonce: Nonce, now: u64) -> bool {
        let mut nonces = self.nonces.lock();
        while nonces.used.first().is_some_and(|(expired, _)| *expired <= now) {
            nonces.used.pop_first();
        }
        if expires <= nonces.horizon || !nonces.used.insert((expires, nonce)) {
            return false;
        }
        if nonces.used.len() > self.capacity
            && let Some((forgotten, _)) = nonces.used.pop_first()
        {
            nonces.horizon = nonces.horizon.max(forgotten);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_used_once_and_a_flood_rejects_instead_of_forgetting() {
        let used = UsedStates::with_capacity(3);
        assert!(used.insert(100, Nonce(1), 0));
        assert!(!used.insert(100, Nonce(1), 0));
        for nonce in 2..=3 {
            assert!(used.insert(200, Nonce(nonce), 0));
        }
        // The first is forgotten for this one.
        assert!(used.insert(300, Nonce(4), 0));
        assert!(!used.insert(100, Nonce(1), 0), "it was used");
        assert!(!used.insert(100, Nonce(9), 0), "it may have been used");
        assert!(used.insert(200, Nonce(5), 0));
        assert!(used.insert(400, Nonce(6), 300), "what has expired makes room");
        assert_eq!(used.nonces.lock().used.len(), 1);
    }
}
