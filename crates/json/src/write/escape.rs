//! Strings as JSON: what needs no escape is copied in one piece.

use crate::plain::plain_run;

/// Writes `text` between quotes.
#[inline]
pub(crate) fn quoted(out: &mut String, text: &str) {
    out.reserve(room(text.len()));
    out.push('"');
    escaped(out, text);
    out.push('"');
}

/// Writes `text` without quotes.
pub(crate) fn escaped(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_run(rest.as_bytes()));
        out.push_str(plain);
        let Some(&byte) = special.as_bytes().first() else { return };
        escape(out, byte);
        rest = &special[1..];
    }
}

/// How much room a string is given at once. A long one gets some for its escapes, since growing again in the middle
/// would copy it all.
#[inline]
fn room(len: usize) -> usize {
    len + len / 16 + 2
}

#[inline]
fn escape(out: &mut String, byte: u8) {
    match byte {
        b'"' => out.push_str(r#"\""#),
        b'\n' => out.push_str(r"\n"),
        b'\\' => out.push_str(r"\\"),
        b'\t' => out.push_str(r"\t"),
        b'\r' => out.push_str(r"\r"),
        0x08 => out.push_str(r"\b"),
        0x0c => out.push_str(r"\f"),
        _ => {
            const DIGITS: [char; 16] =
                ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
            out.push_str(if byte < 0x10 { r"\u000" } else { r"\u001" });
            out.push(DIGITS[usize::from(byte & 0xf)]);
        }
    }
}
