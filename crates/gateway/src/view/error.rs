//! Errors and warnings of view definitions: each names its place and what to write instead.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An error in the definition of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewError {
    /// The line, from 1; `None` if the definition was not read from a text.
    pub line: Option<usize>,
    /// The place, such as `views.support.server.github.tool.search.name`; empty for the document.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl ViewError {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { line: None, path: path.into(), message: message.into() }
    }

    /// Finds the line of the place in the text that the definition was read from.
    pub(super) fn locate(mut self, text: &str, keys: &[&str]) -> Self {
        if let Ok(root) = DeTable::parse(text) {
            let at = find(root.get_ref(), keys).unwrap_or_default();
            self.line = Some(line_of(text, at));
        }
        self
    }
}

/// Returns where the longest known beginning of a path of keys is written.
fn find(table: &DeTable<'_>, keys: &[&str]) -> Option<usize> {
    let (first, rest) = keys.split_first()?;
    let (key, value): (&Spanned<_>, &Spanned<DeValue<'_>>) =
        table.iter().find(|(key, _)| key.get_ref().as_ref() == *first)?;
    let inner = value.get_ref().as_table().and_then(|table| find(table, rest));
    Some(inner.unwrap_or(key.span().start))
}

/// Returns the line of a byte, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ViewError {}

/// A part of a view that has no effect now: a server, a tool or an argument that is not there. It may be down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewWarning {
    /// The view.
    pub view: String,
    /// The place in its definition, such as `server.github.tool.search`.
    pub path: String,
    /// What has no effect.
    pub message: String,
}

impl fmt::Display for ViewWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "views.{}.{}: {}", self.view, self.path, self.message)
    }
}
