//! How the types of the protocol are read from checked text, and written.
//!
//! Every type says its members once, in [`wire!`](object::wire) or [`string_enum!`](string_enum::string_enum). The walk over the text is
//! compiled once: a type only hands it a table of names and of places to fill. A derived reader is made anew for every
//! type, which is most of what a small client would compile.

mod members;
mod object;
mod slot;
mod string_enum;

#[cfg(test)]
mod tests;

use serde_core::de::{Deserializer, Error as _};
use serde_core::{Deserialize, ser::SerializeStruct};
use switchboard_json::{FromRaw, Raw};

pub(crate) use members::{MemberBinding, read_members, read_members_with};
pub(crate) use object::{impl_deserialize, wire};
pub(crate) use slot::{
    CapabilitySlot, ContentSlot, Detach, FlattenedSlot, LenientSlot, MemberSlot, ObjectSlot, OptionalSlot,
    RequiredSlot, WholeNumberSlot,
};
pub(crate) use string_enum::{string_enum, unknown_variant};

/// A type that is an object on the wire.
pub(crate) trait WireObject {
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
