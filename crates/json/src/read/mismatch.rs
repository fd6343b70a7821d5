//! `Mismatch`: a value that does not fit its type, with its byte offset.

use crate::error::DecodeError;
use crate::path;
use crate::scan;

/// A value that does not fit the type it is read into.
///
/// Holds the byte offset only. The path is computed on conversion to a [`DecodeError`], because many mismatches are
/// tolerated and computing a path scans the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    offset: usize,
    kind: MismatchKind,
}

/// The kind of a mismatch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MismatchKind {
    /// The value has another type or shape; the text says which was expected.
    Shape(Box<str>),
    /// The text contains more than [`MAX_NODES`](crate::MAX_NODES) values.
    TooManyNodes,
}

impl Mismatch {
    /// Creates a mismatch of the value that begins at `offset`.
    #[cold]
    pub fn new(offset: usize, reason: impl Into<Box<str>>) -> Self {
        Self { offset, kind: MismatchKind::Shape(reason.into()) }
    }

    /// Creates the mismatch of the object at `object` that lacks the member `name`.
    #[cold]
    pub fn missing(object: usize, name: &str) -> Self {
        Self::new(object, format!("missing field `{name}`"))
    }

    /// Creates the mismatch of a text with more than [`MAX_NODES`](crate::MAX_NODES) values.
    #[cold]
    pub(crate) fn too_many_nodes() -> Self {
        Self { offset: 0, kind: MismatchKind::TooManyNodes }
    }

    /// Converts to an error with the path of the value, relative to the value that begins at `start`.
    #[cold]
    pub fn into_decode_error(self, text: &str, start: usize) -> DecodeError {
        let value = text.get(start..).unwrap_or_default();
        match self.kind {
            // The byte after the first one, because the byte after a brace is inside the container it opens.
            MismatchKind::Shape(reason) => {
                DecodeError::mismatch(path::at_offset(value, self.offset.saturating_sub(start) + 1), reason)
            }
            MismatchKind::TooManyNodes => {
                let mut cursor = scan::Cursor::new(value.as_bytes());
                let span = cursor.skip_value(0).unwrap_or_default();
                DecodeError::too_many_nodes(scan::count_nodes(&value.as_bytes()[span]))
            }
        }
    }
}
