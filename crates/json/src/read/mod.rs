//! Typed views of a checked text.
//!
//! Reading walks over the text a single time; what is kept as JSON is a slice of it.
//!
//! Invariant: the text was checked before, so a walk meets no syntax error and is no deeper than
//! [`MAX_DEPTH`](crate::MAX_DEPTH).

mod mismatch;
mod reader;
mod value;

#[cfg(test)]
mod tests;

pub use mismatch::Mismatch;
pub use reader::Reader;

use crate::error::DecodeError;
use crate::raw::Raw;

/// A type that is read from checked JSON text.
///
/// As [`Raw::decode`], which reads any type that can be deserialised, but in one pass, without copying what is kept as JSON,
/// and with errors that name the innermost place.
///
/// ```
/// use switchboard::protocol::{FromRaw, Raw, Tool};
///
/// let listed = Raw::parse(r#"{"name":"echo","inputSchema":{"type":"object"}}"#)?;
/// let tool = Tool::from_raw(&listed)?;
/// assert_eq!(tool.input_schema.as_str(), r#"{"type":"object"}"#);
/// # Ok::<(), switchboard::protocol::DecodeError>(())
/// ```
pub trait FromRaw: Sized {
    /// Reads the value at which the reader is, and passes it.
    ///
    /// # Errors
    /// Names the place that does not fit.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch>;

    /// Reads a whole text.
    ///
    /// A lone surrogate escape (`"\ud800"`, which some peers write) is read as U+FFFD; everything else is exact.
    ///
    /// # Errors
    /// Names the place that does not fit, or says that the value has more than [`MAX_NODES`](crate::MAX_NODES) parts.
    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        Self::read(&mut Reader::new(raw)).map_err(|mismatch| mismatch.explain(raw.as_str(), 0))
    }
}
