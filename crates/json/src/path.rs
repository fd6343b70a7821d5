//! Converts a byte offset in a JSON text to a path like `tools[3].inputSchema`.
//!
//! Used for errors only: readers report an offset, and the path is computed afterwards. Tracking the path while reading
//! would double the code of every decoded type.

use std::fmt::Write as _;

use crate::scan::{Cursor, MemberKey};

/// Returns the path of the innermost value that contains the byte before `offset`; `.` for the whole text.
pub(crate) fn at_offset(text: &str, offset: usize) -> String {
    let mut path = String::new();
    let mut start = 0;
    while let Some(inner) = descend(text, start, offset, &mut path) {
        start = inner;
    }
    if path.is_empty() { ".".to_owned() } else { path }
}

/// Descends one level from the value at `start`: appends to the path and returns the start of the part that contains
/// the byte. An unreadable part contains it by definition, because that is where the reader stopped.
fn descend(text: &str, start: usize, offset: usize, path: &mut String) -> Option<usize> {
    let mut cursor = Cursor::starting_at(text.as_bytes(), start);
    match cursor.first_byte()? {
        b'{' => {
            let mut more = cursor.enter_object().ok()?;
            while more {
                cursor.first_byte()?;
                if offset <= cursor.position() {
                    return None;
                }
                let name = cursor.member_name().ok()?;
                let inner = cursor.position();
                let is_unreadable = cursor.skip_value(0).is_err();
                if is_unreadable || offset <= cursor.position() {
                    push_name(path, &name);
                    return (offset > inner).then_some(inner);
                }
                more = cursor.next_member().ok()?;
            }
        }
        b'[' => {
            let mut more = cursor.enter_array().ok()?;
            for index in 0.. {
                if !more {
                    break;
                }
                let inner = cursor.position();
                if offset <= inner {
                    return None;
                }
                let is_unreadable = cursor.skip_value(0).is_err();
                if is_unreadable || offset <= cursor.position() {
                    let _ = write!(path, "[{index}]");
                    return Some(inner);
                }
                more = cursor.next_element().ok()?;
            }
        }
        _ => {}
    }
    None
}

fn push_name(path: &mut String, name: &MemberKey<'_>) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&String::from_utf8_lossy(name.as_bytes()));
}

/// Returns the byte offset of a `serde_json` error in the text that it parsed.
pub(crate) fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_names_the_innermost_part() {
        let text = r#"{"a":{"b":[1,{"c":"x"}]},"d":[]}"#;
        for (found, path) in
            [("\"a\"", "a"), ("1", "a.b[0]"), ("{\"c", "a.b[1]"), ("\"x\"", "a.b[1].c"), ("[]", "d")]
        {
            let offset = text.find(found).unwrap() + 1;
            assert_eq!(at_offset(text, offset), path, "{found}");
        }
        assert_eq!(at_offset(text, text.len()), ".");
        assert_eq!(at_offset("7", 1), ".");
        // The path of a truncated text ends at the last complete level.
        assert_eq!(at_offset("{\"a\":[1,", 8), "a");
    }

    #[test]
    fn an_error_on_a_later_line_has_the_right_offset() {
        let text = "{\n \"a\": 1,\n \"b\": \"x\"\n}";
        let error = serde_json::from_str::<std::collections::BTreeMap<String, i32>>(text).unwrap_err();
        assert_eq!(at_offset(text, error_offset(text, &error)), "b");
    }
}
