//! The members of an object and the elements of an array that were checked before, one after another, each a slice of
//! the same text.

use std::str;

use crate::jsonrpc::Outline;
use crate::jsonrpc::scan::{Cursor, Key};
use crate::raw::Raw;

/// The members of an object. Nothing is copied and nothing decoded; a duplicate is given as often as it stands.
#[derive(Debug)]
pub struct Fields<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    /// No member is left.
    None,
    /// They are looked for.
    Walk(&'a Raw, Cursor<'a>),
    /// It is known where they stand; the number is the next one.
    Known(&'a Raw, Outline, usize),
}

/// The name of a member.
#[derive(Debug)]
pub struct Name<'a>(Key<'a>);

impl<'a> Name<'a> {
    pub(crate) fn new(key: Key<'a>) -> Self {
        Self(key)
    }

    /// The bytes of the name, with its escapes undone: what to match on.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The name, with its escapes undone.
    pub fn as_str(&self) -> &str {
        // Both come from text that is UTF-8; only a cut in the middle of a character would make it otherwise.
        str::from_utf8(self.0.as_bytes()).unwrap_or_default()
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0.as_bytes() == other.as_bytes()
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn new(object: &'a Raw) -> Self {
        let mut cursor = Cursor::new(object.as_str().as_bytes());
        let has_members = object.is_object() && cursor.enter().is_ok_and(|entered| entered);
        Self(if has_members { Source::Walk(object, cursor) } else { Source::None })
    }

    /// The members of an object that was outlined.
    pub(crate) fn outlined(object: &'a Raw, outline: Outline) -> Self {
        if outline.is_known() { Self(Source::Known(object, outline, 0)) } else { Self::new(object) }
    }

    pub(crate) const fn none() -> Self {
        Self(Source::None)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Name<'a>, Raw);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::None => None,
            Source::Walk(object, cursor) => {
                let object = *object;
                // The text was checked when it was taken, so there is nothing to stumble over.
                let name = cursor.name().ok()?;
                let value = match object.meta_end(cursor.at()) {
                    Some(end) => cursor.pass(end),
                    None => cursor.span(1).ok()?,
                };
                if !cursor.more().is_ok_and(|more| more) {
                    self.0 = Source::None;
                }
                Some((Name(name), object.part(value)))
            }
            Source::Known(object, outline, index) => {
                let (name, value) = outline.get(*index)?;
                *index += 1;
                let name = object.as_str().as_bytes().get(name)?;
                Some((Name(Key::Plain(name)), object.part(value)))
            }
        }
    }
}

/// The members of an object, one after another.
///
/// After each name exactly one of the others is due.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    object: &'a Raw,
    /// `None` when no member is left.
    cursor: Option<Cursor<'a>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(object: &'a Raw) -> Self {
        let mut cursor = Cursor::new(object.as_str().as_bytes());
        let has_members = object.is_object() && cursor.enter().is_ok_and(|entered| entered);
        Self { object, cursor: has_members.then_some(cursor) }
    }

    /// The name of the next member; the walk is then at its value.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<Name<'a>> {
        self.cursor.as_mut()?.name().ok().map(Name)
    }

    /// Leaves the value out.
    pub(crate) fn pass(&mut self) {
        // The text was checked when it was taken.
        let _ = self.cursor.as_mut().map(|cursor| cursor.span(1));
        self.turn();
    }

    /// The value as text that is looked at and not kept.
    pub(crate) fn text(&mut self) -> &'a str {
        let span = self.cursor.as_mut().and_then(|cursor| cursor.span(1).ok());
        self.turn();
        span.and_then(|span| self.object.as_str().get(span)).unwrap_or("null")
    }

    fn turn(&mut self) {
        if !self.cursor.as_mut().is_some_and(|cursor| cursor.more().is_ok_and(|more| more)) {
            self.cursor = None;
        }
    }
}

/// The members of an object as text that is looked at and not kept: cheaper than [`Fields`], which gives values that
/// outlive the object.
#[derive(Debug)]
pub struct Glances<'a>(Walk<'a>);

impl<'a> Glances<'a> {
    pub(crate) fn new(object: &'a Raw) -> Self {
        Self(Walk::new(object))
    }
}

impl<'a> Iterator for Glances<'a> {
    type Item = (Name<'a>, &'a str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.name()?;
        Some((name, self.0.text()))
    }
}

/// The elements of an array. Nothing is copied and nothing decoded.
#[derive(Debug)]
pub struct Elements<'a> {
    array: &'a Raw,
    /// `None` when no element is left.
    cursor: Option<Cursor<'a>>,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(array: &'a Raw) -> Self {
        let mut cursor = Cursor::new(array.as_str().as_bytes());
        let has_elements = array.is_array() && cursor.enter_array().is_ok_and(|entered| entered);
        Self { array, cursor: has_elements.then_some(cursor) }
    }
}

impl Iterator for Elements<'_> {
    type Item = Raw;

    fn next(&mut self) -> Option<Raw> {
        let cursor = self.cursor.as_mut()?;
        // The text was checked when it was taken, so there is nothing to stumble over.
        let span = cursor.span(1).ok()?;
        if !cursor.more_elements().is_ok_and(|more| more) {
            self.cursor = None;
        }
        Some(self.array.part(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let raw = Raw::parse(text).unwrap();
        raw.fields().map(|(name, value)| (name.as_str().to_owned(), value.as_str().to_owned())).collect()
    }

    #[test]
    fn members_come_in_order_with_their_text() {
        let text = r#" { "a" : [1, {"b": 2}] , "\u0062":"x,}" ,"a":null, "é": -1.5e3 } "#;
        let expected = [("a", r#"[1, {"b": 2}]"#), ("b", "\"x,}\""), ("a", "null"), ("é", "-1.5e3")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(text), expected);
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in ["{}", "{ }", "[]", "[1]", "1", "null", "\"{\""] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn elements_come_in_order_with_their_text() {
        let read = |text: &str| -> Vec<String> {
            let raw = Raw::parse(text.to_owned()).unwrap();
            raw.elements().map(|element| element.as_str().to_owned()).collect()
        };
        assert_eq!(read(r#"[ 1 , {"a": [2]},"x,]" ,[]]"#), ["1", r#"{"a": [2]}"#, "\"x,]\"", "[]"]);
        for text in ["[]", "[ ]", "{}", "1", "\"[1]\""] {
            assert_eq!(read(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_member_is_a_slice_of_the_same_text() {
        let raw = Raw::parse(r#"{"a":{"b":1}}"#).unwrap();
        let (_, value) = raw.fields().next().unwrap();
        assert_eq!(raw.as_str()[5..].as_ptr(), value.as_str().as_ptr());
    }
}
