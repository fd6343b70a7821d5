//! Makes text from outside safe to print in an error: one line, limited length, no control or invisible characters.

/// Returns a foreign text as one short line without control characters.
pub(crate) fn printable(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut printable: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        printable.push('…');
    }
    printable
}

/// Characters that change how their neighbours look.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_shown_on_one_short_line() {
        assert_eq!(printable("a\r\nb\x1b[31m\u{202e}"), "a\u{fffd}\u{fffd}b\u{fffd}[31m\u{fffd}");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
    }
}
