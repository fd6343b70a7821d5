//! Sanitizes untrusted text for a terminal: escapes the characters that a terminal would interpret or hide.
//!
//! [`sanitize`] is for names, descriptions and other text that users base decisions on; [`printable`] is for results,
//! which must stay readable in every script. Invariants of both: the output has no control character except newline and
//! tab, and no character that reorders text; it is at most eight times as long; the function is idempotent. The output
//! of [`sanitize`] also hides no text: joiners, tags and variation selectors survive only inside emoji and letter
//! sequences.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// Escapes everything unsafe in text of any length and any number of lines.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    let start = sequence_start(text, first);
    out.push_str(&text[..start]);
    scan(&text[start..], |char, is_shown| match is_shown {
        true => out.push(char),
        false => push_escape(&mut out, char),
    });
    Cow::Owned(out)
}

/// Escapes control and bidirectional characters of result text.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_active = |char: char| !matches!(char, '\n' | '\t') && (char.is_control() || is_bidi(char));
    let Some(first) = text.find(is_active) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\r' if rest.peek() == Some(&'\n') => {}
            _ if is_active(char) => push_escape(&mut out, char),
            _ => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// Sanitizes text for one line: line breaks and tabs become spaces.
pub fn one_line(text: &str) -> String {
    sanitize(text.trim()).replace(['\n', '\t'], " ")
}

/// Sanitizes a name for one line and truncates it to 60 characters.
pub fn name(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let name = one_line(text);
    match name.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Escapes everything unsafe in JSON text without changing its value. The text must be valid JSON.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    // A valid JSON text has carriage returns as white space only, never inside strings.
    scan(&text.replace('\r', " "), |char, is_shown| match is_shown {
        true => out.push(char),
        false => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    });
    Cow::Owned(out)
}

/// Returns the start of the sequence that the unsafe character at `first` may belong to: one character before it.
fn sequence_start(text: &str, first: usize) -> usize {
    text[..first].char_indices().next_back().map_or(first, |(start, _)| start)
}

/// Passes every character to `emit`, with whether it may be shown unescaped. Skips the `\r` of a line ending.
fn scan(text: &str, mut emit: impl FnMut(char, bool)) {
    let mut rest = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(char) = rest.next() {
        match char {
            // A CRLF line ending; the newline that follows is enough.
            '\r' if rest.peek() == Some(&'\n') => continue,
            '\u{200c}' | '\u{200d}' => {
                emit(
                    char,
                    before.is_some_and(is_joinable) && rest.peek().is_some_and(|next| is_joinable(*next)),
                );
            }
            '\u{e0100}'..='\u{e01ef}' => emit(char, before.is_some_and(is_ideograph)),
            BLACK_FLAG => {
                emit(char, true);
                let tags = flag_tags(&rest);
                rest.by_ref().take(tags).for_each(|tag| emit(tag, true));
            }
            _ => emit(char, !is_unsafe(char)),
        }
        before = Some(char);
    }
}

/// The emoji flag of a region is a black flag followed by the region in tag characters.
const BLACK_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';

/// Returns the number of tags that belong to the flag before them: at most six for a region and the cancel tag, or zero.
fn flag_tags(rest: &Peekable<Chars<'_>>) -> usize {
    let mut ahead = rest.clone();
    let region =
        ahead.by_ref().take_while(|tag| matches!(tag, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'));
    let count = region.take(7).count();
    // `take_while` consumed the character after the region, so read it by its position.
    match rest.clone().nth(count) {
        Some(LAST_TAG) if (3..=6).contains(&count) => count + 1,
        _ => 0,
    }
}

/// Returns whether a joiner next to the character has a meaning: letters of joining scripts, emoji and their selectors.
fn is_joinable(char: char) -> bool {
    char as u32 >= 0x600 && !char.is_whitespace() && !is_unsafe(char)
}

/// Returns whether a variation selector after the character changes its glyph.
fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn push_escape(out: &mut String, char: char) {
    // Writing to a string does not fail.
    _ = match char as u32 {
        code @ 0..=0xff => write!(out, "\\x{code:02x}"),
        code => write!(out, "\\u{{{code:x}}}"),
    };
}

/// Returns whether the character changes the direction of text.
fn is_bidi(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a terminal would interpret the character, or show nothing for it.
fn is_unsafe(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // C0, DEL, C1.
        _ if char.is_control() => true,
        // The soft hyphen and the Arabic letter mark.
        '\u{ad}' | '\u{61c}' => true,
        // Zero-width characters and direction marks; line and paragraph separators.
        '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Fillers: letters that render as blanks.
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Invisible tags and selectors, which can hide whole sentences.
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

    #[test]
    fn c1_emoji_sequences_survive_and_hidden_text_does_not() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        let heart = "\u{2764}\u{fe0f}\u{200d}\u{1f525}";
        let persian = "\u{645}\u{6cc}\u{200c}\u{62e}";
        let variant = "\u{845b}\u{e0100}";
        for text in [family, scotland, heart, persian, variant] {
            assert_eq!(sanitize(text), text);
            assert_eq!(printable(text), text);
            let json_text = format!("\"{text}\"");
            assert_eq!(json(&json_text), json_text);
        }
        assert_eq!(sanitize("a\u{200d}b \u{1f3f4}\u{e0041}"), "a\\u{200d}b \u{1f3f4}\\u{e0041}");
        assert_eq!(printable("\u{1b}[2J\u{feff}a\u{202e}b\u{c}\r\n"), "\\x1b[2J\u{feff}a\\u{202e}b\\x0c\n");
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

    /// Returns whether the character may remain unescaped inside a sequence.
    fn is_sequence_part(char: char) -> bool {
        matches!(char, '\u{200c}' | '\u{200d}' | '\u{e0030}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
    }

    proptest! {
        #[test]
        fn output_is_safe_idempotent_and_bounded(text in hostile()) {
            let safe = sanitize(&text);
            for char in safe.chars() {
                let code = char as u32;
                prop_assert!(!matches!(code, 0..=0x08 | 0x0b..=0x1f | 0x7f..=0x9f), "{code:x}");
                prop_assert!(!is_unsafe(char) || is_sequence_part(char));
            }
            for char in printable(&text).chars() {
                prop_assert!(matches!(char, '\n' | '\t') || !char.is_control() && !is_bidi(char));
            }
            prop_assert_eq!(sanitize(&safe).into_owned(), safe.clone().into_owned());
            prop_assert!(safe.len() <= text.len() * 8);
            prop_assert!(!one_line(&text).contains('\n'));
        }

        #[test]
        fn json_keeps_its_value(text in hostile()) {
            let written = serde_json::to_string(&text).unwrap();
            let safe = json(&written);
            prop_assert!(!safe.contains(|char| is_unsafe(char) && !is_sequence_part(char)));
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }
}
