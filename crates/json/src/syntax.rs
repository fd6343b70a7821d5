//! Syntax errors: why a text is not acceptable JSON, and at which byte.

use std::fmt;

use crate::limits::MAX_DEPTH;

/// The first syntax error of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    kind: SyntaxErrorKind,
    offset: usize,
}

/// The kind of a syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// A byte that is not allowed at this position.
    Unexpected(u8),
    /// The text ends in the middle of a value.
    UnexpectedEnd,
    /// The value is nested deeper than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A second value follows the first.
    Trailing,
}

impl SyntaxError {
    /// Creates an error at a byte offset of the text.
    #[cold]
    pub fn new(kind: SyntaxErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> SyntaxErrorKind {
        self.kind
    }

    /// Returns the byte offset in the text.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.offset;
        match self.kind {
            SyntaxErrorKind::Unexpected(byte) => {
                write!(f, "unexpected {:?} at byte {offset}", char::from(byte))
            }
            SyntaxErrorKind::UnexpectedEnd => write!(f, "unexpected end of the text"),
            SyntaxErrorKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels at byte {offset}"),
            SyntaxErrorKind::Trailing => write!(f, "unexpected second value at byte {offset}"),
        }
    }
}

impl std::error::Error for SyntaxError {}
