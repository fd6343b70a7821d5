//! Converts checked text to a `RawValue` of `serde_json` without parsing it again.

use serde_core::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde_core::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde_core::forward_to_deserialize_any;
use serde_json::value::RawValue;

/// Returns the text as a `RawValue`, which the serializers of `serde_json` write byte for byte. The text must be one
/// JSON value without surrounding white space. `None` if a later `serde_json` rejects this conversion; the caller then
/// parses.
#[inline]
pub(crate) fn as_raw_value(checked: &str) -> Option<&RawValue> {
    <&RawValue>::deserialize(CheckedTextDeserializer(checked)).ok()
}

/// Mimics the deserializer of `serde_json`, which answers the request for a `RawValue` with a map of one entry: the
/// requested name and the text.
struct CheckedTextDeserializer<'de>(&'de str);

impl<'de> Deserializer<'de> for CheckedTextDeserializer<'de> {
    type Error = serde_core::de::value::Error;

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let entry = (name, BorrowedStrDeserializer::new(self.0));
        visitor.visit_map(MapDeserializer::new(std::iter::once(entry)))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("only a raw value is supported"))
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq bytes byte_buf map struct option unit
        ignored_any unit_struct tuple_struct tuple enum identifier
    }
}
