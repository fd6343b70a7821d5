//! `Raw`: one checked JSON value as shared text, decoded on demand.
//!
//! Invariant: the text of a [`Raw`] is one valid JSON value, nested at most [`MAX_DEPTH`](crate::MAX_DEPTH) levels.
//! Cloning is a reference count. `Debug` prints the length only, so that a payload never reaches a log by accident.
//! Knows nothing of MCP.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use bytestring::ByteString;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::error::{DecodeError, EncodeError};
use crate::limits::MAX_NODES;
use crate::surrogates::replace_lone_surrogates;
use crate::{path, scan, write};

/// The minimum capacity of an encoding buffer: most messages fit without growing it.
const MIN_CAPACITY: usize = 256;

/// Buffers beyond this size get a capacity that is a power of two.
const LARGE_TEXT: usize = 64 * 1024;

/// [`Raw::encode_between`] removes the inner brace of a text up to this size; in a larger text it overwrites the brace
/// with a space, so that the rest need not be shifted.
const MAX_SHIFTED_BYTES: usize = 4 * 1024;

/// One JSON value as text.
///
/// ```
/// use switchboard::protocol::Raw;
///
/// let raw = Raw::parse(r#"{"city": "Oslo", "days": [1, 2]}"#)?;
/// assert_eq!(raw.as_str(), r#"{"city": "Oslo", "days": [1, 2]}"#); // byte for byte
/// #[derive(serde::Deserialize)]
/// struct Trip { city: String }
/// assert_eq!(raw.decode::<Trip>()?.city, "Oslo");
/// # Ok::<(), switchboard::protocol::DecodeError>(())
/// ```
#[derive(Clone)]
pub struct Raw {
    text: ByteString,
    /// The span of one member's value, recorded when a surrounding text was scanned; empty if none was. Lets an
    /// iteration over the members skip that value without another scan. Not part of the value.
    member_span: (u32, u32),
}

impl Raw {
    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    /// When the text is not JSON or is nested too deep.
    pub fn parse(text: impl Into<ByteString>) -> Result<Self, DecodeError> {
        let text = text.into();
        let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
        scan::check(trimmed.as_bytes()).map_err(|fault| DecodeError::syntax(&fault))?;
        let value = if trimmed.len() == text.len() { text } else { text.slice_ref(trimmed) };
        Ok(Self::checked(value))
    }

    /// Writes a value as JSON text.
    ///
    /// # Errors
    /// When the value cannot be JSON: a map with keys that are not strings, or its own `Serialize` fails.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        Self::encode_sized(value, 0)
    }

    /// Encodes a value whose text will have about `bytes` bytes, so that a large buffer need not grow.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_sized<T: Serialize + ?Sized>(value: &T, bytes: usize) -> Result<Self, EncodeError> {
        let mut text = String::with_capacity(capacity_for(bytes));
        write::write(&mut text, value).map_err(EncodeError::new)?;
        Ok(Self::checked(text.into()))
    }

    /// Returns a copy of the text in a buffer of its own with no spare capacity: for values that are cached, or that
    /// must not keep a larger message alive.
    #[must_use]
    pub fn settled(&self) -> Self {
        Self { text: self.text.to_string().into(), member_span: self.member_span }
    }

    /// Appends a value as JSON to `text`.
    ///
    /// # Errors
    /// As [`Self::encode`]; part of the value may have been appended then.
    pub fn write<T: Serialize + ?Sized>(text: &mut String, value: &T) -> Result<(), EncodeError> {
        write::write(text, value).map_err(EncodeError::new)
    }

    /// Encodes an object and inserts members before and after its own: `open` is like `{"a":1,`, `close` is like
    /// `,"c":3}` or `}`. A value that is not an object is encoded unchanged. `bytes` is the estimated size of the
    /// encoded value.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_between<T: Serialize + ?Sized>(
        open: &str,
        value: &T,
        close: &str,
        bytes: usize,
    ) -> Result<Self, EncodeError> {
        let mut text = String::with_capacity(capacity_for(bytes + open.len() + close.len()));
        text.push_str(open);
        write::write(&mut text, value).map_err(EncodeError::new)?;
        let start = open.len();
        let encoded = &text.as_bytes()[start..];
        if !encoded.starts_with(b"{") {
            text.drain(..start);
            return Ok(Self::checked(text.into()));
        }
        if encoded[1..].trim_ascii_start() == b"}" {
            // The value has no members: drop the comma of `open`.
            text.truncate(start - 1);
        } else {
            text.pop();
            if text.len() > MAX_SHIFTED_BYTES {
                text.replace_range(start..=start, " ");
            } else {
                text.remove(start);
            }
        }
        text.push_str(close);
        debug_assert!(
            serde_json::from_str::<serde_core::de::IgnoredAny>(&text).is_ok(),
            "members and commas on both sides"
        );
        Ok(Self::checked(text.into()))
    }

    /// Wraps a text that has been checked already, such as a slice of a scanned text. Release builds do not check it
    /// again: the caller guarantees that it is one JSON value without surrounding white space.
    #[inline]
    pub fn from_checked(text: ByteString) -> Self {
        debug_assert!(scan::check(text.as_bytes()).is_ok(), "one JSON value, checked by the caller");
        Self::checked(text)
    }

    #[inline]
    fn checked(text: ByteString) -> Self {
        Self { text, member_span: (0, 0) }
    }

    /// Records the span of one member's value, found when the surrounding text was scanned, so that iterating over the
    /// members does not scan that value again.
    #[must_use]
    #[inline]
    pub fn with_member_span(mut self, span: Option<&Range<usize>>) -> Self {
        let found = span.and_then(|span| Some((span.start.try_into().ok()?, span.end.try_into().ok()?)));
        self.member_span = found.unwrap_or_default();
        self
    }

    /// Returns the end of the value that begins at `start`, if its span was recorded.
    #[inline]
    pub(crate) fn member_span_end(&self, start: usize) -> Option<usize> {
        (start != 0 && start == self.member_span.0 as usize).then_some(self.member_span.1 as usize)
    }

    /// Returns the JSON `null`.
    pub fn null() -> Self {
        Self::checked(ByteString::from_static("null"))
    }

    /// Returns the empty object, `{}`.
    pub fn empty_object() -> Self {
        Self::checked(ByteString::from_static("{}"))
    }

    /// Returns the text, byte for byte as it was received or encoded.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text as shared bytes, which are cheap to clone.
    #[inline]
    pub fn as_bytes(&self) -> &Bytes {
        self.text.as_bytes()
    }

    /// Returns the length of the text in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns `false`: a JSON value has at least one byte.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether the value is an object.
    #[inline]
    pub fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Returns whether the value is an array.
    #[inline]
    pub fn is_array(&self) -> bool {
        self.text.starts_with('[')
    }

    /// Returns whether the value is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        &*self.text == "null"
    }

    /// Returns the value at a span of the text, as a slice of it.
    ///
    /// # Panics
    /// When the span is not within the text.
    #[inline]
    pub fn part(&self, span: Range<usize>) -> Self {
        Self::checked(self.text.slice_ref(&self.text[span]))
    }

    /// Decodes the text into a type.
    ///
    /// A lone surrogate escape (`"\ud800"`, which some peers write) is read as U+FFFD; everything else is exact.
    ///
    /// # Errors
    /// When a part does not fit the type (the error names its path), or the value has more than [`MAX_NODES`] parts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        // Keeps the generic part small: it is instantiated for every decoded type.
        self.check_nodes()?;
        let mut replaced: Option<String> = None;
        loop {
            match serde_json::from_str(replaced.as_deref().unwrap_or(&self.text)) {
                Ok(value) => return Ok(value),
                Err(error) => replaced = Some(self.replace_surrogates(replaced.as_deref(), &error)?),
            }
        }
    }

    fn check_nodes(&self) -> Result<(), DecodeError> {
        // A text of n bytes holds at most n / 2 + 1 values, so small texts need no counting.
        if self.text.len() > MAX_NODES * 2 {
            let nodes = scan::count_nodes(self.text.as_bytes());
            if nodes > MAX_NODES {
                return Err(DecodeError::too_many_nodes(nodes));
            }
        }
        Ok(())
    }

    /// Returns the text with lone surrogates replaced. Fails with the decode error if there are none, or if they have
    /// been replaced already.
    #[cold]
    fn replace_surrogates(
        &self,
        before: Option<&str>,
        error: &serde_json::Error,
    ) -> Result<String, DecodeError> {
        match before {
            Some(replaced) => Err(decode_error(replaced, error)),
            None => replace_lone_surrogates(&self.text).ok_or_else(|| decode_error(&self.text, error)),
        }
    }
}

/// Returns the buffer capacity for a text of about `bytes` bytes.
fn capacity_for(bytes: usize) -> usize {
    // Allocators return freed blocks to the system depending on the largest block seen so far; blocks of equal size are
    // reused instead of being mapped again page by page. Capacity that is never written costs no memory.
    if bytes > LARGE_TEXT { bytes.next_power_of_two() } else { bytes.max(MIN_CAPACITY) }
}

/// Converts an error of `serde_json` to one that names the path.
#[cold]
fn decode_error(text: &str, error: &serde_json::Error) -> DecodeError {
    let path = path::at_offset(text, path::error_offset(text, error));
    DecodeError::mismatch(path, error.to_string())
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.text.len())
    }
}

impl Default for Raw {
    fn default() -> Self {
        Self::null()
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        // Encoding a `Value` cannot fail, so the fallback is never taken.
        Self::encode(&value).unwrap_or_else(|_| Self::checked(value.to_string().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DecodeKind;

    #[test]
    fn text_survives_byte_for_byte() {
        let text = r#"{ "a" : 1e999, "b":"\ud800", "c": 123456789012345678901234567890 }"#;
        let raw = Raw::parse(text).unwrap();
        assert_eq!(raw.as_str(), text);
        assert_eq!(serde_json::to_string(&raw).unwrap(), text);
    }

    #[test]
    fn a_lone_surrogate_reads_as_the_replacement_character() {
        let raw = Raw::parse(r#"["\ud800", "\ud83d\ude00", "\\ud800"]"#).unwrap();
        let read: Vec<String> = raw.decode().unwrap();
        assert_eq!(read, ["\u{fffd}", "\u{1f600}", "\\ud800"]);
    }

    #[test]
    fn a_number_too_large_for_its_type_is_an_error_with_its_path() {
        let raw = Raw::parse(r#"{"rows":[1, 1e999]}"#).unwrap();
        let error = raw.decode::<serde_json::Value>().unwrap_err();
        assert!(matches!(error.kind(), DecodeKind::Mismatch { .. }));
        #[derive(serde::Deserialize, Debug)]
        struct Rows {
            #[serde(rename = "rows")]
            _rows: Vec<f64>,
        }
        assert_eq!(raw.decode::<Rows>().unwrap_err().path(), "rows[1]");
    }

    #[test]
    fn a_node_bomb_is_kept_as_text_but_not_decoded() {
        let text = format!("[{}0]", "0,".repeat(MAX_NODES + 1));
        let raw = Raw::parse(text).unwrap();
        let error = raw.decode::<serde_json::Value>().unwrap_err();
        assert!(matches!(error.kind(), DecodeKind::TooManyNodes { .. }), "{error}");
    }

    #[test]
    fn encode_between_inserts_members_around_an_object() {
        let around = |value: serde_json::Value, close: &str| {
            Raw::encode_between(r#"{"a":1,"#, &value, close, 0).unwrap().as_str().to_owned()
        };
        assert_eq!(around(serde_json::json!({"b": 2}), r#","c":3}"#), r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!(around(serde_json::json!({}), r#","c":3}"#), r#"{"a":1,"c":3}"#);
        assert_eq!(around(serde_json::json!({"b": {}}), "}"), r#"{"a":1,"b":{}}"#);
        assert_eq!(around(serde_json::json!([1]), r#","c":3}"#), "[1]");
        let spaced = Raw::parse("{ }").unwrap();
        assert_eq!(Raw::encode_between(r#"{"a":1,"#, &spaced, "}", 0).unwrap().as_str(), r#"{"a":1}"#);
        let large = "x".repeat(MAX_SHIFTED_BYTES);
        let expected = format!(r#"{{"a":1, "b":"{large}"}}"#);
        assert_eq!(around(serde_json::json!({"b": large}), "}"), expected);
    }

    #[test]
    fn a_large_text_is_encoded_whatever_the_estimated_size() {
        let large = "x".repeat(LARGE_TEXT + 1);
        let quoted = format!("\"{large}\"");
        for hint in [0, large.len()] {
            let raw = Raw::encode_sized(&large, hint).unwrap();
            assert_eq!(raw.as_str(), quoted);
            assert_eq!(raw.settled().as_str(), quoted);
            let between =
                |value: serde_json::Value| Raw::encode_between(r#"{"a":1,"#, &value, "}", hint).unwrap();
            assert_eq!(
                between(serde_json::json!({"b": large})).as_str(),
                format!(r#"{{"a":1, "b":{quoted}}}"#)
            );
            assert_eq!(between(serde_json::json!({})).as_str(), r#"{"a":1}"#);
            assert_eq!(between(serde_json::json!([large])).as_str(), format!("[{quoted}]"));
        }
        assert_eq!(Raw::parse("[1]").unwrap().settled().as_str(), "[1]");
    }

    #[test]
    fn debug_shows_no_payload() {
        assert_eq!(format!("{:?}", Raw::parse("\"secret\"").unwrap()), "Raw(8 bytes)");
    }
}
