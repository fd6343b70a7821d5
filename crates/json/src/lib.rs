//! JSON kept as text: checked once, decoded on demand, written back byte for byte. No I/O, no async.
//!
//! 1. [`Cursor`] checks a text in one pass, without recursion or allocation.
//! 2. [`Raw`] keeps a checked value as shared text. [`Raw::fields`] and [`Raw::elements`] return its parts as slices of
//!    the same text.
//! 3. [`FromRaw`] and [`Raw::decode`] read a value into a type; a [`DecodeError`] names the path of the part that does
//!    not fit.
//! 4. [`Raw::encode`] writes any serializable value; a [`Raw`] inside it is copied and not parsed again.
//! 5. [`Raw::canonical`] returns the same text for every spelling of the same value.
//!
//! **Invariants.** The text of a [`Raw`] is one valid JSON value of at most [`MAX_DEPTH`] levels. No text is changed
//! unless the caller asks for it: member order, white space, number spelling and escapes survive.

mod canonical;
mod error;
mod fields;
mod limits;
mod map;
mod path;
mod raw;
mod read;
mod scan;
mod special_bytes;
mod surrogates;
mod syntax;
mod transcode;
mod unescape;
mod write;

pub use error::{DecodeError, DecodeKind, EncodeError};
pub use fields::{Elements, FieldSpans, FieldTexts, Name, ObjectFields};
pub use limits::{MAX_DEPTH, MAX_NODES};
pub use map::OrderedMap;
pub use raw::Raw;
pub use read::{FromRaw, Mismatch, RawReader};
pub use scan::{Cursor, MemberKey};
pub use syntax::{SyntaxError, SyntaxErrorKind};
pub use unescape::decode_string;
