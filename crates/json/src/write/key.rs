//! Serializer of member names: strings, and numbers and booleans as their text in quotes.

use std::fmt::Display;

use serde_core::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::write::unsupported::unsupported_compounds;
use crate::write::writer::Writer;

/// Appends the name of a member to `out`.
///
/// # Errors
/// When the value is neither a string nor a number nor a boolean.
pub(crate) fn write_key<T: Serialize + ?Sized>(out: &mut String, key: &T) -> Result<(), Error> {
    key.serialize(KeyWriter { out })
}

/// Serializer that appends one member name to `out`.
pub(super) struct KeyWriter<'a> {
    pub(super) out: &'a mut String,
}

impl KeyWriter<'_> {
    fn unsupported() -> Error {
        Error::custom("key must be a string")
    }

    fn write_in_quotes<T: Serialize>(self, value: T) -> Result<(), Error> {
        self.out.push('"');
        value.serialize(Writer { out: self.out })?;
        self.out.push('"');
        Ok(())
    }

    fn write_finite<T: Serialize>(self, value: T, is_finite: bool) -> Result<(), Error> {
        if !is_finite {
            return Err(Error::custom("float key must be finite (got NaN or +/-inf)"));
        }
        self.write_in_quotes(value)
    }
}

macro_rules! write_in_quotes {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Error> {
            self.write_in_quotes(value)
        }
    )*};
}

impl Serializer for KeyWriter<'_> {
    type Ok = ();
    type Error = Error;

    write_in_quotes! {
        serialize_bool(bool),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128),
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.write_finite(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.write_finite(value, value.is_finite())
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<(), Error> {
        Writer { out: self.out }.serialize_char(value)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        Writer { out: self.out }.serialize_str(value)
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        Writer { out: self.out }.collect_str(value)
    }

    unsupported_compounds! {}
}
