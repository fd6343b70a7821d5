//! Escapes strings; runs without special characters are copied in one piece.

use crate::special_bytes::plain_prefix_len;

/// Appends `text` as a string literal.
#[inline]
pub(crate) fn write_quoted(out: &mut String, text: &str) {
    out.reserve(capacity_with_escapes(text.len()));
    out.push('"');
    write_escaped(out, text);
    out.push('"');
}

/// Appends `text` escaped, without quotes.
pub(crate) fn write_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_prefix_len(rest.as_bytes()));
        out.push_str(plain);
        let Some(&byte) = special.as_bytes().first() else { return };
        write_escape(out, byte);
        rest = &special[1..];
    }
}

/// Returns the capacity to reserve for a string of `len` bytes: includes some for escapes, because growing a large
/// buffer copies it.
#[inline]
fn capacity_with_escapes(len: usize) -> usize {
    len + len / 16 + 2
}

#[inline]
fn write_escape(out: &mut String, byte: u8) {
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
