//! [`ResourceUri`]: a requested URI in normal form.
//!
//! Invariant: equivalent URIs have equal bases. The scheme is in lower case, unreserved characters are unencoded, escapes
//! are in upper case, and the path has no dot segments. The authority keeps its case: in `doc://{id}` it is a name.

use std::fmt;
use std::str::FromStr;

use crate::{percent, uri_syntax};

/// The maximum length of a URI, which bounds the cost of matching.
const MAX_BYTES: usize = 8 * 1024;

/// A normalized resource URI.
///
/// ```
/// use switchboard::service::design::ResourceUri;
///
/// let uri: ResourceUri = "DOC://files/a/%2e%2E/%62?limit=3".parse()?;
/// assert_eq!(uri.base(), "doc://files/b");
/// assert_eq!(uri.query(), "limit=3");
/// # Ok::<(), switchboard::service::design::UriError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceUri {
    base: String,
    query: String,
}

/// The error of parsing a resource URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// The text does not start with a scheme like `doc:`.
    #[error("a URI starts with a scheme, like `doc://`")]
    NoScheme,
    /// The URI contains a control character or `%00`.
    #[error("a URI must not contain control characters or `%00`")]
    ControlCharacter,
    /// The URI has a fragment.
    #[error("a resource URI must not have a fragment (`#`)")]
    Fragment,
    /// A `%` is not followed by two hexadecimal digits.
    #[error("`%` must be followed by two hexadecimal digits")]
    BrokenEscape,
    /// The decoded URI is not UTF-8.
    #[error("the decoded URI is not UTF-8")]
    NotText,
    /// The URI exceeds the maximum length.
    #[error("the URI is longer than {MAX_BYTES} bytes")]
    TooLong,
}

impl ResourceUri {
    /// Returns the URI without its query.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the query as written; empty for a URI without a query.
    pub fn query(&self) -> &str {
        &self.query
    }
}

impl FromStr for ResourceUri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        if text.len() > MAX_BYTES {
            return Err(UriError::TooLong);
        }
        // An encoded NUL would terminate the name in code that uses C strings, such as a file system.
        if text.chars().any(char::is_control) || text.contains("%00") {
            return Err(UriError::ControlCharacter);
        }
        if text.contains('#') {
            return Err(UriError::Fragment);
        }
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = uri_syntax::split_scheme(base).ok_or(UriError::NoScheme)?;
        let rest = percent::normalize(rest).ok_or(UriError::BrokenEscape)?;
        percent::decode(&rest).ok_or(UriError::NotText)?;
        let (authority, path) = split_authority(&rest);
        let base =
            format!("{}:{authority}{}", scheme.to_ascii_lowercase(), uri_syntax::remove_dot_segments(path));
        Ok(Self { base, query: query.to_owned() })
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        if self.query.is_empty() { Ok(()) } else { write!(f, "?{}", self.query) }
    }
}

/// Splits into `//authority` and the path.
fn split_authority(rest: &str) -> (&str, &str) {
    match rest.strip_prefix("//") {
        Some(after) => rest.split_at(2 + after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base(text: &str) -> String {
        text.parse::<ResourceUri>().unwrap().base().to_owned()
    }

    #[test]
    fn equivalent_uris_have_one_base() {
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
    fn invalid_uris_are_rejected() {
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
        fn normalization_is_idempotent(text in "[a-z]{1,3}:[ -~é]{0,20}") {
            if let Ok(uri) = text.parse::<ResourceUri>() {
                let again: ResourceUri = uri.to_string().parse().unwrap();
                prop_assert_eq!(again.base(), uri.base());
            }
        }
    }

    #[test]
    fn s10_an_encoded_nul_is_rejected() {
        for text in ["doc://a%00b", "doc://a/b?q=%00", "doc://a%00"] {
            assert_eq!(text.parse::<ResourceUri>(), Err(UriError::ControlCharacter), "{text}");
        }
        assert!("doc://a%2500".parse::<ResourceUri>().is_ok());
    }
}
