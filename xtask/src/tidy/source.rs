//! A Rust file with its comments, strings and test items told apart.
//!
//! A lexer for exactly that much. It keeps every line break and every position, so that a byte of any of the
//! texts is at the same line in all of them.

use std::ops::{Range, RangeInclusive};

use super::Finding;
use super::tree::File;

#[derive(Debug)]
pub(super) struct Source<'f> {
    pub(super) file: &'f File,
    /// Without comments.
    pub(super) code: String,
    /// Without comments and without what is inside strings.
    pub(super) bare: String,
    /// Items behind `#[cfg(test)]`, as bytes of the text.
    tests: Vec<Range<usize>>,
}

impl<'f> Source<'f> {
    pub(super) fn new(file: &'f File) -> Self {
        let (code, bare) = mask(&file.text);
        let tests = test_items(&bare);
        Self { file, code, bare, tests }
    }

    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.bare[..at].bytes().filter(|byte| *byte == b'\n').count()
    }

    pub(super) fn is_test(&self, at: usize) -> bool {
        self.file.is_test() || self.tests.iter().any(|item| item.contains(&at))
    }

    pub(super) fn finding(&self, at: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.file.path.clone(), line: self.line(at), what: what.into() }
    }

    /// Where the item that begins at `at` ends: after its `;` or its closing brace.
    pub(super) fn item_end(&self, at: usize) -> usize {
        item_end(&self.bare, at)
    }
}

/// The lines of every function of this name, tests apart: from its `fn` to its closing brace.
pub(crate) fn function_lines(text: &str, name: &str) -> Vec<RangeInclusive<u32>> {
    let (_, bare) = mask(text);
    let tests = test_items(&bare);
    let line = |at: usize| 1 + bare[..at].bytes().filter(|byte| *byte == b'\n').count() as u32;
    let named = |at: &usize| {
        let rest = &bare[at + "fn ".len()..];
        rest.starts_with(name)
            && !rest[name.len()..].starts_with(|next: char| next.is_ascii() && is_word(next as u8))
    };
    let is_test = |at: &usize| tests.iter().any(|item| item.contains(at));
    let found = words(&bare, "fn ").filter(named).filter(|at| !is_test(at));
    found.map(|at| line(at)..=line(item_end(&bare, at) - 1)).collect()
}

enum Kind {
    Code,
    Comment,
    /// Inside the quotes.
    Text,
}

/// Blanks the comments (first text), and the inside of strings too (second).
fn mask(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let (mut code, mut bare) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let mut push = |range: Range<usize>, kind: Kind| {
        for &byte in &bytes[range] {
            let blank = if byte == b'\n' { b'\n' } else { b' ' };
            code.push(if matches!(kind, Kind::Comment) { blank } else { byte });
            bare.push(if matches!(kind, Kind::Code) { byte } else { blank });
        }
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let end = at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            push(at..end, Kind::Comment);
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = at + block_comment(rest);
            push(at..end, Kind::Comment);
            at = end;
        } else if let Some((open, inside, close)) = string(rest, at > 0 && is_word(bytes[at - 1])) {
            push(at..at + open, Kind::Code);
            push(at + open..at + open + inside, Kind::Text);
            push(at + open + inside..at + open + inside + close, Kind::Code);
            at += open + inside + close;
        } else {
            push(at..at + 1, Kind::Code);
            at += 1;
        }
    }
    let utf8 = "whole characters are kept or become spaces";
    (String::from_utf8(code).expect(utf8), String::from_utf8(bare).expect(utf8))
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// A string or character literal at the start: the lengths of its opening, its inside and its closing.
fn string(rest: &[u8], in_word: bool) -> Option<(usize, usize, usize)> {
    let until = |from: usize, end: &[u8]| {
        let found = rest[from..].windows(end.len()).position(|window| window == end);
        found.unwrap_or(rest.len() - from)
    };
    match rest {
        [b'"', ..] => Some(closed(1, escaped(&rest[1..], b'"'), 1, rest)),
        [b'r', ..] if !in_word => raw(rest, 1, until),
        [b'b' | b'c', b'r', ..] if !in_word => raw(rest, 2, until),
        // A quote is a character when one escape or one character stands between two; else it is a lifetime.
        [b'\'', b'\\', ..] => Some(closed(1, escaped(&rest[1..], b'\''), 1, rest)),
        [b'\'', ..] => {
            let character = std::str::from_utf8(&rest[1..rest.len().min(5)])
                .map_or_else(|error| error.valid_up_to(), |text| text.len());
            let first = std::str::from_utf8(&rest[1..1 + character]).ok()?.chars().next()?.len_utf8();
            (rest.get(1 + first) == Some(&b'\'')).then_some((1, first, 1))
        }
        _ => None,
    }
}

fn raw(rest: &[u8], prefix: usize, until: impl Fn(usize, &[u8]) -> usize) -> Option<(usize, usize, usize)> {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(prefix + hashes) != Some(&b'"') {
        return None;
    }
    let open = prefix + hashes + 1;
    let end = [b"\"".as_slice(), "#".repeat(hashes).as_bytes()].concat();
    Some(closed(open, until(open, &end), end.len(), rest))
}

/// An unclosed literal ends with the file.
fn closed(open: usize, inside: usize, close: usize, rest: &[u8]) -> (usize, usize, usize) {
    (open, inside, close.min(rest.len() - open - inside))
}

fn escaped(inside: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < inside.len() && inside[at] != quote {
        at += if inside[at] == b'\\' { 2 } else { 1 };
    }
    at.min(inside.len())
}

pub(super) fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// Where a word (or a path that begins with one) stands on its own to the left.
pub(super) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let alone = move |at: &usize| *at == 0 || !is_word(text.as_bytes()[*at - 1]);
    text.match_indices(word).map(|(at, _)| at).filter(alone)
}

fn test_items(bare: &str) -> Vec<Range<usize>> {
    let attribute = |at: usize| {
        let end = at + bare[at..].find(']')?;
        let condition = &bare[at..end];
        let asks = words(condition, "test").any(|found| condition[found..].starts_with("test)"))
            || words(condition, "test,").next().is_some();
        (asks && !condition.contains("not(test")).then(|| at..item_end(bare, end + 1))
    };
    bare.match_indices("#[cfg(").filter_map(|(at, _)| attribute(at)).collect()
}

fn item_end(bare: &str, from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, byte) in bare.bytes().enumerate().skip(from) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth -= 1;
                if depth < 0 || (depth == 0 && byte == b'}') {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    bare.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> (String, String) {
        mask(text)
    }

    #[test]
    fn comments_go_and_strings_stay_in_code() {
        let (code, bare) = masked("let a = \"x // y\"; // z\n/* p /* q */ r */ b");
        assert_eq!(code, "let a = \"x // y\";     \n                  b");
        assert_eq!(bare, "let a = \"      \";     \n                  b");
    }

    #[test]
    fn raw_strings_characters_and_lifetimes_are_told_apart() {
        let (_, bare) = masked(r####"f(r#"a"b"#, br"c", 'd', '"', '\'', "\"", &'e str, 'ß')"####);
        assert_eq!(bare, r####"f(r#"   "#, br" ", ' ', ' ', '  ', "  ", &'e str, '  ')"####);
    }

    #[test]
    fn an_unclosed_string_ends_with_the_file() {
        assert_eq!(masked("a \"b").1, "a \" ");
        assert_eq!(masked("a \"b\\").1, "a \"  ");
        assert_eq!(masked("r#\"b\"").1, "r#\"  ");
        assert_eq!(masked("/* b").1, "    ");
    }

    #[test]
    fn only_the_item_behind_the_attribute_is_test_code() {
        let text =
            "#[cfg(test)]\nmod tests;\nfn a() {}\n#[cfg(all(test, unix))]\nmod b { fn c() {} }\nfn d() {}\n";
        let file = File::new("crates/x/src/lib.rs", text);
        let source = Source::new(&file);
        let is_test = |word: &str| source.is_test(text.find(word).unwrap());
        assert!(is_test("mod tests"));
        assert!(!is_test("fn a"));
        assert!(is_test("fn c"));
        assert!(!is_test("fn d"));
    }

    #[test]
    fn what_is_left_out_of_tests_is_not_test_code() {
        let text = "#[cfg(not(test))]\nfn a() {}\n#[cfg(feature = \"test\")]\nfn b() {}\n";
        let file = File::new("crates/x/src/lib.rs", text);
        let source = Source::new(&file);
        assert!(!source.is_test(text.find("fn a").unwrap()));
        assert!(!source.is_test(text.find("fn b").unwrap()));
    }
}
