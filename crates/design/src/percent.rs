//! Percent-encoding (RFC 3986, section 2.1): the crate `percent-encoding` with strict decoding and a normal form.
//!
//! That crate keeps a broken escape as it is; here it is an error. Unreserved characters are never encoded, so two
//! spellings of them are one.

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode_byte, utf8_percent_encode,
};

/// Everything but letters, digits and `-._~`, which are the same with and without encoding.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that a path must encode.
const NOT_IN_PATH: &AsciiSet = &RESERVED
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'[')
    .remove(b']');

/// Encodes everything but the unreserved: one segment, one key or one value.
pub(crate) fn encode(text: &str, into: &mut String) {
    into.extend(utf8_percent_encode(text, RESERVED));
}

/// Encodes text that may have several segments: slashes and other marks stay.
pub(crate) fn encode_path(text: &str, into: &mut String) {
    into.extend(utf8_percent_encode(text, NOT_IN_PATH));
}

/// Decodes every escape. Returns `None` if one is broken or the bytes are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    if text.split('%').skip(1).any(|after| split_escape(after).is_none()) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

/// Returns the one spelling of a text: unreserved characters plain, escapes in capitals, everything encoded that a path
/// must encode. Returns `None` if an escape is broken.
pub(crate) fn normalize(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    encode_path(pieces.next()?, &mut out);
    for after in pieces {
        let (byte, rest) = split_escape(after)?;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(byte.into());
        } else {
            out.push_str(percent_encode_byte(byte));
        }
        encode_path(rest, &mut out);
    }
    Some(out)
}

/// Splits the text after a percent sign into the byte that its two digits stand for, and the rest.
fn split_escape(after: &str) -> Option<(u8, &str)> {
    let (digits, rest) = after.split_at_checked(2)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten().map(|byte| (byte, rest))
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
        assert_eq!(normalize("%zz"), None);
        assert_eq!(normalize("%4"), None);
        assert_eq!(normalize("%+4"), None);
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
