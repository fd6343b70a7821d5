//! Canonical JSON text: the same text for every spelling of the same value.
//!
//! Members are sorted by name, strings use the shortest escapes, there is no white space. Numbers stay as they were
//! written: `1`, `1.0` and `1e0` are three texts, and `1e999`, which no type can hold, is one too. A lone surrogate
//! stays a lower-case escape, so that it differs from U+FFFD. Nothing is decoded into a type, so nothing is lost.

use std::borrow::Cow;

use crate::error::DecodeError;
use crate::limits::MAX_NODES;
use crate::raw::Raw;
use crate::scan::Cursor;
use crate::syntax::SyntaxError;
use crate::unescape::split_unicode_escape;
use crate::{special_bytes, write};

impl Raw {
    /// Returns the canonical text: equal for two values if and only if they differ at most in white space, in the order
    /// of members and in how strings are escaped.
    ///
    /// ```
    /// # use switchboard::protocol::Raw;
    /// let raw = Raw::parse(r#"{"b": [1e999, "\u00e9"], "a": null}"#)?;
    /// assert_eq!(raw.canonical()?, r#"{"a":null,"b":[1e999,"é"]}"#);
    /// assert!(Raw::parse(r#"{"a":1,"\u0061":2}"#)?.canonical().is_err());
    /// # Ok::<(), switchboard::protocol::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// When an object has two members with the same name, or the value has more than [`MAX_NODES`] parts.
    pub fn canonical(&self) -> Result<String, DecodeError> {
        self.canonical_without(&[])
    }

    /// Returns the canonical text without the named members of the outermost object. Members of nested objects stay.
    ///
    /// # Errors
    /// As [`Self::canonical`]; excluded members are checked, too.
    pub fn canonical_without(&self, members: &[&str]) -> Result<String, DecodeError> {
        let text = self.as_str();
        let mut reader = CanonicalReader { text, cursor: Cursor::new(text.as_bytes()), nodes: 0 };
        let mut value = reader.value()?;
        if let CanonicalNode::Object(own) = &mut value {
            own.retain(|(name, _)| !members.iter().any(|excluded| **name == *quote(excluded)));
        }
        let mut out = String::with_capacity(text.len());
        value.append(&mut out);
        Ok(out)
    }
}

/// A parsed value whose scalars and names are in canonical form.
enum CanonicalNode<'a> {
    /// A scalar in its canonical text.
    Scalar(Cow<'a, str>),
    Array(Vec<CanonicalNode<'a>>),
    /// Members sorted by their names, which are canonical text with quotes.
    Object(Vec<(Cow<'a, str>, CanonicalNode<'a>)>),
}

impl CanonicalNode<'_> {
    /// Appends the canonical text. Recurses at most [`MAX_DEPTH`](crate::MAX_DEPTH) levels: that is the invariant of a
    /// [`Raw`].
    fn append(&self, out: &mut String) {
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    element.append(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(name);
                    out.push(':');
                    value.append(out);
                }
                out.push('}');
            }
        }
    }
}

/// Parses a checked text into a [`CanonicalNode`] in one pass.
struct CanonicalReader<'a> {
    text: &'a str,
    cursor: Cursor<'a>,
    nodes: usize,
}

impl<'a> CanonicalReader<'a> {
    fn value(&mut self) -> Result<CanonicalNode<'a>, DecodeError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(DecodeError::too_many_nodes(self.nodes));
        }
        match self.cursor.first_byte() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(CanonicalNode::Scalar),
            _ => {
                let span = self.cursor.skip_value(0).map_err(syntax_error)?;
                Ok(CanonicalNode::Scalar(Cow::Borrowed(&self.text[span])))
            }
        }
    }

    fn array(&mut self) -> Result<CanonicalNode<'a>, DecodeError> {
        let mut elements = Vec::new();
        let mut more = self.cursor.enter_array().map_err(syntax_error)?;
        while more {
            elements.push(self.value()?);
            more = self.cursor.next_element().map_err(syntax_error)?;
        }
        Ok(CanonicalNode::Array(elements))
    }

    fn object(&mut self) -> Result<CanonicalNode<'a>, DecodeError> {
        let mut members = Vec::new();
        let mut more = self.cursor.enter_object().map_err(syntax_error)?;
        while more {
            self.cursor.first_byte();
            let name = self.string()?;
            self.cursor.expect(b':').map_err(syntax_error)?;
            members.push((name, self.value()?));
            more = self.cursor.next_member().map_err(syntax_error)?;
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(DecodeError::mismatch(".", "an object has two members with the same name"));
        }
        Ok(CanonicalNode::Object(members))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let start = self.cursor.position();
        let has_escapes = self.cursor.string().map_err(syntax_error)?;
        let written = &self.text[start..self.cursor.position()];
        // Without escapes a string has one spelling only, because a character that must be escaped cannot occur in it.
        Ok(if has_escapes {
            Cow::Owned(canonical_string(&written[1..written.len() - 1]))
        } else {
            written.into()
        })
    }
}

fn syntax_error(error: SyntaxError) -> DecodeError {
    DecodeError::syntax(&error)
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write::write_quoted(&mut out, text);
    out
}

/// Returns the string literal with canonical escapes, in quotes; `inner` is the literal without its quotes.
fn canonical_string(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len() + 2);
    out.push('"');
    let mut rest = inner;
    loop {
        let (run, special) = rest.split_at(special_bytes::plain_prefix_len(rest.as_bytes()));
        out.push_str(run);
        // The text was checked, so the next byte is a backslash or the string has ended.
        let Some(&kind) = special.as_bytes().get(1) else { break };
        rest = &special[2..];
        match kind {
            b'b' => out.push_str(r"\b"),
            b'f' => out.push_str(r"\f"),
            b'n' => out.push_str(r"\n"),
            b'r' => out.push_str(r"\r"),
            b't' => out.push_str(r"\t"),
            b'u' => {
                let (character, after) = split_unicode_escape(rest);
                match character {
                    Ok(character) => write::write_escaped(&mut out, character.encode_utf8(&mut [0; 4])),
                    Err(surrogate) => out.push_str(&format!(r"\u{surrogate:04x}")),
                }
                rest = after;
            }
            other => write::write_escaped(&mut out, char::from(other).encode_utf8(&mut [0; 4])),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Raw::parse(text.to_owned()).unwrap().canonical().unwrap()
    }

    #[test]
    fn member_order_white_space_and_escapes_are_normalized() {
        for text in [
            r#"{"a":[1,{"b":null,"c":"é/\"\\\n\u0001"}],"d":{}}"#,
            r#" { "d" : { } , "\u0061" : [ 1 , { "c" : "\u00e9\/\u0022\u005C\u000a\u0001" , "b" : null } ] } "#,
        ] {
            assert_eq!(canonical(text), r#"{"a":[1,{"b":null,"c":"é/\"\\\n\u0001"}],"d":{}}"#);
        }
        for text in [r#""\ud83d\ude00""#, r#""\uD83D\uDE00""#, "\"\u{1f600}\""] {
            assert_eq!(canonical(text), "\"\u{1f600}\"");
        }
    }

    #[test]
    fn different_values_have_different_texts() {
        let texts = [
            "1",
            "1.0",
            "1e0",
            "-0",
            "0",
            "1e999",
            "1e9999",
            "9007199254740992",
            "9007199254740993",
            "null",
            "\"null\"",
            "[]",
            "{}",
            "[[]]",
            "[[],[]]",
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\ud800""#,
            r#""\ud800x""#,
            r#""\ufffd""#,
            r#""\\ud800""#,
            r#""\ude00\ud83d""#,
            r#""\ud83d\ude00""#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":1,"b":1}"#,
            r#"{"a\":1,\"b":1}"#,
            r#"{"\ud800":1,"\ufffd":1}"#,
        ];
        let all: std::collections::BTreeSet<String> = texts.iter().map(|text| canonical(text)).collect();
        assert_eq!(all.len(), texts.len());
        for text in &all {
            assert_eq!(&canonical(text), text, "canonicalization is idempotent");
        }
    }

    #[test]
    fn duplicate_names_and_too_many_nodes_are_rejected() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"x":0,"\u0061":2}}]"#, r#"{"\ud800":1,"\uD800":1}"#]
        {
            assert!(Raw::parse(text.to_owned()).unwrap().canonical().is_err(), "{text}");
        }
        let many = Raw::parse(format!("[{}0]", "0,".repeat(MAX_NODES))).unwrap();
        assert!(many.canonical().is_err());
    }

    #[test]
    fn only_members_of_the_outermost_object_are_excluded() {
        let raw = Raw::parse(r#"{"\u005fmeta":1,"a":{"_meta":2},"_metadata":3}"#).unwrap();
        assert_eq!(raw.canonical_without(&["_meta"]).unwrap(), r#"{"_metadata":3,"a":{"_meta":2}}"#);
        let twice = Raw::parse(r#"{"_meta":1,"_meta":2}"#).unwrap();
        assert!(twice.canonical_without(&["_meta"]).is_err());
    }

    #[test]
    fn the_deepest_value_has_a_canonical_text() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(crate::MAX_DEPTH), "}".repeat(crate::MAX_DEPTH));
        assert_eq!(canonical(&deep), deep);
    }
}
