//! Escapes control and invisible characters in names that come from a project or a server.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes the characters of a text that a terminal would obey or hide. Does not copy a text without any.
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    text.chars().for_each(|char| push_escaped(&mut out, char));
    Cow::Owned(out)
}

/// Appends a character, escaped if it is invisible.
pub(crate) fn push_escaped(out: &mut String, char: char) {
    match is_invisible(char) {
        // Writing to a string does not fail.
        true => _ = write!(out, "\\u{{{:x}}}", char as u32),
        false => out.push(char),
    }
}

/// Returns whether a terminal obeys this character, hides it, or shows it as another one: control and format characters, fillers,
/// variation selectors, and white space other than a blank.
pub(crate) fn is_invisible(char: char) -> bool {
    char.is_control()
        || (char.is_whitespace() && char != ' ')
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}
