//! Compiled patterns and their memory budget.
//!
//! The engines have no exponential cases: the work is at most pattern size × text length, which is charged to the step
//! budget. A pattern stores only its NFA; the caches of a search belong to the evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory for the compiled patterns of one schema, or of all schemas that share a budget.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// The maximum memory of one pattern.
#[cfg(feature = "regex")]
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// The reason for patterns that are malformed.
#[cfg(feature = "regex")]
pub(super) const INVALID: &str = "it is not a regular expression";

/// The memory budget of compiled patterns. Clones share it, so one budget can serve all schemas of a server.
#[derive(Debug, Clone)]
pub struct PatternBudget(Arc<AtomicUsize>);

impl Default for PatternBudget {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MAX_BYTES)))
    }
}

impl PatternBudget {
    #[cfg(feature = "regex")]
    fn remaining(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Reserves the available memory up to `bytes`, until the reservation is dropped.
    #[cfg(feature = "regex")]
    fn reserve(&self, bytes: usize) -> Reservation {
        let remaining = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| {
            Some(remaining.saturating_sub(bytes))
        });
        Reservation { budget: self.clone(), bytes: remaining.unwrap_or_default().min(bytes) }
    }
}

/// A reserved part of a budget, released on drop.
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

/// The reason why a pattern is not checked, and the memory that the failed compilation is charged.
#[derive(Debug)]
pub(super) struct UncheckedPattern {
    pub(super) reason: &'static str,
    pub(super) reserved: Option<Reservation>,
}

#[cfg(feature = "regex")]
mod engine {
    use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
    use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
    use regex_automata::nfa::thompson::{Config, NFA, WhichCaptures};
    use regex_automata::util::syntax;

    use super::super::ecma_regex::{TranslateError, translate};
    use super::{INVALID, MAX_PATTERN_BYTES, PatternBudget, Reservation, UncheckedPattern};

    /// The memory of the visited set of a backtracking search. Its stack may need 200 times as much.
    const VISITED_SET_BYTES: usize = 16 * 1024;
    /// The maximum length of the source of a pattern.
    const MAX_SOURCE_BYTES: usize = 64 * 1024;

    #[derive(Debug)]
    pub(crate) struct PatternMatcher {
        /// Used for short texts; several times faster.
        backtracker: BoundedBacktracker,
        pikevm: PikeVM,
        states: u64,
        _reserved: Reservation,
    }

    /// The caches of searches, shared by all patterns.
    #[derive(Debug, Default)]
    pub(crate) struct SearchCaches {
        backtracker: Option<backtrack::Cache>,
        pikevm: Option<pikevm::Cache>,
    }

    impl PatternMatcher {
        pub(crate) fn new(source: &str, budget: &PatternBudget) -> Result<Self, UncheckedPattern> {
            let unchecked = |reason| UncheckedPattern { reason, reserved: None };
            if source.len() > MAX_SOURCE_BYTES {
                return Err(unchecked("it is too long"));
            }
            let translated = translate(source).map_err(|error| match error {
                TranslateError::Unsupported(what) => unchecked(what),
                TranslateError::Invalid => unchecked(INVALID),
            })?;
            let limit = budget.remaining().min(MAX_PATTERN_BYTES);
            if limit < 1024 {
                return Err(unchecked("there are too many patterns"));
            }
            let config = Config::new().nfa_size_limit(Some(limit)).which_captures(WhichCaptures::None);
            let mut compiler = NFA::compiler();
            compiler.syntax(syntax::Config::new().nest_limit(100)).configure(config);
            let nfa = compiler.build(&translated).map_err(|error| match error.size_limit() {
                // A failed compilation is also charged, so that it cannot be repeated for free.
                Some(_) => {
                    UncheckedPattern { reason: "it is too large", reserved: Some(budget.reserve(limit)) }
                }
                None => UncheckedPattern { reason: INVALID, reserved: Some(budget.reserve(1024)) },
            })?;
            let reserved = budget.reserve(nfa.memory_usage() + source.len() + 1024);
            let states = nfa.states().len() as u64;
            let config = backtrack::Config::new().visited_capacity(VISITED_SET_BYTES);
            let backtracker = BoundedBacktracker::builder().configure(config).build_from_nfa(nfa.clone());
            let pikevm = PikeVM::new_from_nfa(nfa);
            match (backtracker, pikevm) {
                (Ok(backtracker), Ok(pikevm)) => {
                    Ok(Self { backtracker, pikevm, states, _reserved: reserved })
                }
                _ => Err(unchecked("it cannot be searched for")),
            }
        }

        /// Returns the maximum number of steps of a search.
        pub(crate) fn cost(&self, text: &str) -> u64 {
            2 + self.states.saturating_mul(text.len() as u64 + 1) / 8
        }

        pub(crate) fn is_match(&self, text: &str, caches: &mut SearchCaches) -> bool {
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
    use super::{PatternBudget, UncheckedPattern};

    /// A pattern without the feature `regex`: never constructed.
    #[derive(Debug)]
    pub(crate) enum PatternMatcher {}

    #[derive(Debug, Default)]
    pub(crate) struct SearchCaches {}

    impl PatternMatcher {
        pub(crate) fn new(_: &str, _: &PatternBudget) -> Result<Self, UncheckedPattern> {
            Err(UncheckedPattern {
                reason: "this program was built without the feature `regex`",
                reserved: None,
            })
        }

        pub(crate) fn cost(&self, _: &str) -> u64 {
            match *self {}
        }

        pub(crate) fn is_match(&self, _: &str, _: &mut SearchCaches) -> bool {
            match *self {}
        }
    }
}

pub(super) use engine::{PatternMatcher, SearchCaches};
