//! Decodes the escapes of JSON strings.

use std::borrow::Cow;

use crate::special_bytes::plain_prefix_len;

/// The replacement for a lone surrogate.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Decodes a string literal, given with its quotes. Borrows if the literal has no escapes.
///
/// Returns `None` if the text is not a string literal, or contains a lone surrogate, which could not be written back.
#[inline]
pub fn decode_string(literal: &str) -> Option<Cow<'_, str>> {
    match literal.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if plain_prefix_len(inner.as_bytes()) == inner.len() => Some(Cow::Borrowed(inner)),
        _ => decode_escaped(literal).map(Cow::Owned),
    }
}

#[cold]
fn decode_escaped(literal: &str) -> Option<String> {
    serde_json::from_str(literal).ok()
}

/// Decodes the text between the quotes of a checked string literal; lone surrogates become U+FFFD.
pub(crate) fn unescape(inner: &str) -> String {
    let bytes = inner.as_bytes();
    let mut decoded = String::with_capacity(inner.len());
    let mut at = 0;
    loop {
        let run = plain_prefix_len(&bytes[at..]);
        decoded.push_str(inner.get(at..at + run).unwrap_or_default());
        at += run;
        // The text was checked, so the next byte is a backslash or the string has ended.
        let Some(&kind) = bytes.get(at + 1) else { return decoded };
        at += 2;
        decoded.push(match kind {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (character, len) = decode_unicode_escape(bytes, at);
                at += len;
                character
            }
            other => char::from(other),
        });
    }
}

/// Decodes the `\u` escape whose digits begin at `at`. Returns the character and the number of bytes consumed,
/// including those of the second escape of a surrogate pair.
fn decode_unicode_escape(bytes: &[u8], at: usize) -> (char, usize) {
    let first = hex_code_unit(bytes, at).unwrap_or_default();
    if !(0xd800..0xe000).contains(&first) {
        return (char::from_u32(first).unwrap_or(REPLACEMENT), 4);
    }
    let second = match bytes.get(at + 4..at + 6) {
        Some(b"\\u") => hex_code_unit(bytes, at + 6),
        _ => None,
    };
    match second {
        Some(second) if first < 0xdc00 && (0xdc00..0xe000).contains(&second) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(code).unwrap_or(REPLACEMENT), 10)
        }
        _ => (REPLACEMENT, 4),
    }
}

fn hex_code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}
