//! URI syntax (RFC 3986): schemes, dot segments and percent-encoding.
//!
//! Unreserved characters are never encoded, so equivalent spellings have one normal form.

const HEX: &[u8; 16] = b"0123456789ABCDEF";

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

/// Returns whether a byte is unreserved: a letter, a digit or one of `-._~`.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns whether a reserved byte may be unencoded in a path.
fn is_path_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'/' | b':'
            | b'@'
            | b'!'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
            | b'['
            | b']'
    )
}

/// Encodes all bytes except unreserved ones: for one segment, one key or one value.
pub(crate) fn encode(text: &str, into: &mut String) {
    encode_except(text, into, |_| false);
}

/// Encodes a path of several segments; slashes and other reserved bytes that a path may contain stay.
pub(crate) fn encode_path(text: &str, into: &mut String) {
    encode_except(text, into, is_path_mark);
}

fn encode_except(text: &str, into: &mut String, keep: impl Fn(u8) -> bool) {
    for byte in text.bytes() {
        if is_unreserved(byte) || keep(byte) {
            into.push(byte.into());
        } else {
            push_escape(byte, into);
        }
    }
}

fn push_escape(byte: u8, into: &mut String) {
    into.push('%');
    into.push(HEX[usize::from(byte >> 4)].into());
    into.push(HEX[usize::from(byte & 15)].into());
}

/// Decodes the escape at the start of `text`.
fn escape(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [b'%', high, low, ..] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

/// Decodes all escapes; `None` if one is malformed or the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            bytes.push(escape(rest)?);
            rest = &rest[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns the normal form of a path: unreserved characters unencoded, escapes in upper case, and everything else encoded
/// that a path must not contain. `None` if an escape is malformed.
pub(crate) fn normalize(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let byte = escape(rest)?;
            if is_unreserved(byte) {
                out.push(byte.into())
            } else {
                push_escape(byte, &mut out)
            }
            rest = &rest[3..];
            continue;
        }
        if is_unreserved(*first) || is_path_mark(*first) {
            out.push((*first).into())
        } else {
            push_escape(*first, &mut out)
        }
        rest = tail;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equivalent_spellings_have_one_normal_form() {
        let normalized = |text| normalize(text).unwrap();
        assert_eq!(normalized("%7eA%2fb%2E é"), "~A%2Fb.%20%C3%A9");
        assert_eq!(normalized("a+b*c"), "a+b*c");
        assert_eq!(super::normalize("%zz"), None);
        assert_eq!(super::normalize("%4"), None);
        assert_eq!(decode("%ff"), None);
        assert_eq!(decode("a%25b").as_deref(), Some("a%b"));
        assert_eq!(decode("a%2"), None);
    }

    proptest! {
        #[test]
        fn encoded_text_decodes(text in "\\PC*") {
            let (mut segment, mut path) = (String::new(), String::new());
            encode(&text, &mut segment);
            encode_path(&text, &mut path);
            prop_assert_eq!(decode(&segment), Some(text.clone()));
            prop_assert_eq!(decode(&path), Some(text));
            prop_assert_eq!(normalize(&segment), Some(segment));
        }

        #[test]
        fn normalization_is_idempotent(text in "[ -~é]*") {
            if let Some(once) = normalize(&text) {
                prop_assert_eq!(normalize(&once), Some(once.clone()));
            }
        }
    }
}
