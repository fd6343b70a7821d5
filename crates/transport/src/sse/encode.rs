//! Encoder for server-sent events, the event stream format of the HTML standard.
//!
//! Invariant: decoding returns the same event, except for the kind of line breaks in the data; a name or an id cannot
//! inject another field.

use std::fmt;
use std::time::Duration;

use bytes::{BufMut, BytesMut};

/// The fields of an event to encode.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventFields<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// Its id; an empty one resets the last id.
    pub id: Option<&'a str>,
    /// The reconnection delay.
    pub retry: Option<Duration>,
    /// Its data. Each line break, of any kind, is decoded as a newline.
    pub data: Option<&'a [u8]>,
}

/// A name or an id has a line break or a zero byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventEncodeError;

impl fmt::Display for EventEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name or id of an event holds a line break or a zero byte")
    }
}

impl std::error::Error for EventEncodeError {}

/// Encodes an event.
///
/// # Errors
/// When its name or id cannot be encoded; then nothing is written.
pub fn encode_event(event: &EventFields<'_>, into: &mut BytesMut) -> Result<(), EventEncodeError> {
    let fields = [("event: ", event.name), ("id: ", event.id)];
    if fields.iter().filter_map(|(_, value)| *value).any(|value| value.contains(['\r', '\n', '\0'])) {
        return Err(EventEncodeError);
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

/// Encodes a comment, which decoders ignore: it keeps an idle stream alive.
pub fn encode_comment(text: &str, into: &mut BytesMut) {
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
