//! How a schema is compiled into a [`Validator`](super::Validator).

use super::pattern::PatternBudget;

/// Steps for one value. A step takes 10 to 50 ns in a release build, so this is some tens of milliseconds.
const MAX_STEPS: u64 = 1_000_000;

/// How a schema is compiled.
#[derive(Debug, Clone)]
pub struct ValidatorOptions {
    pub(super) assert_formats: bool,
    pub(super) ignore_unknown_members: bool,
    pub(super) skip_optional_nulls: bool,
    pub(super) max_steps: u64,
    pub(super) patterns: PatternBudget,
}

impl Default for ValidatorOptions {
    fn default() -> Self {
        Self {
            assert_formats: false,
            ignore_unknown_members: false,
            skip_optional_nulls: false,
            max_steps: MAX_STEPS,
            patterns: PatternBudget::default(),
        }
    }
}

impl ValidatorOptions {
    /// `format` as an annotation, one million steps, and a pattern budget of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a string that is not of its `format` is invalid.
    #[must_use]
    pub fn assert_formats(mut self, assert: bool) -> Self {
        self.assert_formats = assert;
        self
    }

    /// Whether members that a schema does not name are accepted, whatever `additionalProperties` and
    /// `unevaluatedProperties` say.
    #[must_use]
    pub fn ignore_unknown_members(mut self, ignore: bool) -> Self {
        self.ignore_unknown_members = ignore;
        self
    }

    /// Whether an optional member that is null is valid, as `serde` reads it: like one that is missing.
    #[must_use]
    pub fn skip_optional_nulls(mut self, skip: bool) -> Self {
        self.skip_optional_nulls = skip;
        self
    }

    /// The steps that one value may take.
    #[must_use]
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }

    /// The memory for compiled patterns; clones of a budget share it.
    #[must_use]
    pub fn pattern_budget(mut self, budget: PatternBudget) -> Self {
        self.patterns = budget;
        self
    }
}
