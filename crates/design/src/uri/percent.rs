//! Percent-encoding (RFC 3986, section 2.1).
//!
//! Unreserved characters are never encoded, so two spellings of them are one.

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Letters, digits and `-._~`: the same with and without encoding.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// What may stand unencoded in a path besides the unreserved.
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

/// Encodes everything but the unreserved: one segment, one key or one value.
pub(super) fn encode(text: &str, into: &mut String) {
    encode_but(text, into, |_| false);
}

/// Encodes text that may have several segments: slashes and other marks stay.
pub(super) fn encode_path(text: &str, into: &mut String) {
    encode_but(text, into, is_path_mark);
}

fn encode_but(text: &str, into: &mut String, keep: impl Fn(u8) -> bool) {
    for byte in text.bytes() {
        if is_unreserved(byte) || keep(byte) {
            into.push(byte.into());
        } else {
            push(byte, into);
        }
    }
}

fn push(byte: u8, into: &mut String) {
    into.push('%');
    into.push(HEX[usize::from(byte >> 4)].into());
    into.push(HEX[usize::from(byte & 15)].into());
}

/// The byte that an escape at the start of `text` stands for.
fn escape(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [b'%', high, low, ..] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

/// Decodes every escape; nothing when one is broken or the bytes are not text.
pub(super) fn decode(text: &str) -> Option<String> {
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

/// One spelling for each text: unreserved characters plain, escapes in capitals, all that may not stand plain escaped.
/// Nothing when an escape is broken.
pub(super) fn normal(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let byte = escape(rest)?;
            if is_unreserved(byte) {
                out.push(byte.into())
            } else {
                push(byte, &mut out)
            }
            rest = &rest[3..];
            continue;
        }
        if is_unreserved(*first) || is_path_mark(*first) {
            out.push((*first).into())
        } else {
            push(*first, &mut out)
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
    fn one_spelling_for_each_text() {
        let normal = |text| normal(text).unwrap();
        assert_eq!(normal("%7eA%2fb%2E é"), "~A%2Fb.%20%C3%A9");
        assert_eq!(normal("a+b*c"), "a+b*c");
        assert_eq!(super::normal("%zz"), None);
        assert_eq!(super::normal("%4"), None);
        assert_eq!(decode("%ff"), None);
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes(text in "\\PC*") {
            let (mut segment, mut path) = (String::new(), String::new());
            encode(&text, &mut segment);
            encode_path(&text, &mut path);
            prop_assert_eq!(decode(&segment), Some(text.clone()));
            prop_assert_eq!(decode(&path), Some(text));
            prop_assert_eq!(normal(&segment), Some(segment));
        }

        #[test]
        fn a_normal_spelling_stays(text in "[ -~é]*") {
            if let Some(once) = normal(&text) {
                prop_assert_eq!(normal(&once), Some(once.clone()));
            }
        }
    }
}
