//! JSON kept as text, with a typed view on demand.
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
use crate::mend::mend_surrogates;
use crate::{path, scan, write};

/// What most messages fit, so that their buffer never grows.
const SMALL_MESSAGE: usize = 256;

/// Texts beyond this get room in powers of two.
const LARGE_TEXT: usize = 64 * 1024;

/// What stays free before a large text.
///
/// Who sends it without copying it leaves that to the kernel, and some processors (AMD's with `fsrm` were measured) take
/// three times as long to copy from a place in a page that is up to 31 bytes before the place in the page they copy to. A
/// large block of the usual allocator begins at 16 in its page, and a little more than that stands before a result on the
/// wire, so it would be so for nearly every large answer.
const LEAD: &str = match std::str::from_utf8(&[b' '; 112]) {
    Ok(spaces) => spaces,
    Err(_) => "",
};

/// The brace in the middle of a text up to this size is taken out; in a larger one a space takes its place, so that the
/// rest need not be moved.
const MOVED: usize = 4 * 1024;

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
    /// The span of one member's value that the scan of a surrounding text noted; empty when it noted none. Saves
    /// whoever walks the members another scan of it, and is not part of the value.
    noted: (u32, u32),
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

    /// As [`Self::encode`], for a text that will have about so many bytes: a large one is then not moved as it grows.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_sized<T: Serialize + ?Sized>(value: &T, bytes: usize) -> Result<Self, EncodeError> {
        let lead = lead(bytes);
        let mut text = String::with_capacity(room(bytes + lead.len()));
        text.push_str(lead);
        write::write(&mut text, value).map_err(EncodeError::new)?;
        Ok(Self::checked(behind(lead, text)))
    }

    /// The same text in room of its own, no more than it needs: for what is kept and sent again and again.
    #[must_use]
    pub fn settled(&self) -> Self {
        let lead = lead(self.len());
        let mut text = String::with_capacity(lead.len() + self.len());
        text.push_str(lead);
        text.push_str(&self.text);
        Self { text: behind(lead, text), noted: self.noted }
    }

    /// Writes a value as JSON behind a text.
    ///
    /// # Errors
    /// As [`Self::encode`]; part of the value may stand there then.
    pub fn write<T: Serialize + ?Sized>(text: &mut String, value: &T) -> Result<(), EncodeError> {
        write::write(text, value).map_err(EncodeError::new)
    }

    /// Writes an object as JSON text, between an `open` like `{"a":1,` and a `close` like `,"c":3}` or `}`. Anything else
    /// than an object is written as it is. `bytes` is about how many the value will have.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_between<T: Serialize + ?Sized>(
        open: &str,
        value: &T,
        close: &str,
        bytes: usize,
    ) -> Result<Self, EncodeError> {
        let lead = lead(bytes);
        let mut text = String::with_capacity(room(bytes + lead.len() + open.len() + close.len()));
        text.push_str(lead);
        text.push_str(open);
        write::write(&mut text, value).map_err(EncodeError::new)?;
        let start = lead.len() + open.len();
        let written = &text.as_bytes()[start..];
        if !written.starts_with(b"{") {
            text.drain(lead.len()..start);
            return Ok(Self::checked(behind(lead, text)));
        }
        if written[1..].trim_ascii_start() == b"}" {
            // No member follows the comma.
            text.truncate(start - 1);
        } else {
            text.pop();
            if text.len() > MOVED {
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
        Ok(Self::checked(behind(lead, text)))
    }

    /// Keeps a text that has been checked already, as part of a text that was scanned. Not checked again in release
    /// builds: the caller guarantees that it is one JSON value without white space around it.
    #[inline]
    pub fn from_checked(text: ByteString) -> Self {
        debug_assert!(scan::check(text.as_bytes()).is_ok(), "one JSON value, checked by the caller");
        Self::checked(text)
    }

    #[inline]
    fn checked(text: ByteString) -> Self {
        Self { text, noted: (0, 0) }
    }

    /// Notes the span of the value of one member, found when the surrounding text was scanned, so that a walk over the
    /// members does not scan that value again.
    #[must_use]
    #[inline]
    pub fn with_noted_span(mut self, span: Option<&Range<usize>>) -> Self {
        let found = span.and_then(|span| Some((span.start.try_into().ok()?, span.end.try_into().ok()?)));
        self.noted = found.unwrap_or_default();
        self
    }

    /// Returns where the value ends that begins at `start`, if that is the noted one.
    #[inline]
    pub(crate) fn noted_end(&self, start: usize) -> Option<usize> {
        (start != 0 && start == self.noted.0 as usize).then_some(self.noted.1 as usize)
    }

    /// The JSON `null`.
    pub fn null() -> Self {
        Self::checked(ByteString::from_static("null"))
    }

    /// The empty object, `{}`.
    pub fn empty_object() -> Self {
        Self::checked(ByteString::from_static("{}"))
    }

    /// The text, byte for byte as it was received or written.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text as shared bytes: cloning them copies nothing.
    #[inline]
    pub fn as_bytes(&self) -> &Bytes {
        self.text.as_bytes()
    }

    /// How many bytes of text this is.
    #[inline]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Never true: a JSON value has at least one byte.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether this is an object.
    #[inline]
    pub fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Whether this is an array.
    #[inline]
    pub fn is_array(&self) -> bool {
        self.text.starts_with('[')
    }

    /// Whether this is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        &*self.text == "null"
    }

    /// Returns the value that is written at a span of the text, as a slice of it.
    ///
    /// # Panics
    /// When the span is not within the text.
    #[inline]
    pub fn part(&self, span: Range<usize>) -> Self {
        Self::checked(self.text.slice_ref(&self.text[span]))
    }

    /// Reads the text into a type.
    ///
    /// A lone surrogate escape (`"\ud800"`, which some peers write) is read as U+FFFD; everything else is exact.
    ///
    /// # Errors
    /// Names the place that does not fit, or says that the value has more than [`MAX_NODES`] parts.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        // As little as can be is generic here: this is made anew for every type that is read.
        self.check_nodes()?;
        let mut mended: Option<String> = None;
        loop {
            match serde_json::from_str(mended.as_deref().unwrap_or(&self.text)) {
                Ok(value) => return Ok(value),
                Err(error) => mended = Some(self.mend(mended.as_deref(), &error)?),
            }
        }
    }

    fn check_nodes(&self) -> Result<(), DecodeError> {
        // A text of n bytes holds at most n / 2 + 1 values, so small texts need no counting.
        if self.text.len() > MAX_NODES * 2 {
            let nodes = scan::count_nodes(self.text.as_bytes());
            if nodes > MAX_NODES {
                return Err(DecodeError::too_many(nodes));
            }
        }
        Ok(())
    }

    /// The text without its lone surrogates; what the error means when it has none, or was mended before.
    #[cold]
    fn mend(&self, before: Option<&str>, error: &serde_json::Error) -> Result<String, DecodeError> {
        match before {
            Some(mended) => Err(explain(mended, error)),
            None => mend_surrogates(&self.text).ok_or_else(|| explain(&self.text, error)),
        }
    }
}

/// How much room a text of about so many bytes is given.
fn room(bytes: usize) -> usize {
    // Allocators hand freed memory back to the system when it is much against the largest piece they have seen, and the
    // next text would have every page of it mapped anew. Room that is never written costs no memory.
    if bytes > LARGE_TEXT { bytes.next_power_of_two() } else { bytes.max(SMALL_MESSAGE) }
}

/// What stands before a text of about so many bytes, and is no part of it.
fn lead(bytes: usize) -> &'static str {
    if bytes > LARGE_TEXT { LEAD } else { "" }
}

/// What stands behind the lead of a text.
fn behind(lead: &str, text: String) -> ByteString {
    let whole = ByteString::from(text);
    if lead.is_empty() { whole } else { whole.slice_ref(&whole[lead.len()..]) }
}

/// What does not fit, and where.
#[cold]
fn explain(text: &str, error: &serde_json::Error) -> DecodeError {
    let path = path::at(text, path::offset(text, error));
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
        // A `Value` has nothing that cannot be written, so the second way is never taken.
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
    fn a_number_too_large_for_its_type_is_an_error_that_names_the_place() {
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
    fn a_node_bomb_is_text_but_never_typed() {
        let text = format!("[{}0]", "0,".repeat(MAX_NODES + 1));
        let raw = Raw::parse(text).unwrap();
        let error = raw.decode::<serde_json::Value>().unwrap_err();
        assert!(matches!(error.kind(), DecodeKind::TooManyNodes { .. }), "{error}");
    }

    #[test]
    fn members_are_put_around_an_object() {
        let around = |value: serde_json::Value, close: &str| {
            Raw::encode_between(r#"{"a":1,"#, &value, close, 0).unwrap().as_str().to_owned()
        };
        assert_eq!(around(serde_json::json!({"b": 2}), r#","c":3}"#), r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!(around(serde_json::json!({}), r#","c":3}"#), r#"{"a":1,"c":3}"#);
        assert_eq!(around(serde_json::json!({"b": {}}), "}"), r#"{"a":1,"b":{}}"#);
        assert_eq!(around(serde_json::json!([1]), r#","c":3}"#), "[1]");
        let spaced = Raw::parse("{ }").unwrap();
        assert_eq!(Raw::encode_between(r#"{"a":1,"#, &spaced, "}", 0).unwrap().as_str(), r#"{"a":1}"#);
        let large = "x".repeat(MOVED);
        let expected = format!(r#"{{"a":1, "b":"{large}"}}"#);
        assert_eq!(around(serde_json::json!({"b": large}), "}"), expected);
    }

    #[test]
    fn a_large_text_is_the_same_behind_its_lead() {
        assert!(lead(LARGE_TEXT).is_empty() && lead(LARGE_TEXT + 1).len() > 31 + 46);
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
