//! A validating pass over JSON bytes that allocates nothing and never recurses.
//!
//! It checks the grammar, strings and numbers included, and the depth, and notes where the members of a message
//! are. Types are decoded later, from the spans it found.

use std::ops::Range;

use crate::jsonrpc::familiar::Familiar;
use crate::jsonrpc::fault::{Fault, FaultKind};
use crate::jsonrpc::outline::Outline;
use crate::plain::plain_run;
use crate::raw::MAX_DEPTH;
use crate::wire::unescape;

/// The member in which peers say the same again and again.
const META: &[u8] = b"_meta";

/// The most messages in one batch: each costs far more than its bytes.
pub const MAX_BATCH: usize = 1024;

/// Checks that `bytes` is exactly one JSON value.
pub(crate) fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut cursor = Cursor::new(bytes);
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
    /// Where the members of `params` stand, when that is an object.
    pub(crate) outline: Outline,
    /// Where `_meta` stands in `result`, counted from where that begins.
    pub(crate) meta: Option<Range<usize>>,
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
    /// An object: its members are in what was handed over for them.
    Object,
    /// The elements of a batch.
    Array(Vec<Range<usize>>),
}

/// Finds the members of an object, or the elements of an array, checking everything on the way.
pub(crate) fn top(
    bytes: &[u8],
    depth: usize,
    members: &mut Members,
    familiar: &mut Familiar,
) -> Result<Top, Fault> {
    let mut cursor = Cursor::new(bytes);
    let found = match cursor.peek()? {
        b'{' => {
            cursor.members(depth, members, familiar)?;
            Top::Object
        }
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

/// A place in a text.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Where the name of a member stands.
enum Told {
    /// It is `_meta`.
    Meta(Range<usize>),
    Plain(Range<usize>),
    /// It was written with escapes, and has to be looked at again.
    Escaped,
}

/// What a member is called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Plain(&'a [u8]),
    /// It was written with escapes, e.g. `"\u006dethod"`.
    Unescaped(Vec<u8>),
}

impl Key<'_> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unescaped(bytes) => bytes,
        }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor at a place of its own.
    pub(crate) fn starting(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Where it is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is not white space; the cursor is then at it.
    pub(crate) fn first(&mut self) -> Option<u8> {
        self.peek().ok()
    }

    #[cold]
    fn fault<T>(&self, kind: FaultKind) -> Result<T, Fault> {
        Err(Fault::new(kind, self.at))
    }

    /// The next byte that is not white space, without passing it.
    #[inline]
    fn peek(&mut self) -> Result<u8, Fault> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !is_space(byte) {
                return Ok(byte);
            }
            self.at += 1;
        }
        self.fault(FaultKind::Ended)
    }

    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Result<(), Fault> {
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

    /// Steps into the object that begins here. False when it has no members, and is passed.
    pub(crate) fn enter(&mut self) -> Result<bool, Fault> {
        self.expect(b'{')?;
        let is_empty = self.peek()? == b'}';
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Steps into the array that begins here. False when it has no elements, and is passed.
    pub(crate) fn enter_array(&mut self) -> Result<bool, Fault> {
        self.expect(b'[')?;
        let is_empty = self.peek()? == b']';
        self.at += usize::from(is_empty);
        Ok(!is_empty)
    }

    /// Whether another element follows; then the cursor is at it. If not, the array is passed.
    pub(crate) fn more_elements(&mut self) -> Result<bool, Fault> {
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
            other => self.fault(FaultKind::Unexpected(other)),
        }
    }

    /// The name of the member that begins here; then the cursor is at its value.
    #[inline]
    pub(crate) fn name(&mut self) -> Result<Key<'a>, Fault> {
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

    fn other_name(&mut self) -> Result<Key<'a>, Fault> {
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
    pub(crate) fn span(&mut self, depth: usize) -> Result<Range<usize>, Fault> {
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
    pub(crate) fn pass(&mut self, end: usize) -> Range<usize> {
        let start = std::mem::replace(&mut self.at, end);
        start..end
    }

    /// Whether another member follows; if not, the object is passed.
    pub(crate) fn more(&mut self) -> Result<bool, Fault> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            b'}' => {
                self.at += 1;
                Ok(false)
            }
            other => self.fault(FaultKind::Unexpected(other)),
        }
    }

    fn members(&mut self, depth: usize, members: &mut Members, familiar: &mut Familiar) -> Result<(), Fault> {
        let mut more = self.enter()?;
        while more {
            let key = self.name()?;
            let is_object = self.bytes.get(self.at) == Some(&b'{');
            let span = match key.as_bytes() {
                b"params" if is_object => {
                    let outline = &mut members.outline;
                    outline.begin();
                    self.outlined(depth + 1, familiar, |name, value| match name {
                        Told::Meta(name) => {
                            outline.push(name, value);
                            outline.is_meta();
                        }
                        Told::Plain(name) => outline.push(name, value),
                        Told::Escaped => outline.give_up(),
                    })?
                }
                b"result" if is_object => {
                    let meta = &mut members.meta;
                    self.outlined(depth + 1, familiar, |name, value| {
                        if let Told::Meta(_) = name {
                            *meta = Some(value);
                        }
                    })?
                }
                _ => self.span(depth + 1)?,
            };
            if let Some((name, slot)) = members.slot(key.as_bytes())
                && slot.replace(span).is_some()
            {
                return self.fault(FaultKind::Duplicate(name));
            }
            more = self.more()?;
        }
        Ok(())
    }

    /// As [`Self::span`] for an object, and tells where its members stand, counted from where the object begins.
    #[inline]
    fn outlined(
        &mut self,
        depth: usize,
        familiar: &mut Familiar,
        mut note: impl FnMut(Told, Range<usize>),
    ) -> Result<Range<usize>, Fault> {
        let start = self.at;
        let mut more = self.enter()?;
        while more {
            self.peek()?;
            let name_start = self.at + 1 - start;
            let key = self.name()?;
            let value_start = self.at;
            let name = match key {
                Key::Plain(META) => {
                    self.meta(depth + 1, familiar)?;
                    Told::Meta(name_start..name_start + META.len())
                }
                Key::Plain(name) => {
                    self.value(depth + 1)?;
                    Told::Plain(name_start..name_start + name.len())
                }
                Key::Unescaped(_) => {
                    self.value(depth + 1)?;
                    Told::Escaped
                }
            };
            note(name, value_start - start..self.at - start);
            more = self.more()?;
        }
        Ok(start..self.at)
    }

    /// Passes over a `_meta`. What was checked at the same depth before is not checked again.
    #[inline]
    fn meta(&mut self, depth: usize, familiar: &mut Familiar) -> Result<(), Fault> {
        if let Some(len) = familiar.recognise(&self.bytes[self.at..], depth) {
            self.at += len;
            return Ok(());
        }
        let start = self.at;
        self.value(depth)?;
        familiar.keep(&self.bytes[start..self.at], depth);
        Ok(())
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Range<usize>>, Fault> {
        let mut elements = Vec::new();
        let mut more = self.enter_array()?;
        while more {
            let span = self.span(depth + 1)?;
            if elements.len() == MAX_BATCH {
                return self.fault(FaultKind::BatchTooLong);
            }
            elements.push(span);
            more = self.more_elements()?;
        }
        Ok(elements)
    }

    /// Passes over one value that stands inside `depth` containers.
    fn value(&mut self, depth: usize) -> Result<(), Fault> {
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
                    other => return self.fault(FaultKind::Unexpected(other)),
                }
                objects >>= 1;
                level -= 1;
                self.at += 1;
            }
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), Fault> {
        if self.plain_name().is_some() {
            return Ok(());
        }
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

    /// Passes over a string that begins here, and says whether anything in it is escaped.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<bool, Fault> {
        match self.bytes.get(self.at) {
            Some(b'"') => self.at += 1,
            Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
            None => return self.fault(FaultKind::Ended),
        }
        self.at += plain_run(&self.bytes[self.at..]);
        if self.bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            return Ok(false);
        }
        self.rest_of_string()
    }

    /// The rest of a string, from the first byte that is not plain.
    fn rest_of_string(&mut self) -> Result<bool, Fault> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'\\') => self.escape()?,
                Some(&byte) => return self.fault(FaultKind::Unexpected(byte)),
                None => return self.fault(FaultKind::Ended),
            }
            self.at += plain_run(&self.bytes[self.at..]);
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

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether a container may open inside `level` others.
#[inline]
fn check_depth(level: usize) -> Result<(), FaultKind> {
    if level < MAX_DEPTH { Ok(()) } else { Err(FaultKind::TooDeep) }
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
