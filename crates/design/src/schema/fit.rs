//! Whether a value fits a schema of a design, with everything that is wrong with it.

use serde_json::Value;

use super::validator::{ValidationOutcome, Validator, ValidatorOptions};
use crate::repair::Issue;

/// Every issue of a value under a schema that stands on its own, formats asserted; empty when it is valid.
///
/// A value that is too complex to validate has one issue that says so: it must not pass for valid. A schema that cannot
/// be compiled has no issues to report; [`Validator::new`] says why.
pub fn misfits(schema: &Value, value: &Value) -> Vec<Issue> {
    let options = ValidatorOptions::new().assert_formats(true);
    Validator::with_options(schema, &options).map(|validator| validator.issues(value)).unwrap_or_default()
}

impl Validator {
    /// Every issue of a value; empty when it is valid. A value that is too complex to validate has one issue.
    pub fn issues(&self, value: &Value) -> Vec<Issue> {
        match self.validate(value) {
            ValidationOutcome::Valid => Vec::new(),
            ValidationOutcome::Invalid(issues) => issues,
            ValidationOutcome::OverBudget => vec![Issue::new("", "the value is too complex to validate")],
        }
    }
}
