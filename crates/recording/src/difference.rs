//! Differences between two JSON values, each with its path.

use std::fmt;

use serde_json::Value;

/// One place at which a value is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The path of the value, like `$.result.content[0].text`.
    pub path: String,
    /// What differs there.
    pub kind: DifferenceKind,
}

/// How a value differs.
#[derive(Debug, Clone, PartialEq)]
pub enum DifferenceKind {
    /// The value is missing.
    Missing {
        /// The expected value.
        expected: Value,
    },
    /// The value was not expected.
    Unexpected {
        /// The value.
        actual: Value,
    },
    /// The value is another one.
    Changed {
        /// The expected value.
        expected: Value,
        /// The value instead.
        actual: Value,
    },
}

impl Difference {
    pub(crate) fn missing(path: impl Into<String>, expected: &Value) -> Self {
        Self { path: path.into(), kind: DifferenceKind::Missing { expected: expected.clone() } }
    }

    pub(crate) fn unexpected(path: impl Into<String>, actual: &Value) -> Self {
        Self { path: path.into(), kind: DifferenceKind::Unexpected { actual: actual.clone() } }
    }

    pub(crate) fn changed(path: impl Into<String>, expected: &Value, actual: &Value) -> Self {
        let (expected, actual) = (expected.clone(), actual.clone());
        Self { path: path.into(), kind: DifferenceKind::Changed { expected, actual } }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            DifferenceKind::Missing { expected } => write!(f, "{path}: missing; expected {expected}"),
            DifferenceKind::Unexpected { actual } => write!(f, "{path}: not expected: {actual}"),
            DifferenceKind::Changed { expected, actual } => {
                write!(f, "{path}: expected {expected}, got {actual}")
            }
        }
    }
}

/// Returns the path of a member: `$.name`, or `$["a.b"]` if the name is not a word.
pub(crate) fn member_path(path: &str, name: &str) -> String {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '$');
    match !name.is_empty() && name.chars().all(is_word) {
        true => format!("{path}.{name}"),
        false => format!("{path}[{}]", Value::from(name)),
    }
}
