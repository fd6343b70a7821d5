//! What does not fit, and where in the text.

use crate::path;
use crate::raw::DecodeError;

/// Something that does not fit the type it is read into.
///
/// Knows the place as an offset only: a path is looked for when somebody is told, because many a misfit is let pass, and
/// looking for each would cost the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    at: usize,
    reason: Box<str>,
}

impl Mismatch {
    /// The value that begins at `at` does not fit.
    #[cold]
    pub(crate) fn new(at: usize, reason: impl Into<Box<str>>) -> Self {
        Self { at, reason: reason.into() }
    }

    /// The object that begins at `object` lacks a member.
    #[cold]
    pub(crate) fn missing(object: usize, name: &str) -> Self {
        Self::new(object, format!("missing field `{name}`"))
    }

    /// As an error that names the place, counted from the value that begins at `start`.
    #[cold]
    pub(crate) fn explain(self, text: &str, start: usize) -> DecodeError {
        let value = text.get(start..).unwrap_or_default();
        // The byte behind the first one: that of a brace stands in what it opens.
        DecodeError::mismatch(path::at(value, self.at.saturating_sub(start) + 1), self.reason)
    }
}
