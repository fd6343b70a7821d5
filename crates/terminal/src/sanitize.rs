//! Sanitizing of untrusted text for a terminal: characters that a terminal would obey or hide are made visible.
//!
//! [`sanitize`] is for names, descriptions and everything a person decides by; [`printable`] is for results, which must
//! stay readable in every script. Invariant of both: the output has no control character but newline and tab and nothing
//! that reorders text; it is at most eight times as long; applying the function again changes nothing. The output of
//! [`sanitize`] also hides no text: joiners, tags and variation selectors survive only inside emoji and letter sequences.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// Text of any length and any number of lines.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    let start = sequence_start(text, first);
    out.push_str(&text[..start]);
    scan(&text[start..], |char, is_shown| match is_shown {
        true => out.push(char),
        false => show(&mut out, char),
    });
    Cow::Owned(out)
}

/// The text of a result for a terminal: only control and bidirectional characters become visible escapes.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_active = |char: char| !matches!(char, '\n' | '\t') && (char.is_control() || is_bidi(char));
    let Some(first) = text.find(is_active) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\r' if rest.peek() == Some(&'\n') => {}
            _ if is_active(char) => show(&mut out, char),
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
    // Outside of strings a carriage return is white space, and inside it cannot stand.
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

/// Where the sequence begins that the unsafe character at `first` may belong to: one character before it.
fn sequence_start(text: &str, first: usize) -> usize {
    text[..first].char_indices().next_back().map_or(first, |(start, _)| start)
}

/// Gives every character, and whether it may be shown as it is. The `\r` of a line ending is left out.
fn scan(text: &str, mut give: impl FnMut(char, bool)) {
    let mut rest = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(char) = rest.next() {
        match char {
            // The line ending of half the world's files; what it does is what a newline does.
            '\r' if rest.peek() == Some(&'\n') => continue,
            '\u{200c}' | '\u{200d}' => {
                give(
                    char,
                    before.is_some_and(is_joinable) && rest.peek().is_some_and(|next| is_joinable(*next)),
                );
            }
            '\u{e0100}'..='\u{e01ef}' => give(char, before.is_some_and(is_ideograph)),
            BLACK_FLAG => {
                give(char, true);
                let tags = flag_tags(&rest);
                rest.by_ref().take(tags).for_each(|tag| give(tag, true));
            }
            _ => give(char, !is_unsafe(char)),
        }
        before = Some(char);
    }
}

/// The flags of regions are this one and its region in tags.
const BLACK_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';

/// How many tags belong to the flag before them: at most six for a region and the last one, or none.
fn flag_tags(rest: &Peekable<Chars<'_>>) -> usize {
    let mut ahead = rest.clone();
    let region =
        ahead.by_ref().take_while(|tag| matches!(tag, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'));
    let count = region.take(7).count();
    // What ended the region was taken too, so it is looked at by its place.
    match rest.clone().nth(count) {
        Some(LAST_TAG) if (3..=6).contains(&count) => count + 1,
        _ => 0,
    }
}

/// Whether a joiner beside the character has a meaning: letters of scripts that join, emoji and their selectors.
fn is_joinable(char: char) -> bool {
    char as u32 >= 0x600 && !char.is_whitespace() && !is_unsafe(char)
}

/// Whether a variation selector after the character changes how it is displayed.
fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn show(out: &mut String, char: char) {
    // Writing to a string does not fail.
    _ = match char as u32 {
        code @ 0..=0xff => write!(out, "\\x{code:02x}"),
        code => write!(out, "\\u{{{code:x}}}"),
    };
}

/// Whether the character changes the direction of text.
fn is_bidi(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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

    /// What may survive inside a sequence.
    fn is_sequence_part(char: char) -> bool {
        matches!(char, '\u{200c}' | '\u{200d}' | '\u{e0030}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left_it_is_idempotent_and_bounded(text in hostile()) {
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
