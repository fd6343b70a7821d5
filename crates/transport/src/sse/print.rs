//! The event stream format of the HTML standard, written.
//!
//! Invariant: what is written reads back as it was, but for the kind of line breaks in the data; a name or an id
//! cannot smuggle in another field.

use std::fmt;
use std::time::Duration;

use bytes::{BufMut, BytesMut};

/// An event to be written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// Its id; an empty one takes back the id before it.
    pub id: Option<&'a str>,
    /// When to come again if the stream ends.
    pub retry: Option<Duration>,
    /// Its data. Each line break in it, of any kind, reads back as a newline.
    pub data: Option<&'a [u8]>,
}

/// A name or an id with a line break or a zero byte, which would read back as something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unprintable;

impl fmt::Display for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or id of an event holds a line break or a zero byte")
    }
}

impl std::error::Error for Unprintable {}

/// Writes an event.
///
/// # Errors
/// When its name or id cannot be written; then nothing is.
pub fn print(event: &Outgoing<'_>, into: &mut BytesMut) -> Result<(), Unprintable> {
    let fields = [("event: ", event.name), ("id: ", event.id)];
    if fields.iter().filter_map(|(_, value)| *value).any(|value| value.contains(['\r', '\n', '\0'])) {
        return Err(Unprintable);
    }
    for (field, value) in fields {
        if let Some(value) = value {
            put_line(into, field.as_bytes(), value.as_bytes());
        }
    }
    if let Some(retry) = event.retry {
        put_line(into, b"retry: ", retry.as_millis().to_string().as_bytes());
    }
    let mut rest = event.data;
    while let Some(data) = rest {
        let end = memchr::memchr2(b'\n', b'\r', data);
        let line = end.map_or(data, |end| &data[..end]);
        put_line(into, b"data: ", line);
        rest = end.map(|end| {
            let pair = data[end..].starts_with(b"\r\n");
            &data[end + if pair { 2 } else { 1 }..]
        });
    }
    into.put_u8(b'\n');
    Ok(())
}

/// Writes a comment, which readers pass over: it keeps a silent stream alive.
pub fn print_comment(text: &str, into: &mut BytesMut) {
    for line in text.split(['\n', '\r']) {
        put_line(into, b": ", line.as_bytes());
    }
    into.put_u8(b'\n');
}

fn put_line(into: &mut BytesMut, field: &[u8], value: &[u8]) {
    into.reserve(field.len() + value.len() + 2);
    into.put_slice(field);
    into.put_slice(value);
    into.put_u8(b'\n');
}
