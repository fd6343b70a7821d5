//! Errors of reading talks and recordings.

use std::fmt;

/// The largest recording that is read or written.
pub const MAX_RECORDING_BYTES: usize = 64 * 1024 * 1024;

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    at: String,
    problem: String,
}

impl SyntaxError {
    pub(crate) fn new(at: &str, problem: impl Into<String>) -> Self {
        Self { at: at.to_owned(), problem: problem.into() }
    }

    /// Returns the location: `file:line`, or the file.
    pub fn location(&self) -> &str {
        &self.at
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.problem)
    }
}

/// A recording that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file is larger than [`MAX_RECORDING_BYTES`](crate::MAX_RECORDING_BYTES).
    #[error("the recording has {bytes} bytes\nrecordings have at most {} bytes", MAX_RECORDING_BYTES)]
    TooLarge {
        /// The size of the file.
        bytes: usize,
    },
    /// The file is not text.
    #[error("line {line} is not UTF-8\nrecordings are text: record again, or export the session again")]
    NotText {
        /// The first line that is not.
        line: usize,
    },
    /// The file was written by a later version.
    #[error("the recording has format {format:?}\nthis version of Switchboard reads format 1")]
    UnknownFormat {
        /// The format that its header names.
        format: String,
    },
    /// A line cannot be read.
    #[error(transparent)]
    Line(#[from] SyntaxError),
}
