//! Handing text that has been checked to `serde_json` without having it checked again.

use serde_core::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde_core::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde_core::forward_to_deserialize_any;
use serde_json::value::RawValue;

/// The text, which must be one JSON value without space around it, as something that every serializer of `serde_json`
/// writes byte for byte. `None` should `serde_json` no longer take it this way; then it has to be parsed.
#[inline]
pub(crate) fn trust(checked: &str) -> Option<&RawValue> {
    <&RawValue>::deserialize(Checked(checked)).ok()
}

/// Stands in for `serde_json`'s reader: that one answers the wish for a raw value with a map of one entry, the name of
/// the wish and the text.
struct Checked<'de>(&'de str);

impl<'de> Deserializer<'de> for Checked<'de> {
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
        Err(Self::Error::custom("only a raw value can be had"))
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq bytes byte_buf map struct option unit
        ignored_any unit_struct tuple_struct tuple enum identifier
    }
}
