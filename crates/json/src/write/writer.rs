//! The serializer of one JSON value, which is appended to a string.

use std::fmt::{self, Display, Write as _};

use serde_core::ser::{Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::write::compound::{ArrayWriter, ObjectWriter, StructWriter};
use crate::write::escape::{write_escaped, write_quoted};
use crate::write::fallback;
use crate::write::raw_text::{self, RawTextWriter};

/// Appends a value to `out`. After an error, part of it may have been appended.
///
/// # Errors
/// As `serde_json`: a map with keys that are not strings, or the value's own `Serialize` fails.
#[inline]
pub(crate) fn write<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(Writer { out })
}

/// Serializer that appends one value to `out`.
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
    /// Opens the object of an enum variant with data: one member, named for the variant.
    #[inline]
    fn open_variant(&mut self, variant: &str) {
        self.out.push('{');
        write_quoted(self.out, variant);
        self.out.push(':');
    }
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ArrayWriter<'a>;
    type SerializeTuple = ArrayWriter<'a>;
    type SerializeTupleStruct = ArrayWriter<'a>;
    type SerializeTupleVariant = ArrayWriter<'a>;
    type SerializeMap = ObjectWriter<'a>;
    type SerializeStruct = StructWriter<'a>;
    type SerializeStructVariant = ObjectWriter<'a>;

    integers! {
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        fallback::write(self.out, &value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        fallback::write(self.out, &value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        fallback::write(self.out, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        fallback::write(self.out, &value)
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
        write_quoted(self.out, value);
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
        if name == raw_text::OWN_TOKEN {
            value.serialize(RawTextWriter(self.out))
        } else {
            value.serialize(self)
        }
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.open_variant(variant);
        write(self.out, value)?;
        self.out.push('}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<ArrayWriter<'a>, Error> {
        Ok(ArrayWriter::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<ArrayWriter<'a>, Error> {
        Ok(ArrayWriter::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<ArrayWriter<'a>, Error> {
        Ok(ArrayWriter::open(self.out, "]"))
    }

    #[inline]
    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ArrayWriter<'a>, Error> {
        self.open_variant(variant);
        Ok(ArrayWriter::open(self.out, "]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<ObjectWriter<'a>, Error> {
        Ok(ObjectWriter::open(self.out, "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<StructWriter<'a>, Error> {
        Ok(StructWriter::open(self.out, name, len))
    }

    #[inline]
    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ObjectWriter<'a>, Error> {
        self.open_variant(variant);
        Ok(ObjectWriter::open(self.out, "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push('"');
        write!(EscapingFormatter(self.out), "{value}").map_err(Error::custom)?;
        self.out.push('"');
        Ok(())
    }
}

/// Formatting sink that escapes its input.
struct EscapingFormatter<'a>(&'a mut String);

impl fmt::Write for EscapingFormatter<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_escaped(self.0, text);
        Ok(())
    }
}
