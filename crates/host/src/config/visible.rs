//! Names from a project's file or from a server, in front of people: what a terminal would obey, or would hide, is
//! written out.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with such characters as escapes; without a copy where there are none.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_odd(char) {
            // Writing to a string does not fail.
            _ = write!(out, "\\u{{{:x}}}", char as u32);
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

fn is_odd(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}
