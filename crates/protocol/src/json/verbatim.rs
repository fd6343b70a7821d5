//! Text that is JSON already: what stands in a `RawValue`.

use serde_core::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::json::refuse::{refuse, refuse_the_rest};

/// The struct as which a `RawValue` serialises, with its text as the one field. A test fails should this change.
pub(super) const TOKEN: &str = "$serde_json::private::RawValue";

/// Writes a string as it is.
pub(super) struct Verbatim<'a>(pub(super) &'a mut String);

impl Verbatim<'_> {
    fn refuse() -> Error {
        Error::custom("expected RawValue")
    }
}

impl Serializer for Verbatim<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.0.push_str(text);
        Ok(())
    }

    refuse! {
        serialize_bool(bool), serialize_char(char),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_f32(f32), serialize_f64(f64),
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Err(Self::refuse())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<(), Error> {
        Err(Self::refuse())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(Self::refuse())
    }

    refuse_the_rest! {}
}
