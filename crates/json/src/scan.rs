//! JSON scanner: validates bytes in one pass without allocation or recursion.
//!
//! Checks the grammar, including strings and numbers, and the nesting depth. Types are decoded later, from the spans
//! that it reports.

use std::ops::Range;

use crate::limits::MAX_DEPTH;
use crate::special_bytes::plain_prefix_len;
use crate::syntax::{SyntaxError, SyntaxErrorKind};
use crate::unescape::unescape;

/// Checks that `bytes` is exactly one JSON value.
pub(crate) fn check(bytes: &[u8]) -> Result<(), SyntaxError> {
    let mut cursor = Cursor::new(bytes);
    cursor.scan_value(0)?;
    cursor.finish()
}

/// Counts the values in a checked text; member names do not count.
pub(crate) fn count_nodes(bytes: &[u8]) -> usize {
    // Every value except the first of its container follows a comma; a non-empty container has a first value.
    let mut nodes = 1;
    let mut at = 0;
    let mut opened = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                nodes += usize::from(opened);
                opened = false;
                let mut cursor = Cursor { bytes, position: at };
                if cursor.string().is_err() {
                    return nodes;
                }
                at = cursor.position;
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

/// A position in a text. Moving it over values validates them.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// The name of an object member as scanned.
#[derive(Debug, PartialEq, Eq)]
pub enum MemberKey<'a> {
    /// A name without escapes, as written.
    Plain(&'a [u8]),
    /// The unescaped form of a name with escapes, e.g. `"\u006dethod"`.
    Unescaped(Vec<u8>),
}

impl MemberKey<'_> {
    /// Returns the bytes of the unescaped name.
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
        Self { bytes, position: 0 }
    }

    /// Creates a cursor at a byte offset.
    pub(crate) fn starting_at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    /// Returns the byte offset of the cursor.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the bytes from the cursor on.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Skips white space and returns the next byte without consuming it; `None` at the end.
    #[inline]
    pub(crate) fn first_byte(&mut self) -> Option<u8> {
        self.peek().ok()
    }

    #[cold]
    fn error<T>(&self, kind: SyntaxErrorKind) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(kind, self.position))
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, SyntaxError> {
        while let Some(&byte) = self.bytes.get(self.position) {
            if !is_space(byte) {
                return Ok(byte);
            }
            self.position += 1;
        }
        self.error(SyntaxErrorKind::UnexpectedEnd)
    }

    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Result<(), SyntaxError> {
        let found = self.peek()?;
        if found != wanted {
            return self.error(SyntaxErrorKind::Unexpected(found));
        }
        self.position += 1;
        Ok(())
    }

    /// Checks that nothing but white space follows.
    pub fn finish(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Err(_) => Ok(()),
            Ok(_) => self.error(SyntaxErrorKind::Trailing),
        }
    }

    /// Enters the object at the cursor. Returns whether it has members; an empty object is skipped.
    #[inline]
    pub fn enter_object(&mut self) -> Result<bool, SyntaxError> {
        self.expect(b'{')?;
        let is_empty = self.peek()? == b'}';
        self.position += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Enters the array at the cursor. Returns whether it has elements; an empty array is skipped.
    #[inline]
    pub fn enter_array(&mut self) -> Result<bool, SyntaxError> {
        self.expect(b'[')?;
        let is_empty = self.peek()? == b']';
        self.position += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Moves to the next element. Returns `false` after the last one, with the cursor behind the array.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, SyntaxError> {
        match self.peek()? {
            b',' => {
                self.position += 1;
                self.peek()?;
                Ok(true)
            }
            b']' => {
                self.position += 1;
                Ok(false)
            }
            other => self.error(SyntaxErrorKind::Unexpected(other)),
        }
    }

    /// Reads the name of the member at the cursor and moves to its value.
    #[inline]
    pub fn member_name(&mut self) -> Result<MemberKey<'a>, SyntaxError> {
        match self.plain_name() {
            Some((inner, next)) if !is_space(next) => Ok(MemberKey::Plain(inner)),
            Some((inner, _)) => {
                self.peek()?;
                Ok(MemberKey::Plain(inner))
            }
            None => self.spaced_or_escaped_name(),
        }
    }

    /// Fast path for a name without escapes that a colon follows directly, which is how nearly all peers write. Returns
    /// the name and the byte after the colon.
    #[inline]
    fn plain_name(&mut self) -> Option<(&'a [u8], u8)> {
        let (b'"', inner) = self.bytes.get(self.position..)?.split_first()? else { return None };
        let len = plain_prefix_len(inner);
        let (name, rest) = inner.split_at_checked(len)?;
        let [b'"', b':', next, ..] = *rest else { return None };
        self.position += len + 3;
        Some((name, next))
    }

    fn spaced_or_escaped_name(&mut self) -> Result<MemberKey<'a>, SyntaxError> {
        self.peek()?;
        let start = self.position + 1;
        let escaped = self.string()?;
        let inner = &self.bytes[start..self.position - 1];
        self.expect(b':')?;
        self.peek()?;
        Ok(if escaped { unescape_key(inner) } else { MemberKey::Plain(inner) })
    }

    /// Skips the value at the cursor, which is inside `depth` containers, and returns its span.
    #[inline]
    pub fn skip_value(&mut self, depth: usize) -> Result<Range<usize>, SyntaxError> {
        let start = self.position;
        if self.bytes.get(start) == Some(&b'"') {
            // Fast path: most values are strings, which have no nesting.
            self.string()?;
        } else {
            self.scan_value(depth)?;
        }
        Ok(start..self.position)
    }

    /// Skips to `end`, the known end of the value at the cursor, and returns its span.
    #[inline]
    pub fn skip_to(&mut self, end: usize) -> Range<usize> {
        let start = std::mem::replace(&mut self.position, end);
        start..end
    }

    /// Moves to the next member. Returns `false` after the last one, with the cursor behind the object.
    #[inline]
    pub fn next_member(&mut self) -> Result<bool, SyntaxError> {
        match self.peek()? {
            b',' => {
                self.position += 1;
                Ok(true)
            }
            b'}' => {
                self.position += 1;
                Ok(false)
            }
            other => self.error(SyntaxErrorKind::Unexpected(other)),
        }
    }

    /// Validates and skips one value that is inside `depth` containers.
    fn scan_value(&mut self, depth: usize) -> Result<(), SyntaxError> {
        // A bit stack with one bit per level, set for an object. MAX_DEPTH levels fit a u128.
        let mut objects: u128 = 0;
        let mut level = depth;
        loop {
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    check_depth(level).or_else(|kind| self.error(kind))?;
                    let is_object = open == b'{';
                    self.position += 1;
                    let close = if is_object { b'}' } else { b']' };
                    if self.peek()? == close {
                        self.position += 1;
                    } else {
                        objects = objects << 1 | u128::from(is_object);
                        level += 1;
                        if is_object {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => self.number()?,
            }
            // A value has ended: skip commas and closing brackets until the next one begins.
            loop {
                if level == depth {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.position += 1;
                        if is_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    b'}' if is_object => {}
                    b']' if !is_object => {}
                    other => return self.error(SyntaxErrorKind::Unexpected(other)),
                }
                objects >>= 1;
                level -= 1;
                self.position += 1;
            }
        }
    }

    #[inline]
    fn skip_key(&mut self) -> Result<(), SyntaxError> {
        if self.plain_name().is_some() {
            return Ok(());
        }
        self.peek()?;
        self.string()?;
        self.expect(b':')
    }

    fn literal(&mut self, literal: &[u8]) -> Result<(), SyntaxError> {
        let Some(found) = self.bytes.get(self.position..self.position + literal.len()) else {
            return self.error(SyntaxErrorKind::UnexpectedEnd);
        };
        if found != literal {
            return self.error(SyntaxErrorKind::Unexpected(found[0]));
        }
        self.position += literal.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.bytes.get(self.position) == Some(&b'-') {
            self.position += 1;
        }
        match self.bytes.get(self.position) {
            Some(b'0') => self.position += 1,
            _ => self.digits()?,
        }
        if self.bytes.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.position), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.bytes.get(self.position), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.position;
        while self.bytes.get(self.position).is_some_and(u8::is_ascii_digit) {
            self.position += 1;
        }
        match self.bytes.get(self.position) {
            _ if self.position > start => Ok(()),
            Some(&byte) => self.error(SyntaxErrorKind::Unexpected(byte)),
            None => self.error(SyntaxErrorKind::UnexpectedEnd),
        }
    }

    /// Skips the string at the cursor and returns whether it contains escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<bool, SyntaxError> {
        match self.bytes.get(self.position) {
            Some(b'"') => self.position += 1,
            Some(&byte) => return self.error(SyntaxErrorKind::Unexpected(byte)),
            None => return self.error(SyntaxErrorKind::UnexpectedEnd),
        }
        self.position += plain_prefix_len(&self.bytes[self.position..]);
        if self.bytes.get(self.position) == Some(&b'"') {
            self.position += 1;
            return Ok(false);
        }
        self.rest_of_string()
    }

    /// Skips the rest of a string, from its first special byte.
    fn rest_of_string(&mut self) -> Result<bool, SyntaxError> {
        loop {
            match self.bytes.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(true);
                }
                Some(b'\\') => self.escape()?,
                Some(&byte) => return self.error(SyntaxErrorKind::Unexpected(byte)),
                None => return self.error(SyntaxErrorKind::UnexpectedEnd),
            }
            self.position += plain_prefix_len(&self.bytes[self.position..]);
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.position += 1;
        match self.bytes.get(self.position) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.position += 1,
            Some(b'u') => {
                self.position += 1;
                for _ in 0..4 {
                    match self.bytes.get(self.position) {
                        Some(byte) if byte.is_ascii_hexdigit() => self.position += 1,
                        Some(&byte) => return self.error(SyntaxErrorKind::Unexpected(byte)),
                        None => return self.error(SyntaxErrorKind::UnexpectedEnd),
                    }
                }
            }
            Some(&byte) => return self.error(SyntaxErrorKind::Unexpected(byte)),
            None => return self.error(SyntaxErrorKind::UnexpectedEnd),
        }
        Ok(())
    }
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Fails if a container may not open inside `level` others.
#[inline]
fn check_depth(level: usize) -> Result<(), SyntaxErrorKind> {
    if level < MAX_DEPTH { Ok(()) } else { Err(SyntaxErrorKind::TooDeep) }
}

#[cold]
fn unescape_key(key: &[u8]) -> MemberKey<'_> {
    match std::str::from_utf8(key) {
        Ok(text) => MemberKey::Unescaped(unescape(text).into_bytes()),
        // Not UTF-8, so it cannot equal any known name.
        Err(_) => MemberKey::Plain(key),
    }
}

#[cfg(test)]
mod tests;
