//! The lines of a talk: header lines, then what is sent, what is done and what is said in passing.
//!
//! ```text
//! # a title, or a comment
//! key: value                               the header
//!
//! @ open.part                              the lines of another file, here
//! ! call_tool slow {}                      a verb of our side
//! > {"jsonrpc":"2.0","id":1,               a frame of the client; indented lines continue it
//!    "method":"tools/call"}
//! < {"jsonrpc":"2.0", ...}                 a frame of the server
//! <| "not JSON\n"                          any text as a frame, written as a JSON string; no patterns
//! = {"content":[]}                         the result of the last verb
//! ~ @120 ms files                          the time of the next frames, and their server
//! ~ a remark
//! ```
//!
//! `>?` and `<?` mark neighbors that may come in any order. Knows nothing of what header lines mean.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::error::{MAX_RECORDING_BYTES, SyntaxError};

/// Files that include each other deeper than this are rejected.
const MAX_INCLUDE_DEPTH: usize = 16;

/// The lines of a talk, with those of its parts in place.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) title: Option<String>,
    pub(crate) header: Vec<HeaderLine>,
    pub(crate) body: Vec<BodyLine>,
}

/// A line `key: value`. Those of parts follow those of the file itself, in order of appearance.
#[derive(Debug)]
pub(crate) struct HeaderLine {
    /// `file:line`.
    pub(crate) at: String,
    pub(crate) key: String,
    pub(crate) value: String,
}

/// A line of the body.
#[derive(Debug)]
pub(crate) struct BodyLine {
    /// `file:line`.
    pub(crate) at: String,
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// What a line of the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Client { any_order: bool },
    ClientText,
    Server { any_order: bool },
    ServerText,
    Verb,
    Outcome,
    Time,
}

/// Reads the file that a line includes: its location, then the name that the line gives.
pub(crate) type IncludeReader<'a> = dyn Fn(&str, &str) -> Result<IncludedFile, SyntaxError> + 'a;

/// A file that was included.
#[derive(Debug)]
pub(crate) struct IncludedFile {
    /// Its name, for locations and for what it includes itself.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Document {
    /// Parses a file.
    pub(crate) fn parse(file: &IncludedFile, include: &IncludeReader<'_>) -> Result<Self, SyntaxError> {
        let mut lines = Vec::new();
        join_lines(file, include, 0, &mut lines)?;
        let mut document = Self::default();
        for (at, line) in lines {
            if let Some(comment) = line.strip_prefix('#') {
                document.title.get_or_insert_with(|| comment.trim().to_owned());
            } else if line.starts_with(['>', '<', '!', '=', '~']) {
                let (mark, rest) = line.split_once(' ').unwrap_or((&line, ""));
                let mark = Mark::parse(mark)
                    .ok_or_else(|| SyntaxError::new(&at, format!("no line begins with {mark:?}")))?;
                document.body.push(BodyLine { at, mark, text: rest.to_owned() });
            } else if let Some((key, value)) = line.split_once(':') {
                let (key, value) = (key.to_owned(), value.trim().to_owned());
                document.header.push(HeaderLine { at, key, value });
            } else {
                return Err(SyntaxError::new(&at, format!("no line begins with {:?}", first_word(&line))));
            }
        }
        Ok(document)
    }
}

impl Mark {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            ">" => Self::Client { any_order: false },
            ">?" => Self::Client { any_order: true },
            ">|" => Self::ClientText,
            "<" => Self::Server { any_order: false },
            "<?" => Self::Server { any_order: true },
            "<|" => Self::ServerText,
            "!" => Self::Verb,
            "=" => Self::Outcome,
            "~" => Self::Time,
            _ => return None,
        })
    }
}

/// Appends the lines of a file, joined where they go on, without remarks.
fn join_lines(
    file: &IncludedFile,
    include: &IncludeReader<'_>,
    depth: usize,
    lines: &mut Vec<(String, String)>,
) -> Result<(), SyntaxError> {
    // A remark ends the line before it, too: what is indented below it belongs to it.
    let mut is_remark = false;
    for (number, line) in file.text.lines().enumerate() {
        let at = || format!("{}:{}", file.name, number + 1);
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with('~') && !is_time(line) {
            is_remark = true;
        } else if line.starts_with(char::is_whitespace) {
            if is_remark {
                continue;
            }
            match lines.last_mut() {
                Some((_, last)) => last.push_str(line.trim()),
                None => return Err(SyntaxError::new(&at(), "an indented line continues a line before it")),
            }
        } else if let Some(name) = line.strip_prefix("@ ") {
            is_remark = false;
            if depth == MAX_INCLUDE_DEPTH {
                return Err(SyntaxError::new(&at(), "files include each other too deeply"));
            }
            let part = include(&at(), name.trim())?;
            join_lines(&part, include, depth + 1, lines)?;
        } else {
            is_remark = false;
            lines.push((at(), line.trim_end().to_owned()));
        }
    }
    Ok(())
}

/// Returns whether a remark is a time: `~ @120 ms`.
fn is_time(line: &str) -> bool {
    line.strip_prefix("~ @").is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// What `let` lines may add to a document, in all its lines together. Each may name the one before it twice, so that few
/// lines would otherwise grow beyond all memory.
const MAX_EXPANSION: usize = MAX_RECORDING_BYTES;
/// What a value counts for besides its text.
const VALUE_COST: usize = 64;

/// The values of `let` lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    values: Vec<(String, Value)>,
    /// What they have added so far.
    expanded: Cell<usize>,
}

/// What to do about a variable that has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownVariable {
    Reject,
    Keep,
}

impl Variables {
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Reads a `let` line: a name and JSON.
    pub(crate) fn define(&mut self, line: &HeaderLine) -> Result<(), SyntaxError> {
        let (name, json) = line
            .value
            .split_once(' ')
            .ok_or_else(|| SyntaxError::new(&line.at, "write `let: NAME JSON`".to_owned()))?;
        self.set(name, parse_json(&line.at, json)?);
        Ok(())
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value));
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Replaces `"$name"` in text that need not be JSON.
    pub(crate) fn fill_text(&self, at: &str, text: &str) -> Result<String, SyntaxError> {
        let mut filled = text.to_owned();
        for (name, value) in &self.values {
            let reference = format!("\"${name}\"");
            let references = filled.matches(&reference).count();
            if references > 0 {
                let value = value.to_string();
                self.add(at, references.saturating_mul(VALUE_COST + value.len()))?;
                filled = filled.replace(&reference, &value);
            }
        }
        Ok(filled)
    }

    /// Replaces `"$name"`, and merges `"$": "name"` into its object.
    pub(crate) fn fill(&self, at: &str, json: Value, unknown: UnknownVariable) -> Result<Value, SyntaxError> {
        self.fill_within(at, json, unknown, Position { depth: 0, is_expansion: false })
    }

    /// Counts a value that a variable has added.
    fn count(&self, at: &str, value: &Value) -> Result<(), SyntaxError> {
        let text = match value {
            Value::String(text) => text.len(),
            Value::Object(members) => members.keys().map(String::len).sum(),
            _ => 0,
        };
        self.add(at, VALUE_COST + text)
    }

    /// Counts bytes that variables add.
    fn add(&self, at: &str, bytes: usize) -> Result<(), SyntaxError> {
        self.expanded.set(self.expanded.get().saturating_add(bytes));
        if self.expanded.get() > MAX_EXPANSION {
            return Err(SyntaxError::new(at, format!("the `let` lines add more than {MAX_EXPANSION} bytes")));
        }
        Ok(())
    }

    fn fill_within(
        &self,
        at: &str,
        json: Value,
        unknown: UnknownVariable,
        position: Position,
    ) -> Result<Value, SyntaxError> {
        // A variable may use others; one that uses itself would never end.
        if position.depth > 128 {
            return Err(SyntaxError::new(at, "a `let` uses itself"));
        }
        if position.is_expansion {
            self.count(at, &json)?;
        }
        let find = |name: &str| match (self.get(name), unknown) {
            (Some(value), _) => Ok(Some(value.clone())),
            (None, UnknownVariable::Keep) => Ok(None),
            (None, UnknownVariable::Reject) => {
                Err(SyntaxError::new(at, format!("no `let` defines {name:?}")))
            }
        };
        let inside = Position { depth: position.depth + 1, ..position };
        let fill = |value| self.fill_within(at, value, unknown, inside);
        let expand = |value| self.fill_within(at, value, unknown, Position { is_expansion: true, ..inside });
        Ok(match json {
            Value::String(text) => match text.strip_prefix('$').map(find).transpose()?.flatten() {
                Some(value) => expand(value)?,
                None => Value::String(text),
            },
            Value::Array(items) => items.into_iter().map(fill).collect::<Result<Vec<_>, _>>()?.into(),
            Value::Object(members) => {
                let mut filled = Map::new();
                for (key, value) in members {
                    let merged = match (key.as_str(), &value) {
                        ("$", Value::String(name)) => find(name)?.map(expand).transpose()?,
                        _ => None,
                    };
                    match merged {
                        Some(Value::Object(merged)) => filled.extend(merged),
                        Some(_) => {
                            return Err(SyntaxError::new(at, format!("{value} is no object to merge")));
                        }
                        None => _ = filled.insert(key, fill(value)?),
                    }
                }
                filled.into()
            }
            other => other,
        })
    }
}

/// Where a value is that is filled.
#[derive(Debug, Clone, Copy)]
struct Position {
    depth: usize,
    /// Whether a variable has put it there.
    is_expansion: bool,
}

pub(crate) fn parse_json(at: &str, json: &str) -> Result<Value, SyntaxError> {
    serde_json::from_str(json).map_err(|error| {
        const SHOWN: usize = 200;
        let shown = &json[..json.floor_char_boundary(SHOWN)];
        SyntaxError::new(at, format!("{error}: {shown}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(lines: impl Iterator<Item = String>) -> Variables {
        let mut variables = Variables::default();
        for value in lines {
            let line = HeaderLine { at: "a:1".to_owned(), key: "let".to_owned(), value };
            variables.define(&line).expect("a `let` line");
        }
        variables
    }

    #[test]
    fn let_lines_that_multiply_each_other_in_a_verb_are_rejected() {
        let doubling = |number: u32| format!("v{number} [\"$v{0}\",\"$v{0}\"]", number - 1);
        // Each line is applied once, in their order.
        let in_order = variables((1..40).map(doubling));
        assert_eq!(in_order.fill_text("a:2", r#"x "$v39""#), Ok(r#"x ["$v38","$v38"]"#.to_owned()));
        let reversed = variables((1..40).rev().map(doubling));
        let error = reversed.fill_text("a:2", r#"x "$v39""#).expect_err("it would not fit into memory");
        assert!(error.to_string().contains("the `let` lines add more than"), "{error}");
        // Many verbs that are long together.
        let long = variables(std::iter::once(format!("v \"{}\"", "x".repeat(1 << 20))));
        assert!((0..80).any(|_| long.fill_text("a:2", r#""$v""#).is_err()));
    }
}
