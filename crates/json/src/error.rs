//! Errors of decoding and encoding a value.

use std::fmt;

use crate::limits::MAX_NODES;
use crate::syntax::SyntaxError;

/// The error of decoding a JSON value into a type: what is wrong, and the path of the offending part.
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

/// The reason why a value could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeKind {
    /// The value does not have the shape that was expected.
    Mismatch {
        /// The expected and the actual type or value.
        reason: String,
    },
    /// The text is not JSON, or is nested too deep.
    Syntax {
        /// The syntax error.
        reason: String,
    },
    /// The value has too many parts to be held in memory as typed data.
    TooManyNodes {
        /// The number of values in the text.
        nodes: usize,
    },
}

impl fmt::Display for DecodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { reason } => f.write_str(reason),
            Self::Syntax { reason } => write!(f, "invalid JSON: {reason}"),
            Self::TooManyNodes { nodes } => {
                write!(f, "{nodes} values are more than the {MAX_NODES} that are decoded at once")
            }
        }
    }
}

impl DecodeError {
    pub(crate) fn too_many_nodes(nodes: usize) -> Self {
        Self { path: ".".into(), kind: DecodeKind::TooManyNodes { nodes } }
    }

    pub(crate) fn syntax(error: &SyntaxError) -> Self {
        Self { path: ".".into(), kind: DecodeKind::Syntax { reason: error.to_string() } }
    }

    /// Creates a mismatch at a path like `tools[3].inputSchema`; `.` is the whole value.
    pub fn mismatch(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), kind: DecodeKind::Mismatch { reason: reason.into() } }
    }

    /// Prefixes the path with `name`: the value is the member `name` of a surrounding object.
    #[must_use]
    pub fn within(self, name: &str) -> Self {
        let path = match self.path.as_str() {
            "." => name.to_owned(),
            inner => format!("{name}.{inner}"),
        };
        Self { path, kind: self.kind }
    }

    /// Returns the path of the offending part, like `tools[3].inputSchema`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the reason.
    pub fn kind(&self) -> &DecodeKind {
        &self.kind
    }
}

/// The error of encoding a value as JSON.
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
