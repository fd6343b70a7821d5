//! Serializer of JSON text: a `Raw`, or a `RawValue` of `serde_json`.
//!
//! A `Raw` is marked by [`OWN_TOKEN`], so that it does not depend on how `serde_json` marks a `RawValue`. Other
//! serializers ignore the token and serialize the `RawValue` inside.

use serde_core::ser::{Error as _, Serialize, SerializeStruct, Serializer};
use serde_json::Error;

use crate::write::unsupported::{unsupported_compounds, unsupported_scalars};

/// The newtype name of a serialized `Raw`, which contains a `RawValue` of its text.
pub(crate) const OWN_TOKEN: &str = "$switchboard::protocol::Raw";

/// Serializer that appends a string unchanged, because it is JSON text.
pub(super) struct RawTextWriter<'a>(pub(super) &'a mut String);

impl RawTextWriter<'_> {
    fn unsupported() -> Error {
        Error::custom("expected RawValue")
    }
}

impl<'a> Serializer for RawTextWriter<'a> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.0.push_str(text);
        Ok(())
    }

    unsupported_scalars! {
        serialize_bool(bool), serialize_char(char),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_f32(f32), serialize_f64(f64),
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Err(Self::unsupported())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<(), Error> {
        Err(Self::unsupported())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(Self::unsupported())
    }

    unsupported_compounds! { struct as RawValueField<'a> }

    /// The `RawValue` inside a `Raw`, whatever name `serde_json` gives it.
    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<RawValueField<'a>, Error> {
        if len == 1 { Ok(RawValueField { text: Some(self.0) }) } else { Err(Self::unsupported()) }
    }
}

/// Writes the only field of a `RawValue`.
pub(super) struct RawValueField<'a> {
    text: Option<&'a mut String>,
}

impl SerializeStruct for RawValueField<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Error> {
        match self.text.take() {
            Some(text) => value.serialize(RawTextWriter(text)),
            None => Err(RawTextWriter::unsupported()),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
