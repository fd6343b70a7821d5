//! A JSON text as a tree that knows where each value stands.
//!
//! Invariants: members keep their order, also when two have one key; every span lies on character boundaries of the
//! text; no text nests deeper than [`DEEPEST`]. Knows nothing of servers.

use std::ops::Range;

/// Deeper than any configuration, and shallow enough for recursion.
const DEEPEST: usize = 64;

/// What beside JSON is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON as its standard has it.
    Strict,
    /// With comments and commas before a closing bracket, as editors write it.
    Relaxed,
}

/// A line and a column, both from one; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Where this byte of the text stands.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: 1 + before.bytes().filter(|&byte| byte == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
        }
    }
}

/// A value and where it stands.
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

impl Node {
    /// The tree of a text.
    pub(crate) fn parse(text: &str, syntax: Syntax) -> Result<Self, Malformed> {
        let mut reader = Reader { text, at: 0, syntax, depth: 0 };
        // Some editors begin a file with a byte order mark.
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        let node = reader.value()?;
        reader.skip()?;
        match reader.at == text.len() {
            true => Ok(node),
            false => Err(reader.malformed("nothing may follow the value")),
        }
    }

    /// A tree without a text: every span is empty.
    pub(crate) fn from_json(value: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        let value = match value {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Self::from_json).collect()),
            Json::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| Member {
                        key: key.clone(),
                        key_span: 0..0,
                        node: Self::from_json(value),
                    })
                    .collect(),
            ),
        };
        Self { span: 0..0, value }
    }

    /// The value alone. Of two members with one key the last counts.
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

    /// The first member of this key, if this is an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.node)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A text that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The byte at which reading stopped.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    syntax: Syntax,
    depth: usize,
}

impl Reader<'_> {
    fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// White space, and comments where they are read.
    fn skip(&mut self) -> Result<(), Malformed> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            let length = match self.syntax {
                Syntax::Strict if rest.starts_with("//") || rest.starts_with("/*") => {
                    return Err(self.malformed("comments are not read here; take them out"));
                }
                Syntax::Relaxed if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                Syntax::Relaxed if rest.starts_with("/*") => match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(self.malformed("this comment does not end; close it with */")),
                },
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    fn value(&mut self) -> Result<Node, Malformed> {
        self.skip()?;
        let start = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.malformed("it nests too deep"));
                }
                let is_object = self.peek() == Some(b'{');
                self.at += 1;
                let value = if is_object { self.object()? } else { self.list()? };
                self.depth -= 1;
                value
            }
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(_) => self.word()?,
            None => return Err(self.malformed("the text ends where a value should stand")),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn word(&mut self) -> Result<Value, Malformed> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.malformed("a value should stand here; texts need double quotes"))
    }

    fn number(&mut self) -> Result<serde_json::Number, Malformed> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
            .count();
        let number = serde_json::from_str(&self.text[self.at..self.at + length]);
        let number = number.map_err(|_| self.malformed("this is not a number"))?;
        self.at += length;
        Ok(number)
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut length = 1;
        loop {
            match rest.get(length) {
                Some(b'"') => break,
                Some(b'\\') => length += 2,
                Some(b'\n') | None => return Err(self.malformed("this text does not end; close it with \"")),
                Some(_) => length += 1,
            }
        }
        let written = self.text.get(self.at..=self.at + length);
        let text = written.and_then(|written| serde_json::from_str(written).ok());
        let text =
            text.ok_or_else(|| self.malformed("this text has an escape or a character JSON does not know"))?;
        self.at += length + 1;
        Ok(text)
    }

    fn list(&mut self) -> Result<Value, Malformed> {
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.closes(b']', items.is_empty())? {
                return Ok(Value::List(items));
            }
            items.push(self.value()?);
            self.skip()?;
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(self.malformed("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<Value, Malformed> {
        let mut members = Vec::new();
        loop {
            self.skip()?;
            if self.closes(b'}', members.is_empty())? {
                return Ok(Value::Object(members));
            }
            if self.peek() != Some(b'"') {
                return Err(self.malformed("expected a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.skip()?;
            if !self.take(b':') {
                return Err(self.malformed("expected `:` after the key"));
            }
            members.push(Member { key, key_span, node: self.value()? });
            self.skip()?;
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.malformed("expected `,` or `}`"));
            }
        }
    }

    /// Whether the bracket closes here. After a comma only where the syntax is relaxed.
    fn closes(&mut self, bracket: u8, is_empty: bool) -> Result<bool, Malformed> {
        let before = self.text[..self.at].trim_end();
        if self.peek() != Some(bracket) {
            return Ok(false);
        }
        if self.syntax == Syntax::Strict && !is_empty && before.ends_with(',') {
            return Err(self.malformed("a comma may not stand before this; take it out"));
        }
        self.at += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, usize, &'static str) {
        let Err(fault) = Node::parse(text, Syntax::Strict) else { panic!("{text} was read") };
        let Position { line, column } = Position::of(text, fault.at);
        (line, column, fault.what)
    }

    #[test]
    fn it_reads_what_serde_reads() {
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
    fn it_says_where_it_stopped() {
        assert_eq!(fault("{\n  \"a\": 1,\n}"), (3, 1, "a comma may not stand before this; take it out"));
        assert_eq!(fault("{\n  \"é\": x}"), (2, 8, "a value should stand here; texts need double quotes"));
        assert_eq!(fault("[1 2]"), (1, 4, "expected `,` or `]`"));
        assert_eq!(fault("{\"a\" 1}"), (1, 6, "expected `:` after the key"));
        assert_eq!(fault("{a: 1}"), (1, 2, "expected a key in double quotes"));
        assert_eq!(fault("\"abc"), (1, 1, "this text does not end; close it with \""));
        assert_eq!(fault("\"\\"), (1, 1, "this text does not end; close it with \""));
        assert_eq!(fault(""), (1, 1, "the text ends where a value should stand"));
        assert_eq!(fault("{} {}"), (1, 4, "nothing may follow the value"));
        assert_eq!(fault("{} // x"), (1, 4, "comments are not read here; take them out"));
        assert_eq!(fault(&"[".repeat(100_000)), (1, 65, "it nests too deep"));
        assert_eq!(fault("[01]").2, "this is not a number");
        assert_eq!(fault("\"\u{1}\"").2, "this text has an escape or a character JSON does not know");
    }

    #[test]
    fn comments_and_last_commas_are_read_where_editors_write_them() {
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
        fn any_text_is_read_as_serde_reads_it(text in r#"[\[\]{}",:0-9.eE+a\\ntru \n\-/é]{0,24}"#) {
            let ours = Node::parse(&text, Syntax::Strict).ok().map(|node| node.to_json());
            let theirs = serde_json::from_str::<serde_json::Value>(&text).ok();
            proptest::prop_assert_eq!(ours, theirs, "{}", text);
            // What is relaxed may differ, and must only not panic.
            _ = Node::parse(&text, Syntax::Relaxed);
        }
    }
}
