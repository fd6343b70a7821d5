//! Text that is JSON already: a `Raw` of ours, or a `RawValue` of `serde_json`.
//!
//! A `Raw` says by [`OWN_TOKEN`] that it is one, so that it does not depend on how `serde_json` marks its own. To any other
//! serializer that token means nothing, and it gets the `RawValue` inside.

use serde_core::ser::{Error as _, Serialize, SerializeStruct, Serializer};
use serde_json::Error;

use crate::write::refuse::{refuse, refuse_the_rest};

/// The newtype as which a `Raw` serialises, with a `RawValue` of its text inside.
pub(crate) const OWN_TOKEN: &str = "$switchboard::Raw";

/// Writes a string as it is.
pub(super) struct Verbatim<'a>(pub(super) &'a mut String);

impl Verbatim<'_> {
    fn refuse() -> Error {
        Error::custom("expected RawValue")
    }
}

impl<'a> Serializer for Verbatim<'a> {
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

    refuse_the_rest! { struct as Inner<'a> }

    /// What stands in a `Raw`, whatever `serde_json` calls it.
    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Inner<'a>, Error> {
        if len == 1 { Ok(Inner { text: Some(self.0) }) } else { Err(Self::refuse()) }
    }
}

/// The one field of a `RawValue`.
pub(super) struct Inner<'a> {
    text: Option<&'a mut String>,
}

impl SerializeStruct for Inner<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Error> {
        match self.text.take() {
            Some(text) => value.serialize(Verbatim(text)),
            None => Err(Verbatim::refuse()),
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
