//! The set of evaluated members or items of a value, for `unevaluatedProperties` and `unevaluatedItems`.

/// A set of member or item indexes.
#[derive(Debug, Clone)]
pub(super) struct BitSet {
    words: Vec<u64>,
    len: usize,
}

impl BitSet {
    pub(super) fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// Returns an empty set for the same value.
    pub(super) fn sibling(&self) -> Self {
        Self::new(self.len)
    }

    pub(super) fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    pub(super) fn set_all(&mut self) {
        self.words.fill(u64::MAX);
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.words[at / 64] & (1 << (at % 64)) != 0
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Returns the steps to charge for creating or merging a set.
    pub(super) fn cost(&self) -> u64 {
        1 + self.words.len() as u64 / 8
    }
}
