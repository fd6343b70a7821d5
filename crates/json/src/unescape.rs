//! Decodes the escapes of JSON strings.

use std::borrow::Cow;

use crate::special_bytes::plain_prefix_len;

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
                let (character, rest) = split_unicode_escape(&inner[at..]);
                at = inner.len() - rest.len();
                character.unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => char::from(other),
        });
    }
}

/// Decodes the `\u` escape whose digits `text` starts with. Returns its character, or the lone surrogate, and the rest of
/// the text. A surrogate pair of two escapes is one character.
pub(crate) fn split_unicode_escape(text: &str) -> (Result<char, u16>, &str) {
    let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
    let (first, rest) = (unit(text).unwrap_or_default(), text.get(4..).unwrap_or_default());
    let second = rest.strip_prefix(r"\u").and_then(unit);
    match char::decode_utf16([first].into_iter().chain(second)).next() {
        Some(Ok(character)) if character.len_utf16() == 2 => (Ok(character), &rest[6..]),
        Some(Ok(character)) => (Ok(character), rest),
        _ => (Err(first), rest),
    }
}
