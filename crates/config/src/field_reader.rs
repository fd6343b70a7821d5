//! Reads the fields of a JSON object; errors have the path and the position of the field.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_http::Secret;

use crate::document::{Member, Node, Position, Value};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::warning::Warning;

const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// Reads the members of an entry and remembers which were read.
pub(crate) struct FieldReader<'a> {
    members: &'a [Member],
    read_keys: Vec<&'a str>,
    whole: &'a Node,
    text: &'a str,
}

impl<'a> FieldReader<'a> {
    pub(crate) fn new(node: &'a Node, text: &'a str) -> Result<Self, ConfigError> {
        let members = node.members().ok_or_else(|| ConfigError::not_an_object("", node, text))?;
        for (index, member) in members.iter().enumerate() {
            if members[..index].iter().any(|earlier| earlier.key == member.key) {
                // Programs differ on which of the two wins, so one could be approved and the other run.
                return Err(ConfigError::new(&member.key, ConfigErrorKind::DuplicateKey)
                    .at(Position::in_text(text, member.key_span.start)));
            }
        }
        Ok(Self { members, read_keys: Vec::new(), whole: node, text })
    }

    fn find(&self, key: &str) -> Option<&'a Member> {
        let found = self.members.iter().find(|member| member.key == key);
        found.filter(|member| member.node.value != Value::Null)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    pub(crate) fn error(&self, key: &str, problem: ConfigErrorKind) -> ConfigError {
        let span = self.find(key).map_or(&self.whole.span, |member| &member.key_span);
        ConfigError::new(key, problem).at(Position::in_text(self.text, span.start))
    }

    /// Reads an optional field and records its key as known. `null` counts as missing.
    pub(crate) fn read<T>(
        &mut self,
        key: &'static str,
        read: fn(&Node) -> Result<T, FieldError>,
    ) -> Result<Option<T>, ConfigError> {
        self.read_keys.push(key);
        let Some(member) = self.find(key) else { return Ok(None) };
        let read = read(&member.node).map_err(|error| {
            ConfigError::new(format!("{key}{}", error.inside), error.problem)
                .at(Position::in_text(self.text, error.at))
        })?;
        Ok(Some(read))
    }

    /// Reads an optional object with a function for its members; errors in it have the path of the member.
    pub(crate) fn read_object<T>(
        &mut self,
        key: &'static str,
        read: fn(FieldReader<'a>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.read_keys.push(key);
        let Some(member) = self.find(key) else { return Ok(None) };
        let read = FieldReader::new(&member.node, self.text).and_then(read);
        read.map(Some).map_err(|error| error.under(key))
    }

    /// Returns whether a field is written as an object.
    pub(crate) fn is_object(&self, key: &str) -> bool {
        self.find(key).is_some_and(|member| member.node.members().is_some())
    }

    /// Returns the key of the first member that was not read.
    pub(crate) fn first_unknown(&self) -> Option<String> {
        let key = |member: &&Member| !self.read_keys.contains(&member.key.as_str());
        self.members.iter().find(key).map(|member| member.key.clone())
    }

    /// Reads a required string.
    pub(crate) fn require(
        &mut self,
        server_type: &'static str,
        key: &'static str,
    ) -> Result<String, ConfigError> {
        let found = self.read(key, text)?;
        found.ok_or_else(|| self.error("", ConfigErrorKind::MissingField { server_type, needs: key }))
    }

    /// Rejects fields that contradict the server type.
    pub(crate) fn reject(&self, server_type: &'static str, keys: &[&'static str]) -> Result<(), ConfigError> {
        match keys.iter().find(|key| self.has(key)) {
            Some(field) => Err(self.error(field, ConfigErrorKind::Contradiction { server_type, field })),
            None => Ok(()),
        }
    }

    /// Returns the members that were not read, with a warning for each. `server_type` is that of a whole entry.
    pub(crate) fn into_unknown(
        self,
        server_type: Option<&'static str>,
    ) -> (Vec<(String, serde_json::Value)>, Vec<Warning>) {
        const OF_OTHER_KINDS: [&str; 11] = [
            "args",
            "env",
            "inheritEnv",
            "cwd",
            "headers",
            "allowHttp",
            "name",
            "id",
            "url",
            "oauth",
            "headersHelper",
        ];
        let rest = self.members.iter().filter(|member| !self.read_keys.contains(&member.key.as_str()));
        rest.map(|member| {
            let text = match server_type.filter(|_| OF_OTHER_KINDS.contains(&member.key.as_str())) {
                Some(server_type) => format!("a server of type `{server_type}` does not use this"),
                None => "unknown field: kept, but not used".to_owned(),
            };
            let warning =
                Warning::new(&member.key, text).at(Position::in_text(self.text, member.key_span.start));
            ((member.key.clone(), member.node.to_json()), warning)
        })
        .unzip()
    }
}

/// An error inside the value of a field.
pub(crate) struct FieldError {
    /// The path from the field to the invalid value.
    inside: String,
    at: usize,
    problem: ConfigErrorKind,
}

impl FieldError {
    /// Returns the error for a value inside the field.
    pub(crate) fn inside(self, path: String) -> Self {
        Self { inside: path, ..self }
    }
}

pub(crate) fn field_error(node: &Node, problem: ConfigErrorKind) -> FieldError {
    FieldError { inside: String::new(), at: node.span.start, problem }
}

pub(crate) fn mismatch(node: &Node, expected: &'static str) -> FieldError {
    field_error(node, ConfigErrorKind::Mismatch { expected, found: node.type_name() })
}

pub(crate) fn text(node: &Node) -> Result<String, FieldError> {
    node.text().map(str::to_owned).ok_or_else(|| mismatch(node, "a string in double quotes"))
}

pub(crate) fn boolean(node: &Node) -> Result<bool, FieldError> {
    match node.value {
        Value::Bool(boolean) => Ok(boolean),
        _ => Err(mismatch(node, "true or false")),
    }
}

pub(crate) fn texts(node: &Node) -> Result<Vec<String>, FieldError> {
    let Value::List(items) = &node.value else { return Err(mismatch(node, "a list of strings")) };
    let read =
        |(index, item)| text(item).map_err(|error| FieldError { inside: format!("[{index}]"), ..error });
    items.iter().enumerate().map(read).collect()
}

pub(crate) fn secrets(node: &Node) -> Result<BTreeMap<String, Secret>, FieldError> {
    let members = node.members().ok_or_else(|| mismatch(node, "an object of strings"))?;
    let mut map = BTreeMap::new();
    for member in members {
        let inside = format!(".{}", member.key);
        let value = match text(&member.node) {
            Ok(value) => Secret::new(value),
            Err(error) => return Err(FieldError { inside, ..error }),
        };
        if map.insert(member.key.clone(), value).is_some() {
            return Err(FieldError {
                inside,
                at: member.key_span.start,
                problem: ConfigErrorKind::DuplicateKey,
            });
        }
    }
    Ok(map)
}

pub(crate) fn milliseconds(node: &Node) -> Result<Duration, FieldError> {
    let Value::Number(number) = &node.value else { return Err(mismatch(node, "a number of milliseconds")) };
    match number.as_u64() {
        Some(time @ 1..=MAX_TIMEOUT_MS) => Ok(Duration::from_millis(time)),
        _ => Err(field_error(
            node,
            ConfigErrorKind::Range { range: "a whole number of milliseconds, from 1 to one day" },
        )),
    }
}
