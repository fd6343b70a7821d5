//! Location of an error or a warning: file, line and column, path of the field.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::document::Position;
use crate::escape::escape_invisible;

/// Where in a configuration an error or a warning is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub(crate) file: Option<PathBuf>,
    pub(crate) position: Option<Position>,
    /// The path of the field, like `mcpServers.github.args[1]`; empty for the whole file.
    pub(crate) field: String,
}

impl SourceLocation {
    pub(crate) fn new(field: impl Into<String>) -> Self {
        Self { file: None, position: None, field: field.into() }
    }

    /// Sets the file, unless it is known already.
    pub(crate) fn set_file(&mut self, file: &Path) {
        self.file.get_or_insert_with(|| file.to_owned());
    }

    /// Prepends the path of the object that has the field.
    pub(crate) fn prepend(&mut self, path: &str) {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = [path, separator, &self.field].concat();
    }
}

/// Writes `file:line:column: field: `, without the parts that are unknown.
impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", escape_invisible(&file.to_string_lossy()))?;
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        if self.file.is_some() || self.position.is_some() {
            f.write_str(" ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", escape_invisible(&self.field))?;
        }
        Ok(())
    }
}
