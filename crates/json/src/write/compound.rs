//! Serializers of arrays, objects and structs, including the structs by which `serde_json` marks JSON text.

use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::Error;

use crate::write::escape::write_quoted;
use crate::write::key::KeyWriter;
use crate::write::raw_text::RawTextWriter;
use crate::write::token::serde_json_raw_token;
use crate::write::{fallback, writer};

/// Writes the elements of an open array.
pub(super) struct ArrayWriter<'a> {
    out: &'a mut String,
    is_first: bool,
    /// The closing brackets; for an enum variant also those of its object.
    close: &'static str,
}

impl<'a> ArrayWriter<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, close: &'static str) -> Self {
        out.push('[');
        Self { out, is_first: true, close }
    }

    #[inline]
    fn write_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
        writer::write(self.out, value)
    }

    #[inline]
    fn close(self) {
        self.out.push_str(self.close);
    }
}

/// Writes the members of an open object.
pub(super) struct ObjectWriter<'a> {
    out: &'a mut String,
    is_first: bool,
    /// The closing brackets; for an enum variant also those of its object.
    close: &'static str,
}

impl<'a> ObjectWriter<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, close: &'static str) -> Self {
        out.push('{');
        Self { out, is_first: true, close }
    }

    #[inline]
    fn write_comma(&mut self) {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
    }

    #[inline]
    fn write_member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        self.write_comma();
        write_quoted(self.out, name);
        self.out.push(':');
        writer::write(self.out, value)
    }

    #[inline]
    fn close(self) {
        self.out.push_str(self.close);
    }
}

/// Writes the fields of an open struct.
pub(super) enum StructWriter<'a> {
    Object(ObjectWriter<'a>),
    /// A `RawValue`: its only field is JSON text.
    Raw(RawTextWriter<'a>),
    /// A struct with a private token of `serde_json`, which decides how to write its only field.
    SerdeJsonToken {
        out: &'a mut String,
        name: &'static str,
    },
}

impl<'a> StructWriter<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, name: &'static str, len: usize) -> Self {
        if len == 1 {
            match name {
                name if name == serde_json_raw_token() => return Self::Raw(RawTextWriter(out)),
                fallback::NUMBER_TOKEN => return Self::SerdeJsonToken { out, name },
                _ => {}
            }
        }
        Self::Object(ObjectWriter::open(out, "}"))
    }
}

impl SerializeStruct for StructWriter<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        match self {
            Self::Object(members) => members.write_member(name, value),
            Self::Raw(RawTextWriter(out)) => value.serialize(RawTextWriter(out)),
            Self::SerdeJsonToken { out, name: of } => {
                // The field is text. Collected first, so that the serializer of `serde_json` is not instantiated for
                // every type.
                let mut text = String::new();
                value.serialize(RawTextWriter(&mut text))?;
                fallback::write_struct(out, of, name, &text)
            }
        }
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        if let Self::Object(members) = self {
            members.close();
        }
        Ok(())
    }
}

impl SerializeMap for ObjectWriter<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.write_comma();
        key.serialize(KeyWriter { out: self.out })
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(':');
        writer::write(self.out, value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl SerializeStructVariant for ObjectWriter<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.write_member(name, value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

macro_rules! arrays {
    ($($kind:ident::$method:ident),* $(,)?) => {$(
        impl $kind for ArrayWriter<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.write_element(value)
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

arrays! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}
