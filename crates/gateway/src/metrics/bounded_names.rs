//! Names as label values, up to a limit.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::RwLock;

/// The label of every name beyond the limit, and of names that no server has.
pub(super) const OTHER: &str = "_other";

/// The first names that were seen, up to a limit. All others are one.
#[derive(Debug)]
pub(super) struct BoundedNames {
    max: usize,
    // Held for a lookup or an insertion, never across an await.
    known: RwLock<HashSet<Arc<str>>>,
    other: Arc<str>,
}

impl BoundedNames {
    pub(super) fn new(max: usize) -> Self {
        Self { max, known: RwLock::default(), other: OTHER.into() }
    }

    /// Returns the label of a name.
    pub(super) fn label(&self, name: &str) -> Arc<str> {
        if let Some(known) = self.known.read().get(name) {
            return Arc::clone(known);
        }
        let mut known = self.known.write();
        if known.len() >= self.max && !known.contains(name) {
            return Arc::clone(&self.other);
        }
        let name: Arc<str> = name.into();
        known.insert(Arc::clone(&name));
        name
    }

    pub(super) fn other(&self) -> Arc<str> {
        Arc::clone(&self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_names_are_labels_and_all_others_are_one() {
        let names = BoundedNames::new(2);
        assert_eq!((&*names.label("a"), &*names.label("b")), ("a", "b"));
        for number in 0..10_000 {
            assert_eq!(&*names.label(&number.to_string()), OTHER);
        }
        assert_eq!((&*names.label("a"), names.known.read().len()), ("a", 2));
    }
}
