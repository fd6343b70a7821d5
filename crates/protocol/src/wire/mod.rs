//! Decoding and encoding of the protocol types.
//!
//! A type declares its members once, in [`wire!`](object::wire) or [`string_enum!`](string_enum::string_enum). The loop
//! over the members of an object is compiled once and gets a table of names and slots from each type. Derived
//! `Deserialize` implementations would be instantiated per type and dominate the build of a small client.

mod members;
mod object;
mod slot;
mod string_enum;

#[cfg(test)]
mod tests;

use serde_core::de::{Deserializer, Error as _};
use serde_core::{Deserialize, ser::SerializeStruct};
use switchboard_json::{FromRaw, Raw};

pub(crate) use members::{MemberBinding, read_fields, read_members, read_members_with};
pub(crate) use object::{impl_deserialize, wire};
pub(crate) use slot::{
    CapabilitySlot, ContentSlot, Detach, FlattenedSlot, LenientSlot, MemberSlot, ObjectSlot, OptionalSlot,
    RequiredSlot, WholeNumberSlot,
};
pub(crate) use string_enum::{string_enum, unknown_variant};

/// A type that is encoded as a JSON object.
pub(crate) trait WireObject {
    /// The maximum number of members.
    const MEMBERS: usize;

    /// Writes the members into an open object.
    fn write_members<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error>;
}

/// Implements `Deserialize` by decoding JSON text. Parts that stay JSON survive byte for byte through `serde_json`;
/// other formats, and values that serde buffers for `flatten` and `untagged`, are transcoded.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromRaw>(deserializer: D) -> Result<T, D::Error> {
    T::from_raw(&Raw::deserialize(deserializer)?).map_err(D::Error::custom)
}
