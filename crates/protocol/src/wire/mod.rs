//! How the types of the protocol are read from checked text, and written.
//!
//! Every type says its members once, in [`wire!`](object::wire) or [`words!`](word::words). The walk over the text is
//! compiled once: a type only hands it a table of names and of places to fill. A derived reader is made anew for every
//! type, which is most of what a small client would compile.

mod members;
mod object;
mod slot;
mod word;

#[cfg(test)]
mod tests;

use serde_core::de::{Deserializer, Error as _};
use serde_core::{Deserialize, ser::SerializeStruct};
use switchboard_json::{FromRaw, Raw};

pub(crate) use members::{Member, read_members, read_members_and};
pub(crate) use object::{deserialized, wire};
pub(crate) use slot::{Blocks, Declared, Fit, Flat, Lasting, May, Need, ObjectOnly, Slot, Whole};
pub(crate) use word::{unknown_word, words};

/// A type that is an object on the wire.
pub(crate) trait Object {
    /// How many members it has at most.
    const MEMBERS: usize;

    /// Writes the members of this among others.
    fn write_members<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error>;
}

/// Reads through any deserializer, for those who hold these types in their own. Text that is kept survives byte for byte
/// through `serde_json`; other formats, and what serde buffers for `flatten` and `untagged`, are transcoded.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromRaw>(deserializer: D) -> Result<T, D::Error> {
    T::from_raw(&Raw::deserialize(deserializer)?).map_err(D::Error::custom)
}
