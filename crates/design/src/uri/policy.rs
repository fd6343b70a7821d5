//! [`UriPolicy`]: allow and deny lists for resource URIs.
//!
//! Invariants: deny wins over allow; an empty allow list allows everything; a URI is denied if *any* form of it is denied,
//! and allowed only if *every* form of it is allowed. The decision depends on the URI alone.

use super::glob::{GlobError, UriForms};
use super::pattern::UriPattern;
use super::resource_uri::ResourceUri;

/// Allow and deny lists of globs over resource URIs.
///
/// `*` matches within a segment and `**` matches everything; the query is ignored. Denying `x/**` also denies `x`.
///
/// ```
/// use switchboard::service::design::UriPolicy;
///
/// let policy = UriPolicy::new(["doc://**"], ["doc://private/**"])?;
/// assert!(policy.allows(&"doc://a/b?limit=3".parse().expect("a URI")));
/// assert!(!policy.allows(&"doc://a/%2e%2e%2fprivate/b".parse().expect("a URI")));
/// # Ok::<(), switchboard::service::design::GlobError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UriPolicy {
    allow: Vec<UriForms>,
    deny: Vec<UriForms>,
}

impl UriPolicy {
    /// Parses the allow and deny lists. An empty allow list allows everything that is not denied.
    ///
    /// # Errors
    /// Names the first text that is not a URI glob.
    pub fn new<A: AsRef<str>, D: AsRef<str>>(
        allow: impl IntoIterator<Item = A>,
        deny: impl IntoIterator<Item = D>,
    ) -> Result<Self, GlobError> {
        Ok(Self { allow: parse_globs(allow)?, deny: parse_globs(deny)? })
    }

    /// Returns whether a resource may be read.
    pub fn allows(&self, uri: &ResourceUri) -> bool {
        if self.allow.is_empty() && self.deny.is_empty() {
            return true;
        }
        let uri = UriForms::from_uri(uri);
        let denied = self.deny.iter().any(|glob| glob.covers_either(&uri));
        let allowed = self.allow.is_empty() || self.allow.iter().any(|glob| glob.covers_both(&uri));
        !denied && allowed
    }

    /// Returns whether a resource may be listed: some URI of its pattern may be readable.
    pub fn shows(&self, pattern: &UriPattern) -> bool {
        let pattern = UriForms::from_pattern(pattern);
        let denied = self.deny.iter().any(|glob| glob.covers_either(&pattern));
        let allowed = self.allow.is_empty() || self.allow.iter().any(|glob| glob.intersects(&pattern));
        !denied && allowed
    }
}

fn parse_globs<G: AsRef<str>>(globs: impl IntoIterator<Item = G>) -> Result<Vec<UriForms>, GlobError> {
    globs.into_iter().map(|glob| UriForms::from_glob(glob.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allows(allow: &[&str], deny: &[&str], uri: &str) -> bool {
        UriPolicy::new(allow, deny).unwrap().allows(&uri.parse().unwrap())
    }

    #[test]
    fn deny_wins_and_an_empty_allow_list_allows_all() {
        for (allow, deny, uri, expected) in [
            (&[][..], &[][..], "doc://a", true),
            (&["doc://a"], &[], "doc://a", true),
            (&["doc://a"], &[], "doc://a?x=1", true),
            (&["doc://a"], &[], "doc://b", false),
            (&[], &["doc://a"], "doc://a", false),
            (&[], &["doc://a"], "doc://a?x=1", false),
            (&[], &["doc://a"], "doc://b", true),
            (&["doc://a"], &["doc://a"], "doc://a", false),
            (&["doc://**"], &["doc://a"], "doc://a", false),
            (&["doc://*"], &[], "doc://a/b", false),
            (&["doc://**"], &[], "doc://a/b", true),
        ] {
            assert_eq!(allows(allow, deny, uri), expected, "{allow:?} {deny:?} {uri}");
        }
    }

    #[test]
    fn no_equivalent_spelling_evades_the_policy() {
        for uri in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "file:///%65tc/passwd",
            "file:///pub/../etc/passwd",
            "file:///pub/%2e%2E/etc/passwd",
            "file:///pub/..%2Fetc/passwd",
            "file:///pub%2f..%2fetc%2fpasswd",
            "file:///pub/..%5Cetc/passwd",
            "file:////etc//passwd",
            "file:///./etc/passwd/",
            "file://etc/passwd",
            "file:etc/passwd",
            "file:///etc/passwd?x=1",
        ] {
            assert!(!allows(&[], &["file:///etc/**"], uri), "{uri} is denied");
            assert!(!allows(&["file:///pub/**"], &[], uri), "{uri} is not allowed");
        }
        assert!(allows(&["file:///pub/**"], &["file:///etc/**"], "file:///pub/a%20b"));
        // Decoded once, as a handler would do: a file with an unusual name.
        assert!(allows(&[], &["file:///etc/**"], "file:///%252e%252e/etc"));
    }

    #[test]
    fn lists_show_readable_resources() {
        let policy = UriPolicy::new(["doc://pub/*", "doc://list"], ["doc://pub/hidden", "log://**"]).unwrap();
        let shows = |text: &str| policy.shows(&text.parse().unwrap());
        assert!(shows("doc://list"));
        assert!(shows("doc://pub/{id}"));
        assert!(shows("doc://{area}/{id}"));
        assert!(!shows("doc://pub/hidden"));
        assert!(!shows("doc://other/{id}"));
        assert!(!shows("log://{id}"));
    }

    #[test]
    fn invalid_globs_are_rejected() {
        for text in ["doc", "doc://a?x", "doc://a/../b", "doc://%zz"] {
            assert_eq!(UriPolicy::new([text], [""; 0]).unwrap_err().glob, text);
        }
    }

    proptest! {
        #[test]
        fn more_encoding_never_widens_access(path in "([a-c.]{1,3}/?){0,4}", escaped in proptest::collection::vec(any::<bool>(), 16)) {
            let spelled: String = path
                .chars()
                .zip(escaped)
                .map(|(letter, escape)| if escape { format!("%{:02x}", u32::from(letter)) } else { letter.into() })
                .collect();
            let plain = format!("x:///{path}").parse::<ResourceUri>().unwrap();
            let spelled = format!("x:///{spelled}").parse::<ResourceUri>().unwrap();
            let policy = UriPolicy::new([""; 0], ["x:///a/**", "x:///b"]).unwrap();
            prop_assert!(policy.allows(&plain) || !policy.allows(&spelled));
        }
    }
}
