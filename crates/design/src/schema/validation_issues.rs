//! Validation that returns a list of issues.

use serde_json::Value;

use super::validator::{ValidationOutcome, Validator, ValidatorOptions};
use crate::repair::Issue;

/// Validates a value under a self-contained schema, including formats, and returns all issues; empty for a valid value.
///
/// A value that exceeds the budget has one issue, so it never passes as valid. A schema that cannot be compiled gives no
/// issues; [`Validator::new`] returns its error.
pub fn validation_issues(schema: &Value, value: &Value) -> Vec<Issue> {
    let options = ValidatorOptions::new().assert_formats(true);
    Validator::with_options(schema, &options).map(|validator| validator.issues(value)).unwrap_or_default()
}

impl Validator {
    /// Returns all issues of a value; empty for a valid value. A value that exceeds the budget has one issue.
    pub fn issues(&self, value: &Value) -> Vec<Issue> {
        match self.validate(value) {
            ValidationOutcome::Valid => Vec::new(),
            ValidationOutcome::Invalid(issues) => issues,
            ValidationOutcome::OverBudget => vec![Issue::new("", "the value is too complex to validate")],
        }
    }
}
