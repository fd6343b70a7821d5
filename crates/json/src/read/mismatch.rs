//! What does not fit, and where in the text.

use crate::error::DecodeError;
use crate::path;
use crate::scan;

/// Something that does not fit the type it is read into.
///
/// Knows the place as an offset only: a path is looked for when somebody is told, because many a misfit is let pass, and
/// looking for each would cost the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    at: usize,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// The value has another shape.
    Shape(Box<str>),
    /// There are more values than are read at once.
    TooMany,
}

impl Mismatch {
    /// The value that begins at `at` does not fit.
    #[cold]
    pub fn new(at: usize, reason: impl Into<Box<str>>) -> Self {
        Self { at, what: What::Shape(reason.into()) }
    }

    /// The object that begins at `object` lacks a member.
    #[cold]
    pub fn missing(object: usize, name: &str) -> Self {
        Self::new(object, format!("missing field `{name}`"))
    }

    /// The text holds more values than are read at once.
    #[cold]
    pub(crate) fn too_many() -> Self {
        Self { at: 0, what: What::TooMany }
    }

    /// As an error that names the place, counted from the value that begins at `start`.
    #[cold]
    pub fn explain(self, text: &str, start: usize) -> DecodeError {
        let value = text.get(start..).unwrap_or_default();
        match self.what {
            // The byte behind the first one: that of a brace stands in what it opens.
            What::Shape(reason) => {
                DecodeError::mismatch(path::at(value, self.at.saturating_sub(start) + 1), reason)
            }
            What::TooMany => {
                let mut cursor = scan::Cursor::new(value.as_bytes());
                let span = cursor.span(0).unwrap_or_default();
                DecodeError::too_many(scan::count_nodes(&value.as_bytes()[span]))
            }
        }
    }
}
