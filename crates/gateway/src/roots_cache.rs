//! The roots of legacy clients, by session.
//!
//! Invariant: an answer is kept only if the roots have not changed since the question was asked; a change of one client does
//! not concern the others.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_protocol::Root;

/// Sessions of clients whose roots are kept. When there are more, all are asked again.
const CAPACITY: usize = 10_000;

/// The cache.
#[derive(Default)]
pub(crate) struct RootsCache {
    entries: HashMap<String, RootsEntry>,
    /// The number of the next question.
    next: u64,
}

enum RootsEntry {
    /// The client is being asked; questions at the same time have the same number.
    Asked(RootsQuestion),
    Cached(Arc<[Root]>),
}

/// A question for roots. Its number is never used again, so that no answer to an earlier question is taken for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootsQuestion(u64);

/// The outcome of a lookup.
#[derive(Debug, PartialEq)]
pub(crate) enum RootsLookup {
    Cached(Arc<[Root]>),
    /// The client has to be asked.
    Missing(RootsQuestion),
}

impl RootsCache {
    /// Returns the roots of a session, or a question to insert the answer with.
    pub(crate) fn look_up(&mut self, session: &str) -> RootsLookup {
        match self.entries.get(session) {
            Some(RootsEntry::Cached(roots)) => return RootsLookup::Cached(Arc::clone(roots)),
            Some(RootsEntry::Asked(question)) => return RootsLookup::Missing(*question),
            None => {}
        }
        if self.entries.len() >= CAPACITY {
            self.entries.clear();
        }
        let question = RootsQuestion(self.next);
        self.next += 1;
        self.entries.insert(session.to_owned(), RootsEntry::Asked(question));
        RootsLookup::Missing(question)
    }

    /// Keeps the answer to a question, unless the roots have changed meanwhile.
    pub(crate) fn insert(&mut self, session: &str, question: RootsQuestion, roots: &Arc<[Root]>) {
        if let Some(entry) = self.entries.get_mut(session)
            && matches!(entry, RootsEntry::Asked(asked) if *asked == question)
        {
            *entry = RootsEntry::Cached(Arc::clone(roots));
        }
    }

    /// Forgets the roots of a session, also those of a question that is not answered yet.
    pub(crate) fn remove(&mut self, session: &str) {
        self.entries.remove(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(uri: &str) -> Arc<[Root]> {
        [Root::new(uri)].into()
    }

    fn question(cache: &mut RootsCache, session: &str) -> RootsQuestion {
        match cache.look_up(session) {
            RootsLookup::Missing(question) => question,
            RootsLookup::Cached(roots) => panic!("{roots:?}"),
        }
    }

    #[test]
    fn an_answer_from_before_a_change_is_not_kept() {
        let mut cache = RootsCache::default();
        let before = question(&mut cache, "one");
        cache.remove("one");
        cache.insert("one", before, &roots("file:///old"));
        let after = question(&mut cache, "one");
        assert_ne!(before, after);
        cache.insert("one", before, &roots("file:///old"));
        assert_eq!(question(&mut cache, "one"), after, "questions at the same time are the same");
        cache.insert("one", after, &roots("file:///new"));
        assert_eq!(cache.look_up("one"), RootsLookup::Cached(roots("file:///new")));
    }

    #[test]
    fn a_change_of_one_client_leaves_the_roots_of_others() {
        let mut cache = RootsCache::default();
        for session in ["one", "two"] {
            let question = question(&mut cache, session);
            cache.insert(session, question, &roots("file:///a"));
        }
        cache.remove("one");
        assert!(matches!(cache.look_up("one"), RootsLookup::Missing(_)));
        assert_eq!(cache.look_up("two"), RootsLookup::Cached(roots("file:///a")));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let mut cache = RootsCache::default();
        for number in 0..=CAPACITY {
            question(&mut cache, &number.to_string());
        }
        assert_eq!(cache.entries.len(), 1);
    }
}
