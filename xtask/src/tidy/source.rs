//! A Rust file with comments, strings and test items separated.
//!
//! A minimal lexer. It keeps every line break and every byte position, so that a position in one text is valid
//! in all of them.

use std::ops::{Range, RangeInclusive};

use super::Finding;
use super::tree::File;

#[derive(Debug)]
pub(super) struct Source<'f> {
    pub(super) file: &'f File,
    /// Without comments.
    pub(super) code: String,
    /// Without comments and without the contents of strings.
    pub(super) bare: String,
    /// Byte ranges of the items with `#[cfg(test)]`.
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

    /// Returns the end of the item that begins at `at`: after its `;` or its closing brace.
    pub(super) fn item_end(&self, at: usize) -> usize {
        item_end(&self.bare, at)
    }
}

/// Returns the lines of every function of this name outside tests, from its `fn` to its closing brace.
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

enum TokenKind {
    Code,
    Comment,
    /// The contents of a string.
    Text,
}

/// Returns the text with comments blanked, and the text with comments and the contents of strings blanked.
fn mask(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let (mut code, mut bare) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let mut push = |range: Range<usize>, kind: TokenKind| {
        for &byte in &bytes[range] {
            let blank = if byte == b'\n' { b'\n' } else { b' ' };
            code.push(if matches!(kind, TokenKind::Comment) { blank } else { byte });
            bare.push(if matches!(kind, TokenKind::Code) { byte } else { blank });
        }
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let end = at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            push(at..end, TokenKind::Comment);
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = at + block_comment(rest);
            push(at..end, TokenKind::Comment);
            at = end;
        } else if let Some((open, inside, close)) = string(rest, at > 0 && is_word(bytes[at - 1])) {
            push(at..at + open, TokenKind::Code);
            push(at + open..at + open + inside, TokenKind::Text);
            push(at + open + inside..at + open + inside + close, TokenKind::Code);
            at += open + inside + close;
        } else {
            push(at..at + 1, TokenKind::Code);
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

/// Returns the lengths of the opening, contents and closing of a string or character literal at the start.
fn string(rest: &[u8], in_word: bool) -> Option<(usize, usize, usize)> {
    let until = |from: usize, end: &[u8]| {
        let found = rest[from..].windows(end.len()).position(|window| window == end);
        found.unwrap_or(rest.len() - from)
    };
    match rest {
        [b'"', ..] => Some(closed(1, escaped(&rest[1..], b'"'), 1, rest)),
        [b'r', ..] if !in_word => raw(rest, 1, until),
        [b'b' | b'c', b'r', ..] if !in_word => raw(rest, 2, until),
        // A quote starts a character if one escape or one character follows before the next quote; else it is a lifetime.
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

/// Limits an unclosed literal to the end of the file.
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

/// Returns the positions of a word, or of a path that begins with it, that are not preceded by a word character.
pub(super) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let alone = move |at: &usize| *at == 0 || !is_word(text.as_bytes()[*at - 1]);
    text.match_indices(word).map(|(at, _)| at).filter(alone)
}

fn test_items(bare: &str) -> Vec<Range<usize>> {
    let attribute = |at: usize| {
        let end = at + bare[at..].find(']')?;
        let condition = &bare[at..end];
        let is_test = words(condition, "test").any(|found| condition[found..].starts_with("test)"))
            || words(condition, "test,").next().is_some();
        (is_test && !condition.contains("not(test")).then(|| at..item_end(bare, end + 1))
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
    fn raw_strings_characters_and_lifetimes_are_distinguished() {
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
    fn only_the_item_after_the_attribute_is_test_code() {
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
    fn items_excluded_from_tests_are_not_test_code() {
        let text = "#[cfg(not(test))]\nfn a() {}\n#[cfg(feature = \"test\")]\nfn b() {}\n";
        let file = File::new("crates/x/src/lib.rs", text);
        let source = Source::new(&file);
        assert!(!source.is_test(text.find("fn a").unwrap()));
        assert!(!source.is_test(text.find("fn b").unwrap()));
    }
}
