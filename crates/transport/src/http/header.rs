//! Headers that mirror parts of a request body, so that intermediaries can route without parsing bodies.
//!
//! Invariants: every text survives encoding and decoding, and cannot break out of its header; the server compares the
//! headers with the body and acts on the body only; error messages contain no values, which may be private.
//! See spec 2026-07-28, basic/transports/streamable-http.

use std::borrow::Cow;
use std::fmt;

use ::http::HeaderMap;
use ::http::header::{HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

mod parameters;
mod scalar;

pub use parameters::{
    ANNOTATION, InvalidAnnotation, MirroredParameter, check_parameters, mirror, mirrored_parameters,
};

/// The revision of the request.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of the request.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The name or URI of the tool, prompt, resource or task of the request.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session id, in revisions before 2026.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The id of the last event received, to resume a stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The prefix of the headers of mirrored parameters.
pub const PARAMETER_PREFIX: &str = "mcp-param-";

const BASE64_PREFIX: &str = "=?base64?";
const BASE64_SUFFIX: &str = "?=";

/// Encodes a text as a header value: literally if that is safe, else in Base64 between markers.
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
    let marked = text.starts_with(BASE64_PREFIX) && text.ends_with(BASE64_SUFFIX);
    let value = if visible && trimmed && !marked {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", STANDARD.encode(text)))
    };
    value.expect("visible ASCII is a header value")
}

/// Decodes a header value, from Base64 if it has the markers.
///
/// # Errors
/// When it has bytes outside visible ASCII, or anything but strict Base64 of UTF-8 between the markers.
pub fn decode(value: &HeaderValue) -> Result<String, HeaderDecodeError> {
    decode_borrowed(value).map(Cow::into_owned)
}

/// Decodes a header value without copying a literal one.
fn decode_borrowed(value: &HeaderValue) -> Result<Cow<'_, str>, HeaderDecodeError> {
    let bytes = value.as_bytes().trim_ascii();
    let fits = |byte: &u8| (0x20..=0x7e).contains(byte) || *byte == b'\t';
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|_| bytes.iter().all(fits))
        .ok_or(HeaderDecodeError::Character)?;
    let Some(encoded) = text.strip_prefix(BASE64_PREFIX).and_then(|rest| rest.strip_suffix(BASE64_SUFFIX))
    else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| HeaderDecodeError::Base64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| HeaderDecodeError::Utf8)
}

/// Returns the parameter that [`NAME`] mirrors for this method.
pub fn name_parameter(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Why a header value cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderDecodeError {
    /// It holds a byte outside visible ASCII.
    Character,
    /// The text between the markers is not Base64 with padding.
    Base64,
    /// The decoded bytes are not UTF-8.
    Utf8,
}

/// A header that does not match the body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderMismatch {
    /// The header.
    pub header: HeaderName,
    /// How it differs from the body.
    pub fault: HeaderFault,
}

/// How a header differs from the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The body has a value and the header is missing.
    Missing,
    /// The header has a value and the body does not.
    Unexpected,
    /// The header is repeated.
    Repeated,
    /// The value cannot be decoded.
    Unreadable(HeaderDecodeError),
    /// The value differs from the body.
    Different,
}

/// Compares a header with the text from the body.
///
/// # Errors
/// When they differ; the text of the error can be sent to the client.
pub fn check(headers: &HeaderMap, header: &HeaderName, expected: &str) -> Result<(), HeaderMismatch> {
    let mut values = headers.get_all(header).iter();
    let only = values.next().filter(|_| values.next().is_none());
    // The common case, equal literal bytes, needs no decoding: with the shortcuts of `accept.rs` and `request_checks.rs`
    // 3 % of the instructions of a request.
    if only.is_some_and(|only| only == expected)
        && !expected.starts_with(BASE64_PREFIX)
        && expected.trim_ascii().len() == expected.len()
        && expected.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
    {
        return Ok(());
    }
    check_value(headers, header, true, |text| text == expected)
}

/// Compares a header with the value from the body; `expected` is whether the body has one.
fn check_value(
    headers: &HeaderMap,
    header: &HeaderName,
    expected: bool,
    same: impl FnOnce(&str) -> bool,
) -> Result<(), HeaderMismatch> {
    let mut values = headers.get_all(header).iter();
    let fault = match (values.next(), expected) {
        (None, false) => return Ok(()),
        (None, true) => HeaderFault::Missing,
        (Some(_), false) => HeaderFault::Unexpected,
        (Some(_), true) if values.next().is_some() => HeaderFault::Repeated,
        (Some(value), true) => match decode_borrowed(value) {
            Ok(text) if same(&text) => return Ok(()),
            Ok(_) => HeaderFault::Different,
            Err(unreadable) => HeaderFault::Unreadable(unreadable),
        },
    };
    Err(HeaderMismatch { header: header.clone(), fault })
}

impl fmt::Display for HeaderDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "it holds a character outside visible ASCII",
            Self::Base64 => "it is not valid Base64",
            Self::Utf8 => "it is not UTF-8",
        })
    }
}

impl std::error::Error for HeaderDecodeError {}

impl fmt::Display for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = &self.header;
        match self.fault {
            HeaderFault::Missing => {
                write!(f, "the header {header} is missing, and the body has a value for it")
            }
            HeaderFault::Unexpected => {
                write!(f, "the header {header} is there, and the body has no value for it")
            }
            HeaderFault::Repeated => write!(f, "the header {header} is there more than once"),
            HeaderFault::Unreadable(error) => write!(f, "the header {header} cannot be read: {error}"),
            HeaderFault::Different => write!(f, "the header {header} does not match the body"),
        }
    }
}

impl std::error::Error for HeaderMismatch {}

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
        let cases: [(&[u8], Result<&str, HeaderDecodeError>); 14] = [
            (b"=?base64?SGVsbG8=?=", Ok("Hello")),
            (b" \t=?base64?SGVsbG8=?= ", Ok("Hello")),
            (b"=?base64??=", Ok("")),
            (b"=?base64?=", Ok("=?base64?=")),
            (b"=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            (b"SGVsbG8=?=", Ok("SGVsbG8=?=")),
            (b"a\tb", Ok("a\tb")),
            (b"=?base64?SGVsbG8?=", Err(HeaderDecodeError::Base64)),
            (b"=?base64?SGVs!!!bG8=?=", Err(HeaderDecodeError::Base64)),
            (b"=?base64?SGVs bG8=?=", Err(HeaderDecodeError::Base64)),
            (b"=?base64?SGVsbG9=?=", Err(HeaderDecodeError::Base64)),
            (b"=?base64?_-8=?=", Err(HeaderDecodeError::Base64)),
            (b"=?base64?/w==?=", Err(HeaderDecodeError::Utf8)),
            ("Zürich".as_bytes(), Err(HeaderDecodeError::Character)),
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
            (METHOD, "Tools/call", Some(HeaderFault::Different)),
            (NAME, "ü", None),
            (PROTOCOL_VERSION, "a", Some(HeaderFault::Repeated)),
            (SESSION_ID, "a", Some(HeaderFault::Missing)),
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
            let framed = [BASE64_PREFIX.as_bytes(), &bytes, BASE64_SUFFIX.as_bytes()].concat();
            for bytes in [bytes, framed] {
                if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                    let _ = decode(&value);
                }
            }
        }
    }
}
