//! Options of a [`Validator`](super::Validator).

use super::pattern::PatternBudget;

/// The default step budget. A step takes 10 to 50 ns in a release build, so this is tens of milliseconds.
const MAX_STEPS: u64 = 1_000_000;

/// The options for compiling a schema.
#[derive(Debug, Clone)]
#[must_use = "options do nothing until a validator is compiled with them"]
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
    /// Creates the default options: `format` as an annotation, one million steps, and a separate pattern budget.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether a string that violates its `format` is invalid.
    pub fn assert_formats(mut self, assert: bool) -> Self {
        self.assert_formats = assert;
        self
    }

    /// Sets whether members that a schema does not name are accepted regardless of `additionalProperties` and
    /// `unevaluatedProperties`.
    pub fn ignore_unknown_members(mut self, ignore: bool) -> Self {
        self.ignore_unknown_members = ignore;
        self
    }

    /// Sets whether a null is valid for every optional member, because `serde` treats it like an absent member.
    pub fn skip_optional_nulls(mut self, skip: bool) -> Self {
        self.skip_optional_nulls = skip;
        self
    }

    /// Sets the step budget of one value.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }

    /// Sets the memory budget of compiled patterns. Clones of a budget share it.
    pub fn pattern_budget(mut self, budget: PatternBudget) -> Self {
        self.patterns = budget;
        self
    }
}
