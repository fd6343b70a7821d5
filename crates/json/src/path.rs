//! Which part of a JSON text stands at a byte of it, as a path like `tools[3].inputSchema`.
//!
//! For errors only: a reader says how far it came, and this says where that is. Wrapping every reader to keep account of
//! its path would double the code of every type that is ever read.

use std::fmt::Write as _;

use crate::scan::{Cursor, Key};

/// The path of the innermost value that holds the byte before `offset`; `.` for the whole text.
pub(crate) fn at(text: &str, offset: usize) -> String {
    let mut path = String::new();
    let mut start = 0;
    while let Some(inner) = step(text, start, offset, &mut path) {
        start = inner;
    }
    if path.is_empty() { ".".to_owned() } else { path }
}

/// One level down, from the value that begins at `start`: where the part begins that holds the byte. What cannot be read is
/// where the reader stopped too.
fn step(text: &str, start: usize, offset: usize, path: &mut String) -> Option<usize> {
    let mut cursor = Cursor::starting(text.as_bytes(), start);
    match cursor.first()? {
        b'{' => {
            let mut more = cursor.enter().ok()?;
            while more {
                cursor.first()?;
                if offset <= cursor.at() {
                    return None;
                }
                let name = cursor.name().ok()?;
                let inner = cursor.at();
                let is_over = cursor.span(0).is_err();
                if is_over || offset <= cursor.at() {
                    push_name(path, &name);
                    return (offset > inner).then_some(inner);
                }
                more = cursor.more().ok()?;
            }
        }
        b'[' => {
            let mut more = cursor.enter_array().ok()?;
            for index in 0.. {
                if !more {
                    break;
                }
                let inner = cursor.at();
                if offset <= inner {
                    return None;
                }
                let is_over = cursor.span(0).is_err();
                if is_over || offset <= cursor.at() {
                    let _ = write!(path, "[{index}]");
                    return Some(inner);
                }
                more = cursor.more_elements().ok()?;
            }
        }
        _ => {}
    }
    None
}

fn push_name(path: &mut String, name: &Key<'_>) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&String::from_utf8_lossy(name.as_bytes()));
}

/// Where an error of the reader stands in the text it read.
pub(crate) fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_part_is_named() {
        let text = r#"{"a":{"b":[1,{"c":"x"}]},"d":[]}"#;
        for (found, path) in
            [("\"a\"", "a"), ("1", "a.b[0]"), ("{\"c", "a.b[1]"), ("\"x\"", "a.b[1].c"), ("[]", "d")]
        {
            let offset = text.find(found).unwrap() + 1;
            assert_eq!(at(text, offset), path, "{found}");
        }
        assert_eq!(at(text, text.len()), ".");
        assert_eq!(at("7", 1), ".");
        // Where the text ends in the middle, so does the path.
        assert_eq!(at("{\"a\":[1,", 8), "a");
    }

    #[test]
    fn lines_are_counted() {
        let text = "{\n \"a\": 1,\n \"b\": \"x\"\n}";
        let error = serde_json::from_str::<std::collections::BTreeMap<String, i32>>(text).unwrap_err();
        assert_eq!(at(text, offset(text, &error)), "b");
    }
}
