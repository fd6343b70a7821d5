//! The inside of a string that has escapes, as the text it means.

use std::borrow::Cow;

use crate::plain::plain_run;

/// What stands for a surrogate without its other half.
const LONE: char = char::REPLACEMENT_CHARACTER;

/// Decodes a string literal, given with its quotes; borrowed when nothing in it is escaped.
///
/// `None` when the text is anything else, or has a surrogate escape without its other half: such a string could not be
/// written back.
#[inline]
pub fn decode_string(literal: &str) -> Option<Cow<'_, str>> {
    match literal.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if plain_run(inner.as_bytes()) == inner.len() => Some(Cow::Borrowed(inner)),
        _ => decode_escaped(literal).map(Cow::Owned),
    }
}

#[cold]
fn decode_escaped(literal: &str) -> Option<String> {
    serde_json::from_str(literal).ok()
}

/// The meaning of what stands between two quotes of a checked text.
pub(crate) fn unescape(inner: &str) -> String {
    let bytes = inner.as_bytes();
    let mut meant = String::with_capacity(inner.len());
    let mut at = 0;
    loop {
        let run = plain_run(&bytes[at..]);
        meant.push_str(inner.get(at..at + run).unwrap_or_default());
        at += run;
        // The next byte is a backslash, or there is none: the text was checked.
        let Some(&kind) = bytes.get(at + 1) else { return meant };
        at += 2;
        meant.push(match kind {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (character, len) = unit(bytes, at);
                at += len;
                character
            }
            other => char::from(other),
        });
    }
}

/// The character of the hexadecimal digits at `at`, and how many bytes it takes: of two escapes when they are a pair.
fn unit(bytes: &[u8], at: usize) -> (char, usize) {
    let first = hex(bytes, at).unwrap_or_default();
    if !(0xd800..0xe000).contains(&first) {
        return (char::from_u32(first).unwrap_or(LONE), 4);
    }
    let second = match bytes.get(at + 4..at + 6) {
        Some(b"\\u") => hex(bytes, at + 6),
        _ => None,
    };
    match second {
        Some(second) if first < 0xdc00 && (0xdc00..0xe000).contains(&second) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(code).unwrap_or(LONE), 10)
        }
        _ => (LONE, 4),
    }
}

fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}
