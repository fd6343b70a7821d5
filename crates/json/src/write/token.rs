//! The private newtype name by which `serde_json` requests and marks a `RawValue`.
//!
//! The name is private to `serde_json`, so it is not spelled here but learned by deserializing a `RawValue` once.

use std::sync::LazyLock;

use serde_core::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde_core::forward_to_deserialize_any;
use serde_json::value::RawValue;

/// Returns the name. Empty, which matches no struct, if a later `serde_json` no longer requests a `RawValue` by name.
#[inline]
pub(crate) fn serde_json_raw_token() -> &'static str {
    static TOKEN: LazyLock<&str> = LazyLock::new(probe);
    *TOKEN
}

#[cold]
fn probe() -> &'static str {
    let mut name = "";
    // Fails by design: the probe has no value.
    let _ = <&RawValue>::deserialize(Probe(&mut name));
    name
}

/// Deserializer that records the name of the requested newtype.
struct Probe<'p>(&'p mut &'static str);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = serde_core::de::value::Error;

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = name;
        Err(Self::Error::custom("a probe has no value"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("a probe has no value"))
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq bytes byte_buf map struct option unit
        ignored_any unit_struct tuple_struct tuple enum identifier
    }
}
