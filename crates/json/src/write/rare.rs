//! What is left to `serde_json`'s own serializer: values too rare to be worth a second way of writing them.

use std::io;

use serde_core::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Error;

/// How `serde_json` marks a number that it kept as text (its feature `arbitrary_precision`, which any crate of a
/// program may have switched on). Without the feature the name means nothing, which only `serde_json` can know.
pub(super) const TOKEN: &str = "$serde_json::private::Number";

/// Writes a value as `serde_json` does, because it does.
pub(super) fn write<T: Serialize>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(&mut serde_json::Serializer::new(Pipe(out)))
}

/// The same for a struct of one field, which is text.
#[cold]
pub(super) fn write_struct(
    out: &mut String,
    name: &'static str,
    field: &'static str,
    value: &str,
) -> Result<(), Error> {
    let mut theirs = serde_json::Serializer::new(Pipe(out));
    let mut fields = theirs.serialize_struct(name, 1)?;
    fields.serialize_field(field, value)?;
    fields.end()
}

/// Takes the pieces that `serde_json` writes, each of them text by itself.
struct Pipe<'a>(&'a mut String);

impl io::Write for Pipe<'_> {
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
