//! `RawReader`: a typed pull reader over checked text.

use std::borrow::Cow;

use crate::error::DecodeError;
use crate::fields::Name;
use crate::limits::MAX_NODES;
use crate::raw::Raw;
use crate::read::FromRaw;
use crate::read::mismatch::Mismatch;
use crate::scan::Cursor;
use crate::unescape::unescape;

/// The number of characters of a value that an error message quotes.
const MAX_QUOTED_CHARS: usize = 40;

/// A reader over checked text, positioned at the first byte of a value.
///
/// `read_…` methods decode the value and move behind it, `peek…` methods do not move. A clone can be used to look
/// ahead.
#[derive(Debug, Clone)]
pub struct RawReader<'a> {
    raw: &'a Raw,
    cursor: Cursor<'a>,
    /// The object whose first member, the tag, has been consumed by [`Self::read_tag`].
    open_object: Option<OpenObject>,
    /// The number of values that may still be decoded: a short text can decode to a large value.
    node_budget: usize,
}

/// An object of which the first member has been consumed.
#[derive(Debug, Clone, Copy)]
struct OpenObject {
    /// The offset of the object.
    start: usize,
    /// Whether another member follows the consumed one.
    more: bool,
}

impl<'a> RawReader<'a> {
    /// Creates a reader at the start of a text.
    #[inline]
    pub fn new(raw: &'a Raw) -> Self {
        Self { raw, cursor: Cursor::new(raw.as_str().as_bytes()), open_object: None, node_budget: MAX_NODES }
    }

    /// Resets the budget of values to [`MAX_NODES`].
    #[inline]
    pub fn reset_node_budget(&mut self) {
        self.node_budget = MAX_NODES;
    }

    /// Charges one value to the budget.
    #[inline]
    fn count_node(&mut self) -> Result<(), Mismatch> {
        self.node_budget = self.node_budget.checked_sub(1).ok_or_else(Mismatch::too_many_nodes)?;
        Ok(())
    }

    /// Decodes the value without moving. The decoded values are charged to the budget.
    ///
    /// # Errors
    /// As [`FromRaw::read`].
    #[inline]
    pub fn peek<T: FromRaw>(&mut self) -> Result<T, Mismatch> {
        let mut ahead = self.clone();
        let read = T::read(&mut ahead);
        self.node_budget = ahead.node_budget;
        read
    }

    /// Decodes another text, charging its values to the budget of this reader.
    ///
    /// # Errors
    /// As [`FromRaw::from_raw`].
    #[inline]
    pub fn read_detached<T: FromRaw>(&mut self, raw: &Raw) -> Result<T, DecodeError> {
        let mut reader = RawReader { node_budget: self.node_budget, ..RawReader::new(raw) };
        let read = T::read(&mut reader);
        self.node_budget = reader.node_budget;
        read.map_err(|mismatch| mismatch.into_decode_error(raw.as_str(), 0))
    }

    /// Returns the byte offset of the value.
    #[inline]
    pub fn offset(&self) -> usize {
        self.open_object.map_or(self.cursor.position(), |object| object.start)
    }

    /// Returns the first byte of the value, which tells its type: a brace, a bracket, a quote, a letter or a digit.
    #[inline]
    pub fn first_byte(&self) -> u8 {
        self.raw.as_str().as_bytes().get(self.offset()).copied().unwrap_or_default()
    }

    /// Skips the value if it is `null`. Returns whether it was.
    #[inline]
    pub fn skip_null(&mut self) -> bool {
        let is_null = self.first_byte() == b'n';
        if is_null {
            self.skip();
        }
        is_null
    }

    /// Skips the value.
    #[inline]
    pub fn skip(&mut self) {
        // Cannot fail: the text has been checked.
        let _ = self.cursor.skip_value(0);
    }

    /// Returns the value as borrowed text and moves behind it.
    #[inline]
    pub fn read_text(&mut self) -> &'a str {
        let start = self.offset();
        self.skip();
        self.raw.as_str().get(start..self.offset()).unwrap_or("null")
    }

    /// Returns the value as a slice of the text and moves behind it.
    #[inline]
    pub fn read_raw(&mut self) -> Raw {
        let start = self.offset();
        match self.raw.member_span_end(start) {
            Some(end) => {
                self.cursor.skip_to(end);
            }
            None => self.skip(),
        }
        if self.offset() > start { self.raw.part(start..self.offset()) } else { Raw::null() }
    }

    /// Decodes a string.
    #[inline]
    pub fn read_string(&mut self) -> Result<Cow<'a, str>, Mismatch> {
        if self.first_byte() != b'"' {
            return Err(self.type_mismatch("a string"));
        }
        let start = self.offset() + 1;
        let Ok(escaped) = self.cursor.string() else { return Err(self.type_mismatch("a string")) };
        let inner = self.raw.as_str().get(start..self.offset() - 1).unwrap_or_default();
        Ok(if escaped { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// Returns the string member `name`, the tag of the object. If it is the first member, which is how nearly all
    /// peers write it, it is consumed and [`Self::for_each_member`] does not yield it again.
    #[inline]
    pub fn read_tag(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, Mismatch> {
        let mut ahead = self.clone();
        let is_first = ahead.first_byte() == b'{'
            && ahead.cursor.enter_object().unwrap_or(false)
            && ahead.cursor.member_name().is_ok_and(|key| key.as_bytes() == name.as_bytes());
        if !is_first {
            return self.peek_string_member(name);
        }
        let tag = ahead.read_string()?;
        let more = ahead.cursor.next_member().unwrap_or(false);
        self.open_object = Some(OpenObject { start: self.offset(), more });
        self.cursor = ahead.cursor;
        Ok(Some(tag))
    }

    /// Returns the string member `name` of an object without moving; `None` if the object has no such member.
    #[inline]
    pub fn peek_string_member(&self, name: &str) -> Result<Option<Cow<'a, str>>, Mismatch> {
        if self.first_byte() != b'{' {
            return Err(self.type_mismatch("an object"));
        }
        let mut ahead = self.clone();
        let mut more = ahead.cursor.enter_object().unwrap_or(false);
        while more {
            match ahead.cursor.member_name() {
                Ok(key) if key.as_bytes() == name.as_bytes() => return ahead.read_string().map(Some),
                Ok(_) => ahead.skip(),
                Err(_) => break,
            }
            more = ahead.cursor.next_member().unwrap_or(false);
        }
        Ok(None)
    }

    /// Calls `read` for every member of an object. `read` must move behind the member's value.
    #[inline]
    pub fn for_each_member(
        &mut self,
        expected: &str,
        read: &mut dyn FnMut(&mut Self, Name<'a>) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        if self.first_byte() != b'{' {
            return Err(self.type_mismatch(expected));
        }
        // Errors cannot occur in checked text; they end the iteration.
        let mut more = match self.open_object.take() {
            Some(object) => object.more,
            None => self.cursor.enter_object().unwrap_or(false),
        };
        while more {
            let Ok(name) = self.cursor.member_name() else { break };
            self.count_node()?;
            read(self, Name::from(name))?;
            more = self.cursor.next_member().unwrap_or(false);
        }
        Ok(())
    }

    /// Calls `read` for every element of an array. `read` must move behind the element.
    #[inline]
    pub fn for_each_element(
        &mut self,
        read: &mut dyn FnMut(&mut Self) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        if self.first_byte() != b'[' {
            return Err(self.type_mismatch("a sequence"));
        }
        let mut more = self.cursor.enter_array().unwrap_or(false);
        while more {
            self.count_node()?;
            read(self)?;
            more = self.cursor.next_element().unwrap_or(false);
        }
        Ok(())
    }

    /// Returns the error that the value at the reader has another type than `expected`.
    #[cold]
    pub fn type_mismatch(&self, expected: &str) -> Mismatch {
        let text = self.clone().read_text();
        let found = match text.as_bytes().first() {
            Some(b'{') => "map".to_owned(),
            Some(b'[') => "sequence".to_owned(),
            Some(b'"') => format!("string {}", shorten(text)),
            Some(b'n') | None => "null".to_owned(),
            Some(b't' | b'f') => format!("boolean `{text}`"),
            Some(_) if text.contains(['.', 'e', 'E']) => format!("floating point `{}`", shorten(text)),
            Some(_) => format!("integer `{}`", shorten(text)),
        };
        Mismatch::new(self.offset(), format!("invalid type: {found}, expected {expected}"))
    }
}

/// Truncates a text to [`MAX_QUOTED_CHARS`].
fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
