//! A validating pass over JSON bytes that allocates nothing and never recurses.
//!
//! It checks the grammar, strings and numbers included, and the depth, and notes where the members of a message
//! are. Types are decoded later, from the spans it found.

use std::fmt;
use std::ops::Range;

use crate::raw::MAX_DEPTH;

/// What the scan stumbled over, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    at: usize,
}

/// Why a text is not an acceptable JSON message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A byte that cannot stand here.
    Unexpected(u8),
    /// The text ends in the middle of a value.
    Ended,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A second value follows the first.
    Trailing,
    /// Not UTF-8.
    NotUtf8,
    /// A member that may stand once stands twice.
    Duplicate(&'static str),
    /// A member has the wrong type or too many bytes.
    BadMember(&'static str),
    /// Neither a request, a notification nor a response.
    NoShape,
    /// An array of more than [`MAX_BATCH`] messages.
    BatchTooLong,
}

/// The most messages in one batch: each costs far more than its bytes.
pub const MAX_BATCH: usize = 1024;

impl Fault {
    pub(crate) fn new(kind: FaultKind, at: usize) -> Self {
        Self { kind, at }
    }

    /// What is wrong.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The byte offset in the message.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            FaultKind::Unexpected(byte) => write!(f, "unexpected {:?} at byte {at}", char::from(byte)),
            FaultKind::Ended => write!(f, "it ends in the middle of a value"),
            FaultKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels at byte {at}"),
            FaultKind::Trailing => write!(f, "a second value begins at byte {at}"),
            FaultKind::NotUtf8 => write!(f, "not UTF-8 at byte {at}"),
            FaultKind::Duplicate(name) => write!(f, "the member {name:?} stands twice"),
            FaultKind::BadMember(name) => write!(f, "the member {name:?} has the wrong type or size"),
            FaultKind::NoShape => write!(f, "neither a request, a notification nor a response"),
            FaultKind::BatchTooLong => write!(f, "a batch of more than {MAX_BATCH} messages"),
        }
    }
}

/// Checks that `bytes` is exactly one JSON value.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut cursor = Cursor { bytes, at: 0 };
    cursor.value(0)?;
    cursor.finish()
}

/// Where the members of a message stand. Members it does not know are checked and passed over.
#[derive(Debug, Default, Clone)]
pub(crate) struct Members {
    pub(crate) jsonrpc: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) method: Option<Range<usize>>,
    pub(crate) params: Option<Range<usize>>,
    pub(crate) result: Option<Range<usize>>,
    pub(crate) error: Option<Range<usize>>,
}

impl Members {
    fn slot(&mut self, key: &[u8]) -> Option<(&'static str, &mut Option<Range<usize>>)> {
        Some(match key {
            b"jsonrpc" => ("jsonrpc", &mut self.jsonrpc),
            b"id" => ("id", &mut self.id),
            b"method" => ("method", &mut self.method),
            b"params" => ("params", &mut self.params),
            b"result" => ("result", &mut self.result),
            b"error" => ("error", &mut self.error),
            _ => return None,
        })
    }
}

/// What a frame holds at its top.
#[derive(Debug)]
pub(crate) enum Top {
    Object(Members),
    /// The elements of a batch.
    Array(Vec<Range<usize>>),
}

/// Finds the members of an object, or the elements of an array, checking everything on the way.
pub(crate) fn top(bytes: &[u8], depth: usize) -> Result<Top, Fault> {
    let mut cursor = Cursor { bytes, at: 0 };
    let found = match cursor.peek()? {
        b'{' => Top::Object(cursor.members(depth)?),
        b'[' => Top::Array(cursor.elements(depth)?),
        other => return Err(Fault::new(FaultKind::Unexpected(other), cursor.at)),
    };
    cursor.finish()?;
    Ok(found)
}

/// How many values a checked text holds, keys not counted.
pub(crate) fn count_nodes(bytes: &[u8]) -> usize {
    // Every value but the first of its container follows a comma; an opened container that is not empty holds a first.
    let mut nodes = 1;
    let mut at = 0;
    let mut opened = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                nodes += usize::from(opened);
                opened = false;
                let mut cursor = Cursor { bytes, at };
                if cursor.string().is_err() {
                    return nodes;
                }
                at = cursor.at;
                continue;
            }
            b'{' | b'[' => {
                nodes += usize::from(opened);
                opened = true;
            }
            b'}' | b']' => opened = false,
            b',' => nodes += 1,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                nodes += usize::from(opened);
                opened = false;
            }
        }
        at += 1;
    }
    nodes
}

/// The text with every lone surrogate escape replaced by `\ufffd`; `None` when there is none.
pub(crate) fn mend_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut mended: Option<String> = None;
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let escape = at + found;
        at = escape + 2;
        let Some(unit) = code_unit(bytes, escape) else { continue };
        at = escape + 6;
        let is_high = (0xd800..0xdc00).contains(&unit);
        let paired = is_high && code_unit(bytes, at).is_some_and(|low| (0xdc00..0xe000).contains(&low));
        if paired {
            at += 6;
        } else if (0xd800..0xe000).contains(&unit) {
            let out = mended.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(&text[kept..escape]);
            out.push_str("\\ufffd");
            kept = at;
        }
    }
    mended.map(|mut out| {
        out.push_str(&text[kept..]);
        out
    })
}

/// The code unit of a `\uXXXX` escape that begins at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        Err(Fault::new(kind, self.at))
    }

    /// The next byte that is not white space, without passing it.
    fn peek(&mut self) -> Result<u8, Fault> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(byte);
            }
            self.at += 1;
        }
        self.fault(FaultKind::Ended)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Fault> {
        let found = self.peek()?;
        if found != wanted {
            return self.fault(FaultKind::Unexpected(found));
        }
        self.at += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Err(_) => Ok(()),
            Ok(_) => self.fault(FaultKind::Trailing),
        }
    }

    fn members(&mut self, depth: usize) -> Result<Members, Fault> {
        let mut members = Members::default();
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.peek()?;
            let key = self.string()?;
            self.expect(b':')?;
            self.peek()?;
            let start = self.at;
            self.value(depth + 1)?;
            let span = start..self.at;
            let key = &self.bytes[key.start + 1..key.end - 1];
            let unescaped = unescape(key);
            if let Some((name, slot)) = members.slot(unescaped.as_deref().unwrap_or(key))
                && slot.replace(span).is_some()
            {
                return self.fault(FaultKind::Duplicate(name));
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(members);
                }
                other => return self.fault(FaultKind::Unexpected(other)),
            }
        }
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Range<usize>>, Fault> {
        let mut elements = Vec::new();
        self.expect(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(elements);
        }
        loop {
            self.peek()?;
            let start = self.at;
            self.value(depth + 1)?;
            if elements.len() == MAX_BATCH {
                return self.fault(FaultKind::BatchTooLong);
            }
            elements.push(start..self.at);
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(elements);
                }
                other => return self.fault(FaultKind::Unexpected(other)),
            }
        }
    }

    /// Passes over one value that stands inside `depth` containers.
    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        // One bit a level: set for an object. MAX_DEPTH levels fit a u128, so there is no stack to grow.
        let mut objects: u128 = 0;
        let mut level = depth;
        loop {
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    if level == MAX_DEPTH {
                        return self.fault(FaultKind::TooDeep);
                    }
                    let is_object = open == b'{';
                    objects = (objects & !(1 << level)) | (u128::from(is_object) << level);
                    level += 1;
                    self.at += 1;
                    let close = if is_object { b'}' } else { b']' };
                    if self.peek()? == close {
                        level -= 1;
                        self.at += 1;
                    } else {
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            // A value has ended: pass commas and closings until the next one begins.
            loop {
                if level == depth {
                    return Ok(());
                }
                let is_object = objects >> (level - 1) & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if is_object => {}
                    b']' if !is_object => {}
                    other => return self.fault(FaultKind::Unexpected(other)),
                }
                level -= 1;
                self.at += 1;
            }
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        self.peek()?;
        self.string()?;
        self.expect(b':')
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        let Some(found) = self.bytes.get(self.at..self.at + word.len()) else {
            return self.fault(FaultKind::Ended);
        };
        if found != word {
            return self.fault(FaultKind::Unexpected(found[0]));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            _ if self.at > start => Ok(()),
            Some(&byte) => self.fault(FaultKind::Unexpected(byte)),
            None => self.fault(FaultKind::Ended),
        }
    }

    /// Passes over a string that begins here and returns its span, quotes included.
    fn string(&mut self) -> Result<Range<usize>, Fault> {
        let start = self.at;
        match self.bytes.get(start) {
            Some(b'"') => self.at += 1,
            Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
            None => return self.fault(FaultKind::Ended),
        }
        loop {
            self.at += plain_run(&self.bytes[self.at..]);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                Some(b'\\') => self.escape()?,
                Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
                None => return self.fault(FaultKind::Ended),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.bytes.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.bytes.get(self.at) {
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
                        None => return self.fault(FaultKind::Ended),
                    }
                }
            }
            Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
            None => return self.fault(FaultKind::Ended),
        }
        Ok(())
    }
}

/// How many bytes at the start need no look in a string: no quote, no backslash, no control character.
fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut passed = 0;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        // A byte is zero in `x` where the wanted one stands; subtracting one borrows into its high bit.
        let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGHS;
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let found = control | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return passed + (found.trailing_zeros() / 8) as usize;
        }
        passed += 8;
    }
    let rest = &bytes[passed..];
    passed + rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\').unwrap_or(rest.len())
}

/// The bytes of a key that was written with escapes, e.g. `"\u006dethod"`.
fn unescape(key: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'\\', key)?;
    let quoted = [b"\"", key, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).ok().map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn agrees_with_serde_json_on_edges() {
        let cases = [
            "0",
            "-0",
            "01",
            "1.",
            ".5",
            "1e5",
            "1e",
            "-",
            "--1",
            "NaN",
            "Infinity",
            "true",
            "tru",
            "truee",
            "null",
            "\"\"",
            "\"a\nb\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12G4\"",
            "\"\u{0}\"",
            "[]",
            "[1,]",
            "[,1]",
            "{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{'a':1}",
            "{\"a\":1}//",
            "[1 2]",
            "[[[[]]]]",
            "{\"a\":[{}]}",
            " 1 ",
            "",
            " ",
            "]",
            "[}",
            "{]",
            "[1}",
            "{\"a\":1]",
            "1 2",
            "\"abc",
            "\u{feff}1",
        ];
        for case in cases {
            let ours = check(case.as_bytes());
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(case);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{case:?}: {ours:?} and {theirs:?}");
        }
    }

    #[test]
    fn depth_is_bounded_without_a_stack() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(check(nested(MAX_DEPTH).as_bytes()), Ok(()));
        for n in [MAX_DEPTH + 1, 10_000, 1_000_000] {
            assert_eq!(check(nested(n).as_bytes()).unwrap_err().kind(), FaultKind::TooDeep);
        }
    }

    #[test]
    fn nodes_are_counted() {
        for (text, nodes) in
            [("1", 1), ("[]", 1), ("[[]]", 2), ("[1,\"a,b\",{}]", 4), (r#"{"a":[1,2],"b":"c"}"#, 5)]
        {
            assert_eq!(count_nodes(text.as_bytes()), nodes, "{text}");
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::hash_map(".*", inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn accepts_whatever_serde_writes(value in json(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            prop_assert_eq!(check(text.as_bytes()), Ok(()));
        }

        #[test]
        fn agrees_with_serde_json_on_damaged_text(value in json(), at in any::<prop::sample::Index>(), byte: u8) {
            let mut text = serde_json::to_vec(&value).unwrap();
            let at = at.index(text.len());
            text[at] = byte;
            // Bytes that are not UTF-8 are refused before the scan; numbers out of range are text to us.
            prop_assume!(std::str::from_utf8(&text).is_ok());
            let theirs = serde_json::from_slice::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(check(&text).is_ok(), theirs, "{}", String::from_utf8_lossy(&text));
        }

        #[test]
        fn never_fails_on_junk(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = check(&bytes);
            let _ = top(&bytes, 0);
            let _ = count_nodes(&bytes);
        }
    }
}
