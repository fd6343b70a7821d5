//! The members of an object and the elements of an array that were checked before, one after another, each a slice of
//! the same text.

use std::str;

use crate::raw::Raw;
use crate::scan::{Cursor, Key};

impl Raw {
    /// The members of the object this is, in order; none when it is something else.
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(self)
    }

    /// The members of the object this is, as text to look at; none when it is something else.
    pub fn glance(&self) -> Glances<'_> {
        Glances::new(self)
    }

    /// The elements of the array this is, in order; none when it is something else.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(self)
    }
}

/// The members of an object. Nothing is copied and nothing decoded; a duplicate is given as often as it stands.
#[derive(Debug)]
pub struct Fields<'a> {
    object: &'a Raw,
    /// `None` when no member is left.
    cursor: Option<Cursor<'a>>,
}

/// The name of a member.
#[derive(Debug)]
pub struct Name<'a>(Key<'a>);

impl<'a> From<Key<'a>> for Name<'a> {
    #[inline]
    fn from(key: Key<'a>) -> Self {
        Self(key)
    }
}

impl Name<'_> {
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
    fn new(object: &'a Raw) -> Self {
        Self { object, cursor: first_member(object) }
    }
}

/// A cursor at the first member; `None` when the value has no members.
fn first_member(object: &Raw) -> Option<Cursor<'_>> {
    let mut cursor = Cursor::new(object.as_str().as_bytes());
    let has_members = object.is_object() && cursor.enter().is_ok_and(|entered| entered);
    has_members.then_some(cursor)
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Name<'a>, Raw);

    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        // The text was checked when it was taken, so there is nothing to stumble over.
        let name = cursor.name().ok()?;
        let value = match self.object.noted_end(cursor.at()) {
            Some(end) => cursor.pass(end),
            None => cursor.span(1).ok()?,
        };
        if !cursor.more().is_ok_and(|more| more) {
            self.cursor = None;
        }
        Some((Name(name), self.object.part(value)))
    }
}

/// The members of an object as text that is looked at and not kept: cheaper than [`Fields`], which gives values that
/// outlive the object.
#[derive(Debug)]
pub struct Glances<'a> {
    object: &'a Raw,
    /// `None` when no member is left.
    cursor: Option<Cursor<'a>>,
}

impl<'a> Glances<'a> {
    fn new(object: &'a Raw) -> Self {
        Self { object, cursor: first_member(object) }
    }
}

impl<'a> Iterator for Glances<'a> {
    type Item = (Name<'a>, &'a str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        // The text was checked when it was taken.
        let name = cursor.name().ok()?;
        let text = cursor.span(1).ok().and_then(|span| self.object.as_str().get(span)).unwrap_or("null");
        if !cursor.more().is_ok_and(|more| more) {
            self.cursor = None;
        }
        Some((Name(name), text))
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
    fn new(array: &'a Raw) -> Self {
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
