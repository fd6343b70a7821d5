//! A validating pass over JSON bytes that allocates nothing and never recurses.
//!
//! It checks the grammar, strings and numbers included, and the depth. Types are decoded later, from the spans it
//! found.

use std::ops::Range;

use crate::limits::MAX_DEPTH;
use crate::plain::plain_run;
use crate::syntax::{SyntaxError, SyntaxErrorKind};
use crate::unescape::unescape;

/// Checks that `bytes` is exactly one JSON value.
pub(crate) fn check(bytes: &[u8]) -> Result<(), SyntaxError> {
    let mut cursor = Cursor::new(bytes);
    cursor.value(0)?;
    cursor.finish()
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

/// A position in a text: passes over values and checks them on the way.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What a member is called.
#[derive(Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The name as it is written, which has no escapes.
    Plain(&'a [u8]),
    /// It was written with escapes, e.g. `"\u006dethod"`.
    Unescaped(Vec<u8>),
}

impl Key<'_> {
    /// Returns the bytes of the name, with its escapes undone.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unescaped(bytes) => bytes,
        }
    }
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a text.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor at a place of its own.
    pub(crate) fn starting(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Where it is.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The bytes from here on.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is not white space; the cursor is then at it.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<u8> {
        self.peek().ok()
    }

    #[cold]
    fn fault<T>(&self, kind: SyntaxErrorKind) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(kind, self.at))
    }

    /// The next byte that is not white space; the cursor is then at it.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, SyntaxError> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !is_space(byte) {
                return Ok(byte);
            }
            self.at += 1;
        }
        self.fault(SyntaxErrorKind::Ended)
    }

    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Result<(), SyntaxError> {
        let found = self.peek()?;
        if found != wanted {
            return self.fault(SyntaxErrorKind::Unexpected(found));
        }
        self.at += 1;
        Ok(())
    }

    /// Checks that nothing but white space follows.
    pub fn finish(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Err(_) => Ok(()),
            Ok(_) => self.fault(SyntaxErrorKind::Trailing),
        }
    }

    /// Steps into the object that begins here. False when it has no members, and is passed.
    #[inline]
    pub fn enter(&mut self) -> Result<bool, SyntaxError> {
        self.expect(b'{')?;
        let is_empty = self.peek()? == b'}';
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Steps into the array that begins here. False when it has no elements, and is passed.
    #[inline]
    pub fn enter_array(&mut self) -> Result<bool, SyntaxError> {
        self.expect(b'[')?;
        let is_empty = self.peek()? == b']';
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Whether another element follows; then the cursor is at it. If not, the array is passed.
    #[inline]
    pub fn more_elements(&mut self) -> Result<bool, SyntaxError> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                self.peek()?;
                Ok(true)
            }
            b']' => {
                self.at += 1;
                Ok(false)
            }
            other => self.fault(SyntaxErrorKind::Unexpected(other)),
        }
    }

    /// The name of the member that begins here; then the cursor is at its value.
    #[inline]
    pub fn name(&mut self) -> Result<Key<'a>, SyntaxError> {
        match self.plain_name() {
            Some((inner, next)) if !is_space(next) => Ok(Key::Plain(inner)),
            Some((inner, _)) => {
                self.peek()?;
                Ok(Key::Plain(inner))
            }
            None => self.other_name(),
        }
    }

    /// Passes a name without escapes and its colon, when there is no space between them, which is how nearly everyone
    /// writes; also gives the byte behind them.
    #[inline]
    fn plain_name(&mut self) -> Option<(&'a [u8], u8)> {
        let (b'"', inner) = self.bytes.get(self.at..)?.split_first()? else { return None };
        let len = plain_run(inner);
        let (name, rest) = inner.split_at_checked(len)?;
        let [b'"', b':', next, ..] = *rest else { return None };
        self.at += len + 3;
        Some((name, next))
    }

    fn other_name(&mut self) -> Result<Key<'a>, SyntaxError> {
        self.peek()?;
        let start = self.at + 1;
        let escaped = self.string()?;
        let inner = &self.bytes[start..self.at - 1];
        self.expect(b':')?;
        self.peek()?;
        Ok(if escaped { unescaped(inner) } else { Key::Plain(inner) })
    }

    /// Passes over the value that begins here, inside `depth` containers, and says where it stands.
    #[inline]
    pub fn span(&mut self, depth: usize) -> Result<Range<usize>, SyntaxError> {
        let start = self.at;
        if self.bytes.get(start) == Some(&b'"') {
            // Most values are, and need no account of levels.
            self.string()?;
        } else {
            self.value(depth)?;
        }
        Ok(start..self.at)
    }

    /// Passes over the value that begins here and is known to end there, and says where it stands.
    #[inline]
    pub fn pass(&mut self, end: usize) -> Range<usize> {
        let start = std::mem::replace(&mut self.at, end);
        start..end
    }

    /// Whether another member follows; if not, the object is passed.
    #[inline]
    pub fn more(&mut self) -> Result<bool, SyntaxError> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            b'}' => {
                self.at += 1;
                Ok(false)
            }
            other => self.fault(SyntaxErrorKind::Unexpected(other)),
        }
    }

    /// Passes over one value that stands inside `depth` containers.
    fn value(&mut self, depth: usize) -> Result<(), SyntaxError> {
        // One bit a level, the innermost lowest: set for an object. MAX_DEPTH levels fit a u128, so there is no stack
        // to grow.
        let mut objects: u128 = 0;
        let mut level = depth;
        loop {
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    check_depth(level).or_else(|kind| self.fault(kind))?;
                    let is_object = open == b'{';
                    self.at += 1;
                    let close = if is_object { b'}' } else { b']' };
                    if self.peek()? == close {
                        self.at += 1;
                    } else {
                        objects = objects << 1 | u128::from(is_object);
                        level += 1;
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
                let is_object = objects & 1 == 1;
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
                    other => return self.fault(SyntaxErrorKind::Unexpected(other)),
                }
                objects >>= 1;
                level -= 1;
                self.at += 1;
            }
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), SyntaxError> {
        if self.plain_name().is_some() {
            return Ok(());
        }
        self.peek()?;
        self.string()?;
        self.expect(b':')
    }

    fn word(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        let Some(found) = self.bytes.get(self.at..self.at + word.len()) else {
            return self.fault(SyntaxErrorKind::Ended);
        };
        if found != word {
            return self.fault(SyntaxErrorKind::Unexpected(found[0]));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
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

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            _ if self.at > start => Ok(()),
            Some(&byte) => self.fault(SyntaxErrorKind::Unexpected(byte)),
            None => self.fault(SyntaxErrorKind::Ended),
        }
    }

    /// Passes over a string that begins here, and says whether anything in it is escaped.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<bool, SyntaxError> {
        match self.bytes.get(self.at) {
            Some(b'"') => self.at += 1,
            Some(&byte) => return self.fault(SyntaxErrorKind::Unexpected(byte)),
            None => return self.fault(SyntaxErrorKind::Ended),
        }
        self.at += plain_run(&self.bytes[self.at..]);
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(false);
        }
        self.rest_of_string()
    }

    /// The rest of a string, from the first byte that is not plain.
    fn rest_of_string(&mut self) -> Result<bool, SyntaxError> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'\\') => self.escape()?,
                Some(&byte) => return self.fault(SyntaxErrorKind::Unexpected(byte)),
                None => return self.fault(SyntaxErrorKind::Ended),
            }
            self.at += plain_run(&self.bytes[self.at..]);
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        match self.bytes.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.bytes.get(self.at) {
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        Some(&byte) => return self.fault(SyntaxErrorKind::Unexpected(byte)),
                        None => return self.fault(SyntaxErrorKind::Ended),
                    }
                }
            }
            Some(&byte) => return self.fault(SyntaxErrorKind::Unexpected(byte)),
            None => return self.fault(SyntaxErrorKind::Ended),
        }
        Ok(())
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether a container may open inside `level` others.
#[inline]
fn check_depth(level: usize) -> Result<(), SyntaxErrorKind> {
    if level < MAX_DEPTH { Ok(()) } else { Err(SyntaxErrorKind::TooDeep) }
}

#[cold]
fn unescaped(key: &[u8]) -> Key<'_> {
    match std::str::from_utf8(key) {
        Ok(text) => Key::Unescaped(unescape(text).into_bytes()),
        // Whatever it is, it is none of the names that are looked for.
        Err(_) => Key::Plain(key),
    }
}

#[cfg(test)]
mod tests;
