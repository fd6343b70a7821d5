//! A walk over one checked text.

use std::borrow::Cow;

use crate::error::DecodeError;
use crate::fields::Name;
use crate::limits::MAX_NODES;
use crate::raw::Raw;
use crate::read::FromRaw;
use crate::read::mismatch::Mismatch;
use crate::scan::Cursor;
use crate::unescape::unescape;

/// The longest value that is quoted in an error.
const QUOTED: usize = 40;

/// A place in a checked text: always at the first byte of a value.
///
/// What reads a value also passes it. A clone is at the same place and can look ahead.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    raw: &'a Raw,
    cursor: Cursor<'a>,
    /// The object whose first member was read already.
    entered: Option<Entered>,
    /// How many values may still be read: a few bytes of text can be a large value.
    left: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entered {
    /// Where it begins.
    start: usize,
    /// Whether another member follows.
    more: bool,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of a text.
    #[inline]
    pub fn new(raw: &'a Raw) -> Self {
        Self { raw, cursor: Cursor::new(raw.as_str().as_bytes()), entered: None, left: MAX_NODES }
    }

    /// As many values may be read from here as from any text.
    #[inline]
    pub fn renew(&mut self) {
        self.left = MAX_NODES;
    }

    /// Counts a value that is about to be read.
    #[inline]
    fn count(&mut self) -> Result<(), Mismatch> {
        self.left = self.left.checked_sub(1).ok_or_else(Mismatch::too_many)?;
        Ok(())
    }

    /// Reads the value and stays at it. What was read counts.
    ///
    /// # Errors
    /// As [`FromRaw::read`].
    #[inline]
    pub fn ahead<T: FromRaw>(&mut self) -> Result<T, Mismatch> {
        let mut ahead = self.clone();
        let read = T::read(&mut ahead);
        self.left = ahead.left;
        read
    }

    /// Reads a text that was set aside. What is read counts here.
    ///
    /// # Errors
    /// As [`FromRaw::from_raw`].
    #[inline]
    pub fn aside<T: FromRaw>(&mut self, raw: &Raw) -> Result<T, DecodeError> {
        let mut reader = Reader { left: self.left, ..Reader::new(raw) };
        let read = T::read(&mut reader);
        self.left = reader.left;
        read.map_err(|mismatch| mismatch.explain(raw.as_str(), 0))
    }

    /// Where the value begins.
    #[inline]
    pub fn at(&self) -> usize {
        self.entered.map_or(self.cursor.at(), |object| object.start)
    }

    /// The first byte of the value; the brace of an object, the quote of a string.
    #[inline]
    pub fn first(&self) -> u8 {
        self.raw.as_str().as_bytes().get(self.at()).copied().unwrap_or_default()
    }

    /// Whether the value is `null`; then it is passed.
    #[inline]
    pub fn null(&mut self) -> bool {
        let is_null = self.first() == b'n';
        if is_null {
            self.pass();
        }
        is_null
    }

    /// Leaves the value out.
    #[inline]
    pub fn pass(&mut self) {
        // The text was checked when it was taken.
        let _ = self.cursor.span(0);
    }

    /// The value as text that is looked at and not kept.
    #[inline]
    pub fn text(&mut self) -> &'a str {
        let start = self.at();
        self.pass();
        self.raw.as_str().get(start..self.at()).unwrap_or("null")
    }

    /// The value as a slice of the text.
    #[inline]
    pub fn raw(&mut self) -> Raw {
        let start = self.at();
        match self.raw.noted_end(start) {
            Some(end) => {
                self.cursor.pass(end);
            }
            None => self.pass(),
        }
        if self.at() > start { self.raw.part(start..self.at()) } else { Raw::null() }
    }

    /// The value, which must be a string.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'a, str>, Mismatch> {
        if self.first() != b'"' {
            return Err(self.expected("a string"));
        }
        let start = self.at() + 1;
        let Ok(escaped) = self.cursor.string() else { return Err(self.expected("a string")) };
        let inner = self.raw.as_str().get(start..self.at() - 1).unwrap_or_default();
        Ok(if escaped { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// The text under `name`, which says what kind of object the value is. When it stands first, as nearly everyone writes
    /// it, it is not met again among the members.
    #[inline]
    pub fn tag(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, Mismatch> {
        let mut ahead = self.clone();
        let is_first = ahead.first() == b'{'
            && ahead.cursor.enter().unwrap_or(false)
            && ahead.cursor.name().is_ok_and(|key| key.as_bytes() == name.as_bytes());
        if !is_first {
            return self.look_for(name);
        }
        let tag = ahead.string()?;
        let more = ahead.cursor.more().unwrap_or(false);
        self.entered = Some(Entered { start: self.at(), more });
        self.cursor = ahead.cursor;
        Ok(Some(tag))
    }

    /// The text under `name` in the value, which must be an object; nothing when there is none. Stays where it is.
    #[inline]
    pub fn look_for(&self, name: &str) -> Result<Option<Cow<'a, str>>, Mismatch> {
        if self.first() != b'{' {
            return Err(self.expected("an object"));
        }
        let mut ahead = self.clone();
        let mut more = ahead.cursor.enter().unwrap_or(false);
        while more {
            match ahead.cursor.name() {
                Ok(key) if key.as_bytes() == name.as_bytes() => return ahead.string().map(Some),
                Ok(_) => ahead.pass(),
                Err(_) => break,
            }
            more = ahead.cursor.more().unwrap_or(false);
        }
        Ok(None)
    }

    /// Every member of the value, which must be an object. `read` must pass the value it is called at.
    #[inline]
    pub fn each_member(
        &mut self,
        expected: &str,
        read: &mut dyn FnMut(&mut Self, Name<'a>) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        if self.first() != b'{' {
            return Err(self.expected(expected));
        }
        // The text was checked when it was taken: what cannot be is an end.
        let mut more = match self.entered.take() {
            Some(object) => object.more,
            None => self.cursor.enter().unwrap_or(false),
        };
        while more {
            let Ok(name) = self.cursor.name() else { break };
            self.count()?;
            read(self, Name::from(name))?;
            more = self.cursor.more().unwrap_or(false);
        }
        Ok(())
    }

    /// Every element of the value, which must be an array. `read` must pass the value it is called at.
    #[inline]
    pub fn each_element(
        &mut self,
        read: &mut dyn FnMut(&mut Self) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        if self.first() != b'[' {
            return Err(self.expected("a sequence"));
        }
        let mut more = self.cursor.enter_array().unwrap_or(false);
        while more {
            self.count()?;
            read(self)?;
            more = self.cursor.more_elements().unwrap_or(false);
        }
        Ok(())
    }

    /// The error for a value, which begins where the reader is, that is something else than what was expected.
    #[cold]
    pub fn expected(&self, expected: &str) -> Mismatch {
        let text = self.clone().text();
        let found = match text.as_bytes().first() {
            Some(b'{') => "map".to_owned(),
            Some(b'[') => "sequence".to_owned(),
            Some(b'"') => format!("string {}", quoted(text)),
            Some(b'n') | None => "null".to_owned(),
            Some(b't' | b'f') => format!("boolean `{text}`"),
            Some(_) if text.contains(['.', 'e', 'E']) => format!("floating point `{}`", quoted(text)),
            Some(_) => format!("integer `{}`", quoted(text)),
        };
        Mismatch::new(self.at(), format!("invalid type: {found}, expected {expected}"))
    }
}

fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
