//! Resolving URI references (RFC 3986, section 5.2), as far as references between schemas need it.

struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// Splits a reference into what comes before the fragment, and the fragment.
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
    let (own, base) = (parts(reference), parts(base));
    if own.scheme.is_some() {
        return write(own.scheme, own.authority, &without_dots(own.path), own.query);
    }
    if own.authority.is_some() {
        return write(base.scheme, own.authority, &without_dots(own.path), own.query);
    }
    if own.path.is_empty() {
        return write(base.scheme, base.authority, base.path, own.query.or(base.query));
    }
    let path = if own.path.starts_with('/') {
        own.path.to_owned()
    } else if base.authority.is_some() && base.path.is_empty() {
        format!("/{}", own.path)
    } else {
        let folder = base.path.rfind('/').map_or("", |end| &base.path[..=end]);
        format!("{folder}{}", own.path)
    };
    write(base.scheme, base.authority, &without_dots(&path), own.query)
}

fn parts(text: &str) -> Parts<'_> {
    let is_scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let (scheme, rest) = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, text),
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
    Parts { scheme, authority, path, query }
}

fn write(scheme: Option<&str>, authority: Option<&str>, path: &str, query: Option<&str>) -> String {
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

fn without_dots(path: &str) -> String {
    if !path.contains("./") && !path.ends_with('.') {
        return path.to_owned();
    }
    let is_absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(usize::from(is_absolute)).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_standard_says() {
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
