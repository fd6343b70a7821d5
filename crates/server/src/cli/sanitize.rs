//! The one way of a server's text to a terminal: what a terminal would obey, or would hide, is made visible.
//!
//! Invariant: the output has no control character but newline and tab, and nothing that reorders or hides text; it is
//! at most eight times as long; sanitizing it again changes nothing.

use std::borrow::Cow;
use std::fmt::Write;

/// Text of any length and any number of lines.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            // The line ending of half the world's files; what it does is what a newline does.
            '\r' if rest.peek() == Some(&'\n') => {}
            _ if is_unsafe(char) => show(&mut out, char),
            _ => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// Text for one line: as [`sanitize`], with line breaks and tabs as spaces.
pub fn one_line(text: &str) -> String {
    sanitize(text.trim()).replace(['\n', '\t'], " ")
}

/// A name for one line, cut where no name should be longer.
pub fn name(text: &str) -> String {
    const LONGEST: usize = 60;
    let name = one_line(text);
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// JSON text for a terminal: the same value, with what is unsafe written as escapes. Only for valid JSON.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            // Outside of strings this is white space, and inside it cannot stand.
            '\r' => out.push(' '),
            _ if is_unsafe(char) => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(char),
        }
    }
    Cow::Owned(out)
}

fn show(out: &mut String, char: char) {
    // Writing to a string does not fail.
    _ = match char as u32 {
        code @ 0..=0xff => write!(out, "\\x{code:02x}"),
        code => write!(out, "\\u{{{code:x}}}"),
    };
}

/// Whether a terminal would act on the character, or show nothing where something stands.
fn is_unsafe(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // C0, DEL, C1.
        _ if char.is_control() => true,
        // The soft hyphen and the Arabic letter mark.
        '\u{ad}' | '\u{61c}' => true,
        // Zero-width characters and marks of direction; line and paragraph separators.
        '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Fillers that are letters by name and blanks by look.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Invisible tags and selectors, in which whole sentences have been hidden.
        '\u{e0000}'..='\u{e01ef}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_become_visible_and_plain_text_stays() {
        assert_eq!(sanitize("a\x1b[2Jb\u{9b}31mc\u{7f}"), "a\\x1b[2Jb\\x9b31mc\\x7f");
        assert_eq!(sanitize("\u{1b}]52;c;ZXZpbA==\u{7}"), "\\x1b]52;c;ZXZpbA==\\x07");
        assert_eq!(sanitize("evil\u{202e}txt\u{200d}\u{e0041}"), "evil\\u{202e}txt\\u{200d}\\u{e0041}");
        assert_eq!(sanitize("two\r\nlines\tand é 漢 🍕\rover"), "two\nlines\tand é 漢 🍕\\x0dover");
        assert!(matches!(sanitize("plain\n"), Cow::Borrowed(_)));
        assert_eq!(one_line(" a\nb\tc "), "a b c");
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            (0u32..0xa0).prop_map(|code| char::from_u32(code).map(String::from).unwrap_or_default()),
            (0x2000u32..0x2070).prop_map(|code| char::from_u32(code).map(String::from).unwrap_or_default()),
            Just("\u{1b}[31m".to_owned()),
            Just("\r\n".to_owned()),
            Just("\r\r\n".to_owned()),
            Just("\\x1b".to_owned()),
        ];
        proptest::collection::vec(piece, 0..64).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left_it_is_idempotent_and_bounded(text in hostile()) {
            let safe = sanitize(&text);
            for char in safe.chars() {
                let code = char as u32;
                prop_assert!(!matches!(code, 0..=0x08 | 0x0b..=0x1f | 0x7f..=0x9f), "{code:x}");
                prop_assert!(!is_unsafe(char));
            }
            prop_assert_eq!(sanitize(&safe).into_owned(), safe.clone().into_owned());
            prop_assert!(safe.len() <= text.len() * 8);
            prop_assert!(!one_line(&text).contains('\n'));
        }

        #[test]
        fn json_keeps_its_value(text in hostile()) {
            let written = serde_json::to_string(&text).unwrap();
            let safe = json(&written);
            prop_assert!(!safe.contains(is_unsafe));
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }
}
