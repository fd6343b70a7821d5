//! The serializer: one JSON value, written behind what is already there.

use std::fmt::{self, Display, Write as _};

use serde_core::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::write::compound::{Fields, Items, Members};
use crate::write::escape::{escaped, quoted};
use crate::write::rare;
use crate::write::verbatim::{self, Verbatim};

/// Writes a value behind `out`. After an error, part of it may stand there.
///
/// # Errors
/// As `serde_json`: a map with keys that are not strings, or the value's own `Serialize` fails.
#[inline]
pub(crate) fn write<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(Writer { out })
}

/// Where the next value goes.
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut String,
}

macro_rules! integers {
    ($($method:ident($type:ty)),* $(,)?) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Error> {
            self.out.push_str(itoa::Buffer::new().format(value));
            Ok(())
        }
    )*};
}

impl<'a> Writer<'a> {
    /// Opens the object around the one member that a variant with data is.
    #[inline]
    fn variant(&mut self, variant: &str) {
        self.out.push('{');
        quoted(self.out, variant);
        self.out.push(':');
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Members<'a>;

    integers! {
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        rare::write(self.out, &value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        rare::write(self.out, &value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        rare::write(self.out, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        rare::write(self.out, &value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    #[inline]
    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        quoted(self.out, value);
        Ok(())
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        self.out.push_str("null");
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name == verbatim::OWN_TOKEN { value.serialize(Verbatim(self.out)) } else { value.serialize(self) }
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        write(self.out, value)?;
        self.out.push('}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Error> {
        self.variant(variant);
        Ok(Items::open(self.out, "]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(Members::open(self.out, "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Fields<'a>, Error> {
        Ok(Fields::open(self.out, name, len))
    }

    #[inline]
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        self.variant(variant);
        Ok(Members::open(self.out, "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push('"');
        write!(Escaping(self.out), "{value}").map_err(Error::custom)?;
        self.out.push('"');
        Ok(())
    }
}

/// Escapes what is formatted into it.
struct Escaping<'a>(&'a mut String);

impl fmt::Write for Escaping<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escaped(self.0, text);
        Ok(())
    }
}
