//! Resolves URI references between schemas (RFC 3986, section 5.2).

use crate::uri_syntax::{remove_dot_segments, split_scheme};

/// The components of a reference without its fragment.
struct UriComponents<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// Splits a reference into the part before the fragment, and the fragment.
pub(super) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (reference, None),
    }
}

/// Resolves a reference without a fragment against a base without a fragment.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (relative, base) = (split_components(reference), split_components(base));
    if relative.scheme.is_some() || relative.authority.is_some() {
        let path = remove_dot_segments(relative.path);
        return join_components(relative.scheme.or(base.scheme), relative.authority, &path, relative.query);
    }
    if relative.path.is_empty() {
        return join_components(base.scheme, base.authority, base.path, relative.query.or(base.query));
    }
    let path = if relative.path.starts_with('/') {
        relative.path.to_owned()
    } else if base.authority.is_some() && base.path.is_empty() {
        format!("/{}", relative.path)
    } else {
        let directory = base.path.rfind('/').map_or("", |end| &base.path[..=end]);
        format!("{directory}{}", relative.path)
    };
    join_components(base.scheme, base.authority, &remove_dot_segments(&path), relative.query)
}

fn split_components(text: &str) -> UriComponents<'_> {
    let (scheme, rest) = match split_scheme(text) {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, rest),
    };
    UriComponents { scheme, authority, path, query }
}

fn join_components(scheme: Option<&str>, authority: Option<&str>, path: &str, query: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(scheme) = scheme {
        text.push_str(&scheme.to_ascii_lowercase());
        text.push(':');
    }
    if let Some(authority) = authority {
        text.push_str("//");
        text.push_str(authority);
    }
    text.push_str(path);
    if let Some(query) = query {
        text.push('?');
        text.push_str(query);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_rfc_3986_specifies() {
        let base = "http://a/b/c/d?q";
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d?y"),
            ("", "http://a/b/c/d?q"),
            ("..", "http://a/b/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("x:y", "x:y"),
        ];
        for (reference, expected) in cases {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
        assert_eq!(resolve("", "node"), "node");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
    }
}
