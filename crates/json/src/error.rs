//! Errors of decoding and encoding a value.

use std::fmt;

use crate::limits::MAX_NODES;
use crate::syntax::SyntaxError;

/// A value that could not be read into the type that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    path: String,
    kind: DecodeKind,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.kind, self.path)
    }
}

impl std::error::Error for DecodeError {}

/// What is wrong with a value that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeKind {
    /// The value does not have the shape that was expected.
    Mismatch {
        /// What was expected and what was found.
        reason: String,
    },
    /// The text is not JSON, or is nested too deep.
    Syntax {
        /// What the scan stumbled over.
        reason: String,
    },
    /// The value has too many parts to be held in memory as typed data.
    TooManyNodes {
        /// How many there are.
        nodes: usize,
    },
}

impl fmt::Display for DecodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { reason } => f.write_str(reason),
            Self::Syntax { reason } => write!(f, "not readable as JSON: {reason}"),
            Self::TooManyNodes { nodes } => {
                write!(f, "{nodes} values are more than the {MAX_NODES} that are read at once")
            }
        }
    }
}

impl DecodeError {
    pub(crate) fn too_many(nodes: usize) -> Self {
        Self { path: ".".into(), kind: DecodeKind::TooManyNodes { nodes } }
    }

    pub(crate) fn syntax(error: &SyntaxError) -> Self {
        Self { path: ".".into(), kind: DecodeKind::Syntax { reason: error.to_string() } }
    }

    /// A mismatch found by our own code rather than by a typed read.
    pub fn mismatch(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), kind: DecodeKind::Mismatch { reason: reason.into() } }
    }

    /// The same error as seen from the object that has the value as its member `name`.
    #[must_use]
    pub fn within(self, name: &str) -> Self {
        let path = match self.path.as_str() {
            "." => name.to_owned(),
            inner => format!("{name}.{inner}"),
        };
        Self { path, kind: self.kind }
    }

    /// Where in the value, as a path like `tools[3].inputSchema`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn kind(&self) -> &DecodeKind {
        &self.kind
    }
}

/// A value that cannot be written as JSON.
#[derive(Debug)]
pub struct EncodeError(serde_json::Error);

impl EncodeError {
    pub(crate) fn new(error: serde_json::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot be written as JSON: {}", self.0)
    }
}

impl std::error::Error for EncodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}
