//! Iterators over the members of an object and the elements of an array of a checked text; each value is a slice of the
//! same text.

use std::ops::Range;
use std::str;

use crate::raw::Raw;
use crate::scan::{Cursor, MemberKey};

impl Raw {
    /// Iterates over the members of an object, in order. Empty for any other value.
    pub fn fields(&self) -> ObjectFields<'_> {
        ObjectFields { object: self, spans: FieldSpans::new(self) }
    }

    /// Iterates over the members of an object as borrowed text. Empty for any other value.
    pub fn field_texts(&self) -> FieldTexts<'_> {
        FieldTexts { object: self, spans: FieldSpans::new(self) }
    }

    /// Iterates over the members of an object, with the span of each value in the text. Empty for any other value.
    pub fn field_spans(&self) -> FieldSpans<'_> {
        FieldSpans::new(self)
    }

    /// Iterates over the elements of an array, in order. Empty for any other value.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(self)
    }
}

/// Iterator over the members of an object. Copies and decodes nothing; yields duplicates as often as they occur.
#[derive(Debug)]
pub struct ObjectFields<'a> {
    object: &'a Raw,
    spans: FieldSpans<'a>,
}

/// The name of an object member, unescaped.
#[derive(Debug)]
pub struct Name<'a>(MemberKey<'a>);

impl<'a> From<MemberKey<'a>> for Name<'a> {
    #[inline]
    fn from(key: MemberKey<'a>) -> Self {
        Self(key)
    }
}

impl Name<'_> {
    /// Returns the bytes of the unescaped name.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the unescaped name.
    pub fn as_str(&self) -> &str {
        // The bytes come from UTF-8 text and are never cut inside a character.
        str::from_utf8(self.0.as_bytes()).unwrap_or_default()
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0.as_bytes() == other.as_bytes()
    }
}

impl<'a> Iterator for ObjectFields<'a> {
    type Item = (Name<'a>, Raw);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, span) = self.spans.next()?;
        Some((name, self.object.part(span)))
    }
}

/// Iterator over the members of an object as borrowed text: cheaper than [`ObjectFields`], whose values share ownership of
/// the text.
#[derive(Debug)]
pub struct FieldTexts<'a> {
    object: &'a Raw,
    spans: FieldSpans<'a>,
}

impl<'a> Iterator for FieldTexts<'a> {
    type Item = (Name<'a>, &'a str);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, span) = self.spans.next()?;
        Some((name, &self.object.as_str()[span]))
    }
}

/// Iterator over the members of an object, with the span of each value in the text of the object.
#[derive(Debug)]
pub struct FieldSpans<'a> {
    object: &'a Raw,
    /// `None` when no member is left.
    cursor: Option<Cursor<'a>>,
}

impl<'a> FieldSpans<'a> {
    fn new(object: &'a Raw) -> Self {
        let mut cursor = Cursor::new(object.as_str().as_bytes());
        let has_members = object.is_object() && cursor.enter_object().is_ok_and(|entered| entered);
        Self { object, cursor: has_members.then_some(cursor) }
    }
}

impl<'a> Iterator for FieldSpans<'a> {
    type Item = (Name<'a>, Range<usize>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.cursor.as_mut()?;
        // Cannot fail: the text of a `Raw` has been checked.
        let name = cursor.member_name().ok()?;
        let span = match self.object.member_span_end(cursor.position()) {
            Some(end) => cursor.skip_to(end),
            None => cursor.skip_value(1).ok()?,
        };
        if !cursor.next_member().is_ok_and(|more| more) {
            self.cursor = None;
        }
        Some((Name(name), span))
    }
}

/// Iterator over the elements of an array. Copies and decodes nothing.
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
        // Cannot fail: the text of a `Raw` has been checked.
        let span = cursor.skip_value(1).ok()?;
        if !cursor.next_element().is_ok_and(|more| more) {
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
    fn a_value_that_is_not_an_object_has_no_members() {
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
