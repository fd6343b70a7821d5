//! Formats JSON text as lines that can be compared and printed verbatim.
//!
//! Invariants: the text is not decoded, so a duplicate member is shown twice; control and invisible characters are
//! escaped; only white space between values is lost. A string with line breaks is continued on the next line
//! (`"first\n"` above `"second"`), so that a change shows in its own line.
//!
//! Not the pretty printer of `serde_json`: it prints a decoded value, which has lost duplicate members and the spelling
//! of strings and numbers, and it does not break strings.

use std::iter::Peekable;
use std::str::Chars;

use crate::escape::push_escaped;

/// The indentation limit: a line must not grow with the depth of a hostile text.
const MAX_INDENT: usize = 64;

/// Returns the text as lines, one member or element per line. Text that is not JSON is split at its punctuation.
pub(crate) fn json_lines(text: &str) -> Vec<String> {
    let mut writer = LineWriter { lines: Vec::new(), line: String::new(), depth: 0 };
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => writer.put_string(&mut chars),
            '{' | '[' => {
                writer.line.push(char);
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => writer.line.push(close),
                    None => writer.break_line(writer.depth + 1),
                }
            }
            '}' | ']' => {
                writer.break_line(writer.depth.saturating_sub(1));
                writer.line.push(char);
            }
            ',' => {
                writer.line.push(char);
                writer.break_line(writer.depth);
            }
            ':' => writer.line.push_str(": "),
            char if char.is_ascii_whitespace() => {}
            char => push_escaped(&mut writer.line, char),
        }
    }
    writer.break_line(0);
    writer.lines
}

struct LineWriter {
    lines: Vec<String>,
    /// The current line.
    line: String,
    depth: usize,
}

impl LineWriter {
    /// Ends the current line, unless it is blank, and begins one at this depth.
    fn break_line(&mut self, depth: usize) {
        if !self.line.trim_start().is_empty() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.line = "  ".repeat(depth.min(MAX_INDENT));
        self.depth = depth;
    }

    /// Writes a string whose opening quote was consumed.
    fn put_string(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.line.push('"');
        while let Some(char) = chars.next() {
            push_escaped(&mut self.line, char);
            match char {
                '"' => return,
                '\\' => {
                    let Some(escaped) = chars.next() else { return };
                    push_escaped(&mut self.line, escaped);
                    if escaped == 'n' && chars.peek().is_some_and(|next| *next != '"') {
                        self.line.push('"');
                        let depth = self.depth;
                        self.break_line(depth + 1);
                        self.line.push('"');
                        self.depth = depth;
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::escape::is_invisible;

    #[test]
    fn s2_a_definition_has_one_member_per_line() {
        let text = "{\"a\": [1, {}], \"b\":\"x\\ny\\n\",\n\"c\":{\"d\":\"\u{202e}\\\"\\\\n\",\"d\":[ ]}}";
        assert_eq!(
            json_lines(text),
            [
                "{",
                "  \"a\": [",
                "    1,",
                "    {}",
                "  ],",
                "  \"b\": \"x\\n\"",
                "    \"y\\n\",",
                "  \"c\": {",
                "    \"d\": \"\\u{202e}\\\"\\\\n\",",
                "    \"d\": []",
                "  }",
                "}",
            ]
        );
        assert_eq!(json_lines(""), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn s2_lines_of_any_text_have_no_invisible_characters(text in "[\\[\\]{}:,\"\\\\nab \n\u{202e}\u{7}é]{0,60}") {
            let lines = json_lines(&text);
            prop_assert!(!lines.iter().any(|line| line.contains(is_invisible)), "{:?}", lines);
        }

        #[test]
        fn s2_different_json_is_shown_as_different_lines(one in value(), other in value()) {
            let (one, other) = (one.to_string(), other.to_string());
            prop_assert_eq!(json_lines(&one) == json_lines(&other), one == other);
        }
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let text = "[a\"\\\\\n,:{}\u{202e} ]{0,4}";
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            (0..3_u8).prop_map(serde_json::Value::from),
            text.prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
                prop::collection::btree_map(text, inner, 0..3).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }
}
