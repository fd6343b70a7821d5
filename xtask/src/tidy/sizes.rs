//! Long files and functions, printed for review. Never a failure.

use super::source::{Source, is_word, words};

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 60;

pub(super) fn check(source: &Source<'_>) -> Vec<String> {
    if source.file.is_test() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let lines = lines_without_tests(source);
    if lines > FILE_LINES {
        notes.push(format!("{}: {lines} lines without tests", source.file.path));
    }
    for at in words(&source.bare, "fn ").filter(|at| !source.is_test(*at)) {
        let Some(name) = name(&source.bare[at + 3..]) else { continue };
        let (first, last) = (source.line(at), source.line(source.item_end(at) - 1));
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            notes.push(format!("{}:{first}: `{name}` has {lines} lines", source.file.path));
        }
    }
    notes
}

fn lines_without_tests(source: &Source<'_>) -> usize {
    let mut at = 0;
    let mut count = 0;
    for line in source.file.text.split_inclusive('\n') {
        count += usize::from(!source.is_test(at));
        at += line.len();
    }
    count
}

/// Returns the name of a function; `None` for a function pointer type.
fn name(after_fn: &str) -> Option<&str> {
    let end = after_fn.bytes().position(|byte| !is_word(byte))?;
    (end > 0).then(|| &after_fn[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    fn notes(path: &str, text: &str) -> Vec<String> {
        let file = File::new(path, text);
        check(&Source::new(&file))
    }

    #[test]
    fn long_functions_are_listed_and_tests_are_not() {
        let body = "    x();\n".repeat(59);
        let text = format!("//! X.\nfn long(a: [u8; 2]) {{\n{body}}}\nfn short() {{}}\n");
        assert_eq!(notes("a.rs", &text), ["a.rs:2: `long` has 61 lines"]);
        let text = format!("#[cfg(test)]\nmod tests {{\nfn long() {{\n{body}}}\n}}\n");
        assert_eq!(notes("a.rs", &text), [""; 0]);
    }

    #[test]
    fn long_files_are_listed() {
        assert_eq!(notes("a.rs", &"//!\n".repeat(600)), [""; 0]);
        assert_eq!(notes("a.rs", &"//!\n".repeat(601)), ["a.rs: 601 lines without tests"]);
        assert_eq!(notes("tests/a.rs", &"//!\n".repeat(601)), [""; 0]);
    }
}
