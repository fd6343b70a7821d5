//! Headers that repeat what a request's body says, so that what stands between can route without reading bodies.
//!
//! Invariants: a value reads back as it was, whatever characters it holds, and cannot end its header; the server
//! compares every header it knows with the body and never acts on the header; no message holds a value, which may be
//! private. See spec 2026-07-28, basic/transports/streamable-http.

use std::borrow::Cow;
use std::fmt;

use ::http::HeaderMap;
use ::http::header::{HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

mod marked;
mod scalar;

pub use marked::{ANNOTATION, Invalid, Marked, check_parameters, marked, mirror};

/// The revision of the request.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of the request.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The name or address the request is about: of a tool, a prompt, a resource or a task.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session, before 2026.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event seen, when a stream is resumed.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How the headers of marked parameters begin.
pub const PARAMETER_PREFIX: &str = "mcp-param-";

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// A text as the value of a header: as it is where that is safe, else in Base64 between markers.
///
/// ```
/// use switchboard::transport::http::header::{decode, encode};
///
/// assert_eq!(encode("us-west1"), "us-west1");
/// assert_eq!(encode("a\r\nb"), "=?base64?YQ0KYg==?=");
/// assert_eq!(decode(&encode("a\r\nb")).unwrap(), "a\r\nb");
/// ```
pub fn encode(text: &str) -> HeaderValue {
    let visible = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let trimmed = !text.starts_with(' ') && !text.ends_with(' ');
    let marked = text.starts_with(OPEN) && text.ends_with(CLOSE);
    let value = if visible && trimmed && !marked {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("{OPEN}{}{CLOSE}", STANDARD.encode(text)))
    };
    value.expect("visible ASCII is a header value")
}

/// The text of a header, out of Base64 if it stands between the markers.
///
/// # Errors
/// When it holds bytes no header should, or something that is not strict Base64 of UTF-8 between the markers.
pub fn decode(value: &HeaderValue) -> Result<String, Unreadable> {
    decoded(value).map(Cow::into_owned)
}

/// The same, without a copy where it stands as it is.
fn decoded(value: &HeaderValue) -> Result<Cow<'_, str>, Unreadable> {
    let bytes = value.as_bytes().trim_ascii();
    let fits = |byte: &u8| (0x20..=0x7e).contains(byte) || *byte == b'\t';
    let text =
        std::str::from_utf8(bytes).ok().filter(|_| bytes.iter().all(fits)).ok_or(Unreadable::Character)?;
    let Some(packed) = text.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else {
        return Ok(Cow::Borrowed(text));
    };
    let unpacked = STANDARD.decode(packed).map_err(|_| Unreadable::Base64)?;
    String::from_utf8(unpacked).map(Cow::Owned).map_err(|_| Unreadable::Utf8)
}

/// The member of the parameters that says what a request is about, where a header repeats it.
pub fn subject(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Why the value of a header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It holds a byte outside visible ASCII.
    Character,
    /// What stands between the markers is not Base64 with its padding.
    Base64,
    /// What was packed is not UTF-8.
    Utf8,
}

/// A header that does not say what the body says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The header.
    pub header: HeaderName,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The body has a value and the header is not there.
    Missing,
    /// The header has a value and the body does not.
    Unexpected,
    /// It is there more than once.
    Repeated,
    /// It cannot be read.
    Unreadable(Unreadable),
    /// It has another value than the body.
    Different,
}

/// Compares a header with the text the body has in its place.
///
/// # Errors
/// When they do not agree; the text of the error can be sent to the client.
pub fn check(headers: &HeaderMap, header: &HeaderName, expected: &str) -> Result<(), Mismatch> {
    let mut values = headers.get_all(header).iter();
    let only = values.next().filter(|_| values.next().is_none());
    // Nearly always the same letters on both sides, which needs no reading where they stand for themselves.
    if only.is_some_and(|only| only == expected)
        && !expected.starts_with(OPEN)
        && expected.trim_ascii().len() == expected.len()
        && expected.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
    {
        return Ok(());
    }
    check_value(headers, header, true, |text| text == expected)
}

/// Compares a header with what the body has in its place, if it has anything.
fn check_value(
    headers: &HeaderMap,
    header: &HeaderName,
    expected: bool,
    same: impl FnOnce(&str) -> bool,
) -> Result<(), Mismatch> {
    let mut values = headers.get_all(header).iter();
    let fault = match (values.next(), expected) {
        (None, false) => return Ok(()),
        (None, true) => Fault::Missing,
        (Some(_), false) => Fault::Unexpected,
        (Some(_), true) if values.next().is_some() => Fault::Repeated,
        (Some(value), true) => match decoded(value) {
            Ok(text) if same(&text) => return Ok(()),
            Ok(_) => Fault::Different,
            Err(unreadable) => Fault::Unreadable(unreadable),
        },
    };
    Err(Mismatch { header: header.clone(), fault })
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "it holds a character outside visible ASCII",
            Self::Base64 => "it is not valid Base64",
            Self::Utf8 => "it is not UTF-8",
        })
    }
}

impl std::error::Error for Unreadable {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = &self.header;
        match self.fault {
            Fault::Missing => write!(f, "the header {header} is missing, and the body has a value for it"),
            Fault::Unexpected => write!(f, "the header {header} is there, and the body has no value for it"),
            Fault::Repeated => write!(f, "the header {header} is there more than once"),
            Fault::Unreadable(why) => write!(f, "the header {header} cannot be read: {why}"),
            Fault::Different => write!(f, "the header {header} does not match the body"),
        }
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_packed_only_where_they_must() {
        let cases = [
            ("us-west1", "us-west1"),
            ("two words", "two words"),
            ("", ""),
            ("~!@#$%^&*()", "~!@#$%^&*()"),
            (" lead", "=?base64?IGxlYWQ=?="),
            ("trail ", "=?base64?dHJhaWwg?="),
            (" ", "=?base64?IA==?="),
            ("a\tb", "=?base64?YQli?="),
            ("Zürich", "=?base64?WsO8cmljaA==?="),
            ("日本", "=?base64?5pel5pys?="),
            ("a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?="),
            ("nul\0", "=?base64?bnVsAA==?="),
            ("\x7f", "=?base64?fw==?="),
            ("=?base64?SGVsbG8=?=", "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
            ("SGVsbG8=", "SGVsbG8="),
        ];
        for (text, value) in cases {
            assert_eq!(encode(text), value, "{text:?}");
            assert_eq!(decode(&encode(text)).as_deref(), Ok(text), "{text:?}");
        }
    }

    #[test]
    fn reading_is_strict() {
        let cases: [(&[u8], Result<&str, Unreadable>); 14] = [
            (b"=?base64?SGVsbG8=?=", Ok("Hello")),
            (b" \t=?base64?SGVsbG8=?= ", Ok("Hello")),
            (b"=?base64??=", Ok("")),
            (b"=?base64?=", Ok("=?base64?=")),
            (b"=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            (b"SGVsbG8=?=", Ok("SGVsbG8=?=")),
            (b"a\tb", Ok("a\tb")),
            (b"=?base64?SGVsbG8?=", Err(Unreadable::Base64)),
            (b"=?base64?SGVs!!!bG8=?=", Err(Unreadable::Base64)),
            (b"=?base64?SGVs bG8=?=", Err(Unreadable::Base64)),
            (b"=?base64?SGVsbG9=?=", Err(Unreadable::Base64)),
            (b"=?base64?_-8=?=", Err(Unreadable::Base64)),
            (b"=?base64?/w==?=", Err(Unreadable::Utf8)),
            ("Zürich".as_bytes(), Err(Unreadable::Character)),
        ];
        for (bytes, expected) in cases {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            assert_eq!(decode(&value).as_deref(), expected.as_ref().map(|text| *text), "{value:?}");
        }
    }

    #[test]
    fn a_header_is_compared_with_the_body() {
        let mut headers = HeaderMap::new();
        headers.insert(METHOD, HeaderValue::from_static("tools/call"));
        headers.insert(NAME, HeaderValue::from_static("=?base64?w7w=?="));
        headers.append(PROTOCOL_VERSION, HeaderValue::from_static("a"));
        headers.append(PROTOCOL_VERSION, HeaderValue::from_static("a"));
        let faults = [
            (METHOD, "tools/call", None),
            (METHOD, "Tools/call", Some(Fault::Different)),
            (NAME, "ü", None),
            (PROTOCOL_VERSION, "a", Some(Fault::Repeated)),
            (SESSION_ID, "a", Some(Fault::Missing)),
        ];
        for (header, expected, fault) in faults {
            assert_eq!(check(&headers, &header, expected).err().map(|error| error.fault), fault, "{header}");
        }
        let text = check(&headers, &METHOD, "secret").unwrap_err().to_string();
        assert_eq!(text, "the header mcp-method does not match the body");
    }

    proptest! {
        #[test]
        fn every_text_reads_back(text in any::<String>()) {
            let value = encode(&text);
            prop_assert!(value.as_bytes().iter().all(|byte| (0x20..=0x7e).contains(byte)));
            prop_assert_eq!(decode(&value), Ok(text));
        }

        #[test]
        fn control_characters_never_get_out(text in "[\r\n\0\t a=?:]{0,20}") {
            prop_assert!(!encode(&text).as_bytes().iter().any(u8::is_ascii_control));
            prop_assert_eq!(decode(&encode(&text)), Ok(text));
        }

        #[test]
        fn no_value_makes_it_panic(bytes in proptest::collection::vec(0u8.., 0..40)) {
            let framed = [OPEN.as_bytes(), &bytes, CLOSE.as_bytes()].concat();
            for bytes in [bytes, framed] {
                if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                    let _ = decode(&value);
                }
            }
        }
    }
}
