//! JSON syntax tree with source positions.
//!
//! Invariants: members keep their order, also if two have the same key; every span lies on character boundaries of the
//! text; no tree is deeper than [`MAX_DEPTH`]. Knows nothing of servers.
//!
//! Not `jsonc-parser`: with every extension turned off, version 0.34 still accepts line breaks and control characters in
//! strings and Unicode white space between tokens. A string without its closing quote is therefore reported lines after
//! its start. It rejects a byte order mark, its depth limit (512) is fixed, and it adds 2.6 s of CPU time to a release
//! build in place of the 150 lines of [`DocumentParser`].

use std::ops::Range;

/// The nesting limit: deeper than any configuration, and shallow enough for recursion.
const MAX_DEPTH: usize = 64;

/// The accepted syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON according to RFC 8259.
    Strict,
    /// JSON with comments and trailing commas, as editors write it.
    Relaxed,
}

/// A line and a column, both starting at 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Returns the position of a byte offset in the text.
    pub(crate) fn at_byte(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: 1 + before.bytes().filter(|&byte| byte == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
        }
    }

    /// Returns the position of a byte offset, or `None` without a text.
    pub(crate) fn in_text(text: &str, byte: usize) -> Option<Self> {
        (!text.is_empty()).then(|| Self::at_byte(text, byte))
    }
}

/// A value and its span in the text.
#[derive(Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

#[derive(Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

impl Member {
    pub(crate) fn new(key: &str, key_span: Range<usize>, node: Node) -> Self {
        Self { key: key.to_owned(), key_span, node }
    }
}

impl Node {
    /// Parses a text.
    pub(crate) fn parse(text: &str, syntax: Syntax) -> Result<Self, ParseError> {
        let mut parser = DocumentParser { text, at: 0, syntax, depth: 0 };
        // Some editors write a byte order mark.
        if text.starts_with('\u{feff}') {
            parser.at = '\u{feff}'.len_utf8();
        }
        let node = parser.value()?;
        parser.skip_trivia()?;
        match parser.at == text.len() {
            true => Ok(node),
            false => Err(parser.error("nothing may follow the value")),
        }
    }

    /// Converts a value that has no text: every span is empty.
    pub(crate) fn from_json(value: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        let value = match value {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Self::from_json).collect()),
            Json::Object(members) => {
                let member = |(key, value): (&String, _)| Member::new(key, 0..0, Self::from_json(value));
                Value::Object(members.iter().map(member).collect())
            }
        };
        Self { span: 0..0, value }
    }

    /// Returns the value without spans. Of two members with the same key the last one wins.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Object(members) => Json::Object(
                members.iter().map(|member| (member.key.clone(), member.node.to_json())).collect(),
            ),
        }
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the first member with this key, if the value is an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.node)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the type of the value, for error messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The byte offset at which parsing stopped.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// Returns the offset behind white space and comments. The text was parsed before, so every comment ends.
pub(crate) fn skip_trivia(text: &str, at: usize) -> usize {
    let mut parser = DocumentParser { text, at, syntax: Syntax::Relaxed, depth: 0 };
    _ = parser.skip_trivia();
    parser.at
}

struct DocumentParser<'a> {
    text: &'a str,
    at: usize,
    syntax: Syntax,
    depth: usize,
}

impl DocumentParser<'_> {
    fn error(&self, what: &'static str) -> ParseError {
        ParseError { at: self.at, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips white space and, in relaxed syntax, comments.
    fn skip_trivia(&mut self) -> Result<(), ParseError> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            let length = match self.syntax {
                Syntax::Strict if rest.starts_with("//") || rest.starts_with("/*") => {
                    return Err(self.error("comments are not allowed here; remove them"));
                }
                Syntax::Relaxed if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                Syntax::Relaxed if rest.starts_with("/*") => match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.error("this comment does not end; close it with */")),
                },
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    fn value(&mut self) -> Result<Node, ParseError> {
        self.skip_trivia()?;
        let start = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(self.error("nested too deep"));
                }
                let is_object = self.peek() == Some(b'{');
                self.at += 1;
                let value = if is_object { self.object()? } else { self.list()? };
                self.depth -= 1;
                value
            }
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(_) => self.keyword()?,
            None => return Err(self.error("the text ends where a value is expected")),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn keyword(&mut self) -> Result<Value, ParseError> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("expected a value; strings need double quotes"))
    }

    fn number(&mut self) -> Result<serde_json::Number, ParseError> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .count();
        let number = serde_json::from_str(&self.text[self.at..self.at + length]);
        let number = number.map_err(|_| self.error("this is not a number"))?;
        self.at += length;
        Ok(number)
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut length = 1;
        loop {
            match rest.get(length) {
                Some(b'"') => break,
                Some(b'\\') => length += 2,
                Some(b'\n') | None => return Err(self.error("this string does not end; close it with \"")),
                Some(_) => length += 1,
            }
        }
        let written = self.text.get(self.at..=self.at + length);
        let text = written.and_then(|written| serde_json::from_str(written).ok());
        let text = text.ok_or_else(|| self.error("this string has an invalid escape or character"))?;
        self.at += length + 1;
        Ok(text)
    }

    fn list(&mut self) -> Result<Value, ParseError> {
        let mut items = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.try_close(b']', items.is_empty())? {
                return Ok(Value::List(items));
            }
            items.push(self.value()?);
            self.skip_trivia()?;
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(self.error("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<Value, ParseError> {
        let mut members = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.try_close(b'}', members.is_empty())? {
                return Ok(Value::Object(members));
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.skip_trivia()?;
            if !self.take(b':') {
                return Err(self.error("expected `:` after the key"));
            }
            members.push(Member { key, key_span, node: self.value()? });
            self.skip_trivia()?;
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
    }

    /// Consumes the closing bracket, if it is next. A trailing comma before it is an error in strict syntax.
    fn try_close(&mut self, bracket: u8, is_empty: bool) -> Result<bool, ParseError> {
        let before = self.text[..self.at].trim_end();
        if self.peek() != Some(bracket) {
            return Ok(false);
        }
        if self.syntax == Syntax::Strict && !is_empty && before.ends_with(',') {
            return Err(self.error("trailing comma; remove it"));
        }
        self.at += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (usize, usize, &'static str) {
        let Err(error) = Node::parse(text, Syntax::Strict) else { panic!("{text} was parsed") };
        let Position { line, column } = Position::at_byte(text, error.at);
        (line, column, error.what)
    }

    #[test]
    fn accepts_what_serde_json_accepts() {
        for text in [
            r#"{"a": [1, -2.5e3, true, false, null, "x\u00e9\n\"\\"], "b": {"c": {}}, "": []}"#,
            "  3 ",
            "\"\"",
            "[[[]]]",
        ] {
            let node = Node::parse(text, Syntax::Strict).ok().unwrap();
            assert_eq!(node.to_json(), serde_json::from_str::<serde_json::Value>(text).unwrap());
            assert!(Node::from_json(&node.to_json()).to_json() == node.to_json());
        }
    }

    #[test]
    fn errors_have_a_position() {
        assert_eq!(error("{\n  \"a\": 1,\n}"), (3, 1, "trailing comma; remove it"));
        assert_eq!(error("{\n  \"é\": x}"), (2, 8, "expected a value; strings need double quotes"));
        assert_eq!(error("[1 2]"), (1, 4, "expected `,` or `]`"));
        assert_eq!(error("{\"a\" 1}"), (1, 6, "expected `:` after the key"));
        assert_eq!(error("{a: 1}"), (1, 2, "expected a key in double quotes"));
        assert_eq!(error("\"abc"), (1, 1, "this string does not end; close it with \""));
        assert_eq!(error("\"\\"), (1, 1, "this string does not end; close it with \""));
        assert_eq!(error(""), (1, 1, "the text ends where a value is expected"));
        assert_eq!(error("{} {}"), (1, 4, "nothing may follow the value"));
        assert_eq!(error("{} // x"), (1, 4, "comments are not allowed here; remove them"));
        assert_eq!(error(&"[".repeat(100_000)), (1, 65, "nested too deep"));
        assert_eq!(error("[01]").2, "this is not a number");
        assert_eq!(error("\"\u{1}\"").2, "this string has an invalid escape or character");
    }

    #[test]
    fn relaxed_syntax_allows_comments_and_trailing_commas() {
        let text = "\u{feff}// top\n{\"a\": [1, /* two */ 2,], // it's\n \"b\": \"// no\",\n}\n/* end */";
        let node = Node::parse(text, Syntax::Relaxed).ok().unwrap();
        assert_eq!(node.to_json(), serde_json::json!({"a": [1, 2], "b": "// no"}));
        assert_eq!(&text[node.get("b").unwrap().span.clone()], "\"// no\"");
        assert_eq!(
            Node::parse("{/*", Syntax::Relaxed).err().unwrap().what,
            "this comment does not end; close it with */"
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::with_cases(4000)
        })]

        #[test]
        fn any_text_is_parsed_as_serde_json_parses_it(text in r#"[\[\]{}",:0-9.eE+a\\ntru \n\-/é]{0,24}"#) {
            let ours = Node::parse(&text, Syntax::Strict).ok().map(|node| node.to_json());
            let theirs = serde_json::from_str::<serde_json::Value>(&text).ok();
            proptest::prop_assert_eq!(ours, theirs, "{}", text);
            // Relaxed syntax accepts more; it must not panic.
            _ = Node::parse(&text, Syntax::Relaxed);
        }
    }
}
