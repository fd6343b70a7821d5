//! A URI as asked for, normalised.
//!
//! Invariant: two spellings of one URI have one base. The scheme is in small letters, unreserved characters are plain,
//! escapes are in capitals, and the path has no `.` and `..`. The authority keeps its case: in `doc://{id}` it is a name.

use std::fmt;
use std::str::FromStr;

use crate::percent;

/// Longer URIs are not read: everything done with one costs its length.
const MOST_BYTES: usize = 8 * 1024;

/// The normalised URI of a resource.
///
/// ```
/// use switchboard::design::ResourceUri;
///
/// let uri: ResourceUri = "DOC://files/a/%2e%2E/%62?limit=3".parse()?;
/// assert_eq!(uri.base(), "doc://files/b");
/// assert_eq!(uri.query(), "limit=3");
/// # Ok::<(), switchboard::design::UriError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceUri {
    base: String,
    query: String,
}

/// A text that is not the URI of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// It does not begin with a scheme like `doc:`.
    #[error("a URI begins with a scheme, like `doc://`")]
    NoScheme,
    /// It has a control character, or an encoded zero.
    #[error("a URI has no control characters, nor `%00`")]
    ControlCharacter,
    /// It has a `#`.
    #[error("the URI of a resource has no `#` part")]
    Fragment,
    /// It has a `%` that two hexadecimal digits do not follow.
    #[error("`%` must be followed by two hexadecimal digits")]
    BrokenEscape,
    /// Decoded, it is not text.
    #[error("the URI is not UTF-8 when it is decoded")]
    NotText,
    /// It is longer than any that is read.
    #[error("the URI is longer than {MOST_BYTES} bytes")]
    TooLong,
}

impl ResourceUri {
    /// Everything before the query.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The query, as written; empty when there is none.
    pub fn query(&self) -> &str {
        &self.query
    }
}

impl FromStr for ResourceUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        if text.len() > MOST_BYTES {
            return Err(UriError::TooLong);
        }
        // An encoded zero would end a name in whatever reads it as a C string: a file system, a shell.
        if text.chars().any(char::is_control) || text.contains("%00") {
            return Err(UriError::ControlCharacter);
        }
        if text.contains('#') {
            return Err(UriError::Fragment);
        }
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = split_scheme(base).ok_or(UriError::NoScheme)?;
        let rest = percent::normal(rest).ok_or(UriError::BrokenEscape)?;
        percent::decode(&rest).ok_or(UriError::NotText)?;
        let (authority, path) = split_authority(&rest);
        let base = format!("{}:{authority}{}", scheme.to_ascii_lowercase(), without_dots(path));
        Ok(Self { base, query: query.to_owned() })
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        if self.query.is_empty() { Ok(()) } else { write!(f, "?{}", self.query) }
    }
}

/// The scheme and what follows its colon.
pub(super) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(inner))
        .then_some((scheme, rest))
}

/// `//authority` and the path.
fn split_authority(rest: &str) -> (&str, &str) {
    match rest.strip_prefix("//") {
        Some(after) => rest.split_at(2 + after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    }
}

/// The path without its dot segments (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let last = at + 1 == segments.len();
        match *segment {
            "." if !last => {}
            ".." if !last => drop(kept.pop()),
            "." => kept.push(""),
            ".." => {
                kept.pop();
                kept.push("");
            }
            segment => kept.push(segment),
        }
    }
    if absolute { format!("/{}", kept.join("/")) } else { kept.join("/") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base(text: &str) -> String {
        text.parse::<ResourceUri>().unwrap().base().to_owned()
    }

    #[test]
    fn spellings_of_one_uri_are_one() {
        for text in
            ["file:///a/b", "FILE:///a/./b", "file:///a/x/../b", "file:///%61/%2E/b", "file:///../a/b"]
        {
            assert_eq!(base(text), "file:///a/b", "{text}");
        }
        assert_eq!(base("file:///a/.."), "file:///");
        assert_eq!(base("doc://Id"), "doc://Id");
        assert_eq!(base("doc://a%2fb"), "doc://a%2Fb");
        assert_eq!(base("urn:isbn:1"), "urn:isbn:1");
        assert_eq!(base("doc://list?a=../x"), "doc://list");
    }

    #[test]
    fn what_is_no_uri_is_refused() {
        let fails = |text: &str| text.parse::<ResourceUri>().unwrap_err();
        assert_eq!(fails("list"), UriError::NoScheme);
        assert_eq!(fails("1x://a"), UriError::NoScheme);
        assert_eq!(fails("doc://a\n"), UriError::ControlCharacter);
        assert_eq!(fails("doc://a#b"), UriError::Fragment);
        assert_eq!(fails("doc://a%2"), UriError::BrokenEscape);
        assert_eq!(fails("doc://%ff"), UriError::NotText);
        assert_eq!(fails(&format!("doc://{}", "a".repeat(9000))), UriError::TooLong);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "[a-z]{1,3}:[ -~é]{0,20}") {
            if let Ok(uri) = text.parse::<ResourceUri>() {
                let again: ResourceUri = uri.to_string().parse().unwrap();
                prop_assert_eq!(again.base(), uri.base());
            }
        }
    }

    #[test]
    fn s10_an_encoded_zero_is_no_part_of_a_uri() {
        for text in ["doc://a%00b", "doc://a/b?q=%00", "doc://a%00"] {
            assert_eq!(text.parse::<ResourceUri>(), Err(UriError::ControlCharacter), "{text}");
        }
        assert!("doc://a%2500".parse::<ResourceUri>().is_ok());
    }
}
