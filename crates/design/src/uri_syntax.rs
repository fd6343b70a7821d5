//! URI syntax (RFC 3986): schemes and dot segments. Percent-encoding is in `percent`.

/// Splits a URI into its scheme and the rest after the colon; `None` without a valid scheme.
pub(crate) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_allowed))
        .then_some((scheme, rest))
}

/// Removes the dot segments of a path (section 5.2.4).
pub(crate) fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let is_absolute = path.starts_with('/');
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => {
                kept.push(segment);
                continue;
            }
        }
        // A trailing dot segment leaves an empty segment, so that the path ends with a slash.
        if segments.peek().is_none() {
            kept.push("");
        }
    }
    if is_absolute { format!("/{}", kept.join("/")) } else { kept.join("/") }
}
