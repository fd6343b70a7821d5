//! The members or items of one value that were evaluated, for `unevaluatedProperties` and `unevaluatedItems`.

/// A bit for each member or item, in order.
#[derive(Debug, Clone)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    pub(super) fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// An empty set for the same value.
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

    /// The steps that making or merging a set costs.
    pub(super) fn cost(&self) -> u64 {
        1 + self.words.len() as u64 / 8
    }
}
