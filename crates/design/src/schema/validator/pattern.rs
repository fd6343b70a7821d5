//! Compiled patterns, and the memory they may take.
//!
//! Patterns run on engines without exponential cases: work is at most pattern size × text length, which is what the
//! step budget is charged with. Only the NFA of a pattern is kept; what a search needs belongs to the evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes for the compiled patterns of one schema, or of all schemas that share a budget.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Bytes for one pattern.
#[cfg(feature = "regex")]
const MAX_PATTERN: usize = 256 * 1024;

/// A pattern that no engine would take.
#[cfg(feature = "regex")]
pub(super) const INVALID: &str = "it is not a regular expression";

/// The memory that compiled patterns may take. Clones share it: one budget serves all schemas of a server.
#[derive(Debug, Clone)]
pub struct PatternBudget(Arc<AtomicUsize>);

impl Default for PatternBudget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MAX_BYTES)))
    }
}

impl PatternBudget {
    #[cfg(feature = "regex")]
    fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes as much as there is, up to `bytes`, until the reservation is dropped.
    #[cfg(feature = "regex")]
    fn take(&self, bytes: usize) -> Reservation {
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(bytes)));
        Reservation { budget: self.clone(), bytes: left.unwrap_or_default().min(bytes) }
    }
}

/// A part of a budget that is in use.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: PatternBudget,
    bytes: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Why a pattern is not checked, with what finding that out has taken from the budget.
#[derive(Debug)]
pub(super) struct Unchecked {
    pub(super) reason: &'static str,
    pub(super) reserved: Option<Reservation>,
}

#[cfg(feature = "regex")]
mod engine {
    use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
    use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
    use regex_automata::nfa::thompson::{Config, NFA, WhichCaptures};
    use regex_automata::util::syntax;

    use super::super::translate::{Untranslatable, translate};
    use super::{INVALID, MAX_PATTERN, PatternBudget, Reservation, Unchecked};

    /// Bytes of the visited set of a backtracking search. Its stack may take 200 times as much.
    const VISITED: usize = 16 * 1024;
    /// Bytes of the text of a pattern.
    const MAX_SOURCE: usize = 64 * 1024;

    #[derive(Debug)]
    pub(crate) struct Pattern {
        /// For texts that are short enough for it; several times as fast.
        backtracker: BoundedBacktracker,
        pikevm: PikeVM,
        states: u64,
        _reserved: Reservation,
    }

    /// Memory for searches, shared by all patterns.
    #[derive(Debug, Default)]
    pub(crate) struct Caches {
        backtracker: Option<backtrack::Cache>,
        pikevm: Option<pikevm::Cache>,
    }

    impl Pattern {
        pub(crate) fn new(source: &str, budget: &PatternBudget) -> Result<Self, Unchecked> {
            let unchecked = |reason| Unchecked { reason, reserved: None };
            if source.len() > MAX_SOURCE {
                return Err(unchecked("it is too long"));
            }
            let translated = translate(source).map_err(|error| match error {
                Untranslatable::Unsupported(what) => unchecked(what),
                Untranslatable::Invalid => unchecked(INVALID),
            })?;
            let limit = budget.left().min(MAX_PATTERN);
            if limit < 1024 {
                return Err(unchecked("there are too many patterns"));
            }
            let config = Config::new().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
            let mut compiler = NFA::compiler();
            compiler.syntax(syntax::Config::new().nest_limit(100)).configure(config);
            let nfa = compiler.build(&translated).map_err(|error| match error.size_limit() {
                // Finding out that a pattern is too large is work too, and must not be free.
                Some(_) => Unchecked { reason: "it is too large", reserved: Some(budget.take(limit)) },
                None => Unchecked { reason: INVALID, reserved: Some(budget.take(1024)) },
            })?;
            let reserved = budget.take(nfa.memory_usage() + source.len() + 1024);
            let states = nfa.states().len() as u64;
            let config = backtrack::Config::new().visited_capacity(VISITED);
            let backtracker = BoundedBacktracker::builder().configure(config).build_from_nfa(nfa.clone());
            let pikevm = PikeVM::new_from_nfa(nfa);
            match (backtracker, pikevm) {
                (Ok(backtracker), Ok(pikevm)) => {
                    Ok(Self { backtracker, pikevm, states, _reserved: reserved })
                }
                _ => Err(unchecked("it cannot be searched for")),
            }
        }

        /// The steps that a search takes at most.
        pub(crate) fn cost(&self, text: &str) -> u64 {
            2 + self.states.saturating_mul(text.len() as u64 + 1) / 8
        }

        pub(crate) fn is_match(&self, text: &str, caches: &mut Caches) -> bool {
            if text.len() <= self.backtracker.max_haystack_len() {
                let cache = caches.backtracker.get_or_insert_with(|| self.backtracker.create_cache());
                cache.reset(&self.backtracker);
                if let Ok(found) = self.backtracker.try_is_match(cache, text) {
                    return found;
                }
            }
            let cache = caches.pikevm.get_or_insert_with(|| self.pikevm.create_cache());
            cache.reset(&self.pikevm);
            self.pikevm.is_match(cache, text)
        }
    }
}

#[cfg(not(feature = "regex"))]
mod engine {
    use super::{PatternBudget, Unchecked};

    /// Without the feature `regex` no pattern is checked.
    #[derive(Debug)]
    pub(crate) enum Pattern {}

    #[derive(Debug, Default)]
    pub(crate) struct Caches {}

    impl Pattern {
        pub(crate) fn new(_: &str, _: &PatternBudget) -> Result<Self, Unchecked> {
            Err(Unchecked { reason: "this program was built without the feature `regex`", reserved: None })
        }

        pub(crate) fn cost(&self, _: &str) -> u64 {
            match *self {}
        }

        pub(crate) fn is_match(&self, _: &str, _: &mut Caches) -> bool {
            match *self {}
        }
    }
}

pub(super) use engine::{Caches, Pattern};
