//! Text of a server, made fit for an error message.

/// A foreign text as it may be shown: one short line without control characters.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
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
        assert_eq!(shown("a\r\nb\x1b[31m\u{202e}"), "a\u{fffd}\u{fffd}b\u{fffd}[31m\u{fffd}");
        assert_eq!(shown(&"x".repeat(300)).chars().count(), 201);
    }
}
