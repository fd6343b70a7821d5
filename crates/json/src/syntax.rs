//! Why a text is not acceptable JSON, and where.

use std::fmt;

use crate::limits::MAX_DEPTH;

/// The first error of a text that is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    at: usize,
}

/// Why a text is not acceptable JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// A byte that is not allowed at this position.
    Unexpected(u8),
    /// The text ends in the middle of a value.
    Ended,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A second value follows the first.
    Trailing,
}

impl SyntaxError {
    /// An error at a byte offset of the text.
    #[cold]
    pub fn new(kind: SyntaxErrorKind, at: usize) -> Self {
        Self { kind, at }
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// Returns the byte offset in the text.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            SyntaxErrorKind::Unexpected(byte) => write!(f, "unexpected {:?} at byte {at}", char::from(byte)),
            SyntaxErrorKind::Ended => write!(f, "it ends in the middle of a value"),
            SyntaxErrorKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels at byte {at}"),
            SyntaxErrorKind::Trailing => write!(f, "a second value begins at byte {at}"),
        }
    }
}

impl std::error::Error for SyntaxError {}
