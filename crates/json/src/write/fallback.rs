//! Delegates rare values to the serializer of `serde_json`.

use std::io;

use serde_core::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Error;

/// The struct name by which `serde_json` marks a number kept as text (feature `arbitrary_precision`, which any crate of
/// a program may enable). Only `serde_json` knows whether the feature is enabled.
pub(super) const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// Appends a value with the serializer of `serde_json`.
pub(super) fn write<T: Serialize>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(&mut serde_json::Serializer::new(StringSink(out)))
}

/// Appends a struct whose only field is text, with the serializer of `serde_json`.
#[cold]
pub(super) fn write_struct(
    out: &mut String,
    name: &'static str,
    field: &'static str,
    value: &str,
) -> Result<(), Error> {
    let mut serializer = serde_json::Serializer::new(StringSink(out));
    let mut fields = serializer.serialize_struct(name, 1)?;
    fields.serialize_field(field, value)?;
    fields.end()
}

/// `io::Write` into a `String`. Every chunk that `serde_json` writes is valid UTF-8 by itself.
struct StringSink<'a>(&'a mut String);

impl io::Write for StringSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text =
            str::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.0.push_str(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
