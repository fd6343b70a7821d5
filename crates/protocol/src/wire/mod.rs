//! How the types of the protocol are read from checked text, and written.
//!
//! Every type says its members once, in [`wire!`](object::wire) or [`words!`](word::words). Reading walks over the text a single time;
//! what is kept as JSON is a slice of it. The walk itself is compiled once: a type only hands it a table of names and of
//! places to fill. A derived reader is made anew for every type, which is most of what a small client would compile.
//!
//! Invariant: the text was checked before, so a walk meets no fault of the grammar and is no deeper than
//! [`MAX_DEPTH`](crate::MAX_DEPTH).

mod members;
mod mismatch;
mod object;
mod reader;
mod slot;
mod unescape;
mod value;
mod word;

#[cfg(test)]
mod tests;

use serde_core::de::{Deserializer, Error as _};
use serde_core::{Deserialize, ser::SerializeStruct};

pub(crate) use members::{Member, read_members, read_members_and};
pub use mismatch::Mismatch;
pub(crate) use object::{deserialized, wire};
pub use reader::Reader;
pub(crate) use slot::{Blocks, Declared, Fit, Flat, Lasting, May, Need, ObjectOnly, Slot, Whole};
pub(crate) use unescape::{decode_string, unescape};
pub(crate) use word::{unknown_word, words};

use crate::error::DecodeError;
use crate::raw::Raw;

/// A part of the protocol that is read from text.
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

/// A type that is an object on the wire.
pub(crate) trait Object {
    /// How many members it has at most.
    const MEMBERS: usize;

    /// Writes the members of this among others.
    fn write_members<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error>;
}

/// Reads through any deserializer of `serde_json`, for those who hold these types in their own. Others cannot give the text
/// that is kept: neither other formats nor what serde buffers for `flatten` and `untagged`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromRaw>(deserializer: D) -> Result<T, D::Error> {
    T::from_raw(&Raw::deserialize(deserializer)?).map_err(D::Error::custom)
}
