//! Errors of policy documents: each names its line, its place, and what to write instead.

use std::fmt;

/// An error in a policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyError {
    /// The line, from 1.
    pub line: usize,
    /// The place, such as `rule 2 (no-writes), arguments.path`; empty for the document.
    pub path: String,
    /// The kind of error.
    pub kind: PolicyErrorKind,
}

/// The kind of a [`PolicyError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyErrorKind {
    /// The document is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// The key is unknown.
    #[error("`{key}` is not known here; {hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The nearest key, or all known ones.
        hint: String,
    },
    /// A required key is missing.
    #[error("`{key}` is missing; {hint}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What to write.
        hint: &'static str,
    },
    /// The value has another type.
    #[error("expected {expected}, not {found}")]
    WrongType {
        /// The expected type.
        expected: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// The value is invalid.
    #[error("{0}")]
    InvalidValue(String),
    /// The document exceeds a limit.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for PolicyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.kind)
    }
}
