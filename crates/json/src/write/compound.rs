//! Values made of others: arrays, objects, and the structs by which `serde_json` says "this is text already".

use serde_core::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::Error;

use crate::write::escape::quoted;
use crate::write::key::KeyWriter;
use crate::write::token::raw_token;
use crate::write::verbatim::Verbatim;
use crate::write::{rare, writer};

/// An array that has been opened.
pub(super) struct Items<'a> {
    out: &'a mut String,
    is_first: bool,
    /// A variant has its object to close too.
    close: &'static str,
}

impl<'a> Items<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, close: &'static str) -> Self {
        out.push('[');
        Self { out, is_first: true, close }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
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

/// An object that has been opened.
pub(super) struct Members<'a> {
    out: &'a mut String,
    is_first: bool,
    /// A variant has its object to close too.
    close: &'static str,
}

impl<'a> Members<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, close: &'static str) -> Self {
        out.push('{');
        Self { out, is_first: true, close }
    }

    #[inline]
    fn comma(&mut self) {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        self.comma();
        quoted(self.out, name);
        self.out.push(':');
        writer::write(self.out, value)
    }

    #[inline]
    fn close(self) {
        self.out.push_str(self.close);
    }
}

/// A struct that has been opened.
pub(super) enum Fields<'a> {
    Object(Members<'a>),
    /// A `RawValue`: its one field is the text.
    Raw(Verbatim<'a>),
    /// A struct that may mean something to `serde_json`: it decides, when the one field is there.
    Theirs {
        out: &'a mut String,
        name: &'static str,
    },
}

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut String, name: &'static str, len: usize) -> Self {
        if len == 1 {
            match name {
                name if name == raw_token() => return Self::Raw(Verbatim(out)),
                rare::TOKEN => return Self::Theirs { out, name },
                _ => {}
            }
        }
        Self::Object(Members::open(out, "}"))
    }
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        match self {
            Self::Object(members) => members.member(name, value),
            Self::Raw(Verbatim(out)) => value.serialize(Verbatim(out)),
            Self::Theirs { out, name: of } => {
                // Text too. Taken first, so that their writer is not made for every type there is.
                let mut text = String::new();
                value.serialize(Verbatim(&mut text))?;
                rare::write_struct(out, of, name, &text)
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

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
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

impl SerializeStructVariant for Members<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.member(name, value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

macro_rules! arrays {
    ($($kind:ident::$method:ident),* $(,)?) => {$(
        impl $kind for Items<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
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
