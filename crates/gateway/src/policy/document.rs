//! TOML documents with positions: tables and entries that know their line and path.

use std::ops::Range;

use switchboard_design::edit_distance;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{PolicyError, PolicyErrorKind};
use super::expected::ExpectedValue;

/// The maximum size of a document.
pub(super) const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// Parses a document and hands its root to `read`.
///
/// # Errors
/// When the text is too large or not TOML, or `read` fails.
pub(crate) fn parse_document<T>(
    text: &str,
    read: impl FnOnce(&TomlTable<'_>) -> Result<T, PolicyError>,
) -> Result<T, PolicyError> {
    if text.len() > MAX_DOCUMENT_BYTES {
        let kind = PolicyErrorKind::TooLarge { what: "the document in bytes", limit: MAX_DOCUMENT_BYTES };
        return Err(PolicyError { line: 1, path: String::new(), kind });
    }
    let lines = LineIndex::new(text);
    let root = DeTable::parse(text).map_err(|error| PolicyError {
        line: lines.line_of(&error.span().unwrap_or_default()),
        path: String::new(),
        kind: PolicyErrorKind::Syntax(error.message().to_owned()),
    })?;
    read(&TomlTable { lines: &lines, span: root.span(), table: root.get_ref(), path: String::new() })
}

/// As [`parse_document`], for a document within the table `section` of another one.
///
/// # Errors
/// As [`parse_document`]; when there is no such table.
pub(crate) fn parse_section<T>(
    text: &str,
    section: &str,
    read: impl FnOnce(&TomlTable<'_>) -> Result<T, PolicyError>,
) -> Result<T, PolicyError> {
    parse_document(text, |root| {
        let missing = || root.error(PolicyErrorKind::InvalidValue(format!("there is no table `{section}`")));
        let mut table = root.get(section).ok_or_else(missing)?.table()?;
        table.set_path(String::new());
        read(&table)
    })
}

/// The line breaks of a text.
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Returns the line of a span, from 1.
    fn line_of(&self, span: &Range<usize>) -> usize {
        self.0.partition_point(|at| *at < span.start) + 1
    }
}

/// A table of a document.
pub(crate) struct TomlTable<'a> {
    lines: &'a LineIndex,
    span: Range<usize>,
    table: &'a DeTable<'a>,
    path: String,
}

/// A value of a document.
pub(crate) struct TomlEntry<'a> {
    lines: &'a LineIndex,
    key_span: Range<usize>,
    value: &'a Spanned<DeValue<'a>>,
    path: String,
}

impl<'a> TomlTable<'a> {
    /// Returns the line, from 1.
    pub(crate) fn line(&self) -> usize {
        self.lines.line_of(&self.span)
    }

    /// Names the table in errors.
    pub(crate) fn set_path(&mut self, path: String) {
        self.path = path;
    }

    /// Checks that there are no other keys.
    ///
    /// # Errors
    /// Names the first unknown key and the nearest known one.
    pub(crate) fn check_keys(&self, known: &[&str]) -> Result<(), PolicyError> {
        let unknown = self.table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let letters: Vec<char> = name.chars().take(64).collect();
        let distance = |known: &&&str| edit_distance(&known.chars().collect::<Vec<char>>(), &letters);
        let hint = match known.iter().min_by_key(distance) {
            Some(nearest) if distance(&nearest) <= 2 => format!("did you mean `{nearest}`?"),
            _ => format!("known are {}", known.join(", ")),
        };
        let kind = PolicyErrorKind::UnknownKey { key: name.to_owned(), hint };
        Err(PolicyError { line: self.lines.line_of(&key.span()), path: self.path.clone(), kind })
    }

    /// Returns the table as JSON, for people. Dates are texts.
    pub(super) fn to_json(&self) -> String {
        table_json(self.table).to_string()
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<TomlEntry<'a>> {
        let (found, value) = self.table.iter().find(|(found, _)| found.get_ref().as_ref() == key)?;
        Some(self.entry(found.get_ref(), found.span(), value))
    }

    /// Iterates over the keys and values, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'a str, TomlEntry<'a>)> + '_ {
        self.table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), self.entry(key.get_ref(), key.span(), value)))
    }

    /// Returns an error about the table.
    pub(crate) fn error(&self, kind: PolicyErrorKind) -> PolicyError {
        PolicyError { line: self.line(), path: self.path.clone(), kind }
    }

    /// Returns an error about a key that the table lacks.
    pub(crate) fn missing_key(&self, key: &'static str, hint: &'static str) -> PolicyError {
        self.error(PolicyErrorKind::MissingKey { key, hint })
    }

    /// Returns a list of names: a text, or an array of texts.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn strings(&self, key: &str) -> Result<Option<Vec<String>>, PolicyError> {
        self.get(key).map(|entry| entry.strings()).transpose()
    }

    /// Returns a truth value.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, PolicyError> {
        self.get(key).map(|entry| entry.boolean()).transpose()
    }

    fn entry(&self, key: &str, key_span: Range<usize>, value: &'a Spanned<DeValue<'a>>) -> TomlEntry<'a> {
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path if path.ends_with(')') || path.ends_with(|last: char| last.is_ascii_digit()) => {
                format!("{path}, {key}")
            }
            path => format!("{path}.{key}"),
        };
        TomlEntry { lines: self.lines, key_span, value, path }
    }
}

impl<'a> TomlEntry<'a> {
    /// Returns an error about the value.
    pub(crate) fn error(&self, kind: PolicyErrorKind) -> PolicyError {
        // An array of tables has no span of its own.
        let span = if self.value.span().is_empty() { &self.key_span } else { &self.value.span() };
        PolicyError { line: self.lines.line_of(span), path: self.path.clone(), kind }
    }

    /// Returns an error about an invalid value.
    pub(crate) fn invalid(&self, why: impl Into<String>) -> PolicyError {
        self.error(PolicyErrorKind::InvalidValue(why.into()))
    }

    fn wrong_type(&self, expected: &'static str) -> PolicyError {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.error(PolicyErrorKind::WrongType { expected, found })
    }

    /// Returns the text.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn string(&self) -> Result<&'a str, PolicyError> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong_type("a text"))
    }

    /// Returns a text, or an array of texts, as a list.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn strings(&self) -> Result<Vec<String>, PolicyError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(vec![text.to_string()]),
            DeValue::Array(values) => {
                let text = |value: &Spanned<DeValue<'a>>| Some(value.get_ref().as_str()?.to_owned());
                let texts: Option<Vec<String>> = values.iter().map(text).collect();
                texts.ok_or_else(|| self.wrong_type("a text or an array of texts"))
            }
            _ => Err(self.wrong_type("a text or an array of texts")),
        }
    }

    /// Returns the truth value.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn boolean(&self) -> Result<bool, PolicyError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// Returns a whole number from 1 on.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn positive_integer(&self) -> Result<u64, PolicyError> {
        let integer = self.value.get_ref().as_integer().ok_or_else(|| self.wrong_type("a whole number"))?;
        let parsed = u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok();
        parsed.filter(|number| *number > 0).ok_or_else(|| self.invalid("must be a whole number from 1 on"))
    }

    /// Returns the table.
    ///
    /// # Errors
    /// When the value is something else.
    pub(crate) fn table(&self) -> Result<TomlTable<'a>, PolicyError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.wrong_type("a table"))?;
        Ok(TomlTable { lines: self.lines, span: self.value.span(), table, path: self.path.clone() })
    }

    /// Returns the tables of an array of at most `limit` tables, each named by the singular of the key and its number.
    ///
    /// # Errors
    /// When the value is something else, or has too many tables.
    pub(crate) fn tables(&self, limit: usize) -> Result<Vec<TomlTable<'a>>, PolicyError> {
        let values = self.value.get_ref().as_array().ok_or_else(|| self.wrong_type("an array of tables"))?;
        if values.len() > limit {
            return Err(self.error(PolicyErrorKind::TooLarge { what: "the number of entries", limit }));
        }
        let table = |(index, value): (usize, &'a Spanned<DeValue<'a>>)| {
            let table = value.get_ref().as_table().ok_or_else(|| self.wrong_type("an array of tables"))?;
            let path = format!("{} {}", self.path, index + 1);
            Ok(TomlTable { lines: self.lines, span: value.span(), table, path })
        };
        values.iter().enumerate().map(table).collect()
    }

    /// Returns the value that an argument is compared with.
    ///
    /// # Errors
    /// When the value cannot be JSON.
    pub(super) fn expected(&self) -> Result<ExpectedValue, PolicyError> {
        convert(self.value.get_ref())
            .ok_or_else(|| self.invalid("dates, `inf` and `nan` are not JSON; write a text or a number"))
    }

    /// Returns the values of an array that an argument is compared with.
    ///
    /// # Errors
    /// When the value is not an array, or cannot be JSON.
    pub(super) fn expected_list(&self) -> Result<Vec<ExpectedValue>, PolicyError> {
        match self.expected()? {
            ExpectedValue::Array(values) => Ok(values),
            _ => Err(self.wrong_type("an array")),
        }
    }
}

fn table_json(table: &DeTable<'_>) -> serde_json::Value {
    let member = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        (key.get_ref().to_string(), value_json(value.get_ref()))
    };
    serde_json::Value::Object(table.iter().map(member).collect())
}

/// Recurses as deep as the parser allows a document to nest.
fn value_json(value: &DeValue<'_>) -> serde_json::Value {
    use serde_json::Value;
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(integer) if integer.radix() == 10 => number_json(integer.as_str()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str().replace('_', "");
            match i64::from_str_radix(&digits, integer.radix()) {
                Ok(number) => Value::from(number),
                Err(_) => Value::String(digits),
            }
        }
        DeValue::Float(float) => number_json(float.as_str()),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(values) => values.iter().map(|value| value_json(value.get_ref())).collect(),
        DeValue::Table(table) => table_json(table),
    }
}

/// Returns a number as JSON, or its text if JSON cannot represent it.
fn number_json(text: &str) -> serde_json::Value {
    serde_json::from_str(&text.replace('_', "")).unwrap_or_else(|_| text.to_owned().into())
}

/// Recurses as deep as the parser allows a document to nest.
fn convert(value: &DeValue<'_>) -> Option<ExpectedValue> {
    match value {
        DeValue::String(text) => Some(ExpectedValue::Text(text.to_string())),
        DeValue::Integer(integer) if integer.radix() == 10 => ExpectedValue::number(integer.as_str()),
        DeValue::Integer(integer) => {
            let text = integer.as_str().replace('_', "");
            ExpectedValue::number(&u128::from_str_radix(&text, integer.radix()).ok()?.to_string())
        }
        DeValue::Float(float) => ExpectedValue::number(float.as_str()),
        DeValue::Boolean(value) => Some(ExpectedValue::Bool(*value)),
        DeValue::Datetime(_) => None,
        DeValue::Array(values) => values
            .iter()
            .map(|value| convert(value.get_ref()))
            .collect::<Option<_>>()
            .map(ExpectedValue::Array),
        DeValue::Table(table) => {
            let member = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                Some((key.to_string(), convert(value.get_ref())?))
            };
            table.iter().map(member).collect::<Option<_>>().map(ExpectedValue::Object)
        }
    }
}
