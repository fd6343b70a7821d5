//! Decodes checked text into types in a single pass; parts that stay JSON become slices of the text.
//!
//! Invariant: the text has been checked, so a reader meets no syntax error and recurses at most
//! [`MAX_DEPTH`](crate::MAX_DEPTH) levels.

mod mismatch;
mod reader;
mod value;

#[cfg(test)]
mod tests;

pub use mismatch::Mismatch;
pub use reader::RawReader;

use crate::error::DecodeError;
use crate::raw::Raw;

/// A type that can be decoded from checked JSON text.
///
/// Compared with [`Raw::decode`], which decodes any `Deserialize` type, this makes one pass, slices instead of copying
/// parts that stay JSON, and reports the path of the innermost mismatch.
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
    /// Decodes the value at the reader and moves behind it.
    ///
    /// # Errors
    /// When the value or a part of it does not fit the type.
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch>;

    /// Decodes a whole text.
    ///
    /// A lone surrogate escape (`"\ud800"`, which some peers write) is read as U+FFFD; everything else is exact.
    ///
    /// # Errors
    /// When a part does not fit the type (the error names its path), or the value has more than
    /// [`MAX_NODES`](crate::MAX_NODES) parts.
    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        Self::read(&mut RawReader::new(raw)).map_err(|mismatch| mismatch.into_decode_error(raw.as_str(), 0))
    }
}
