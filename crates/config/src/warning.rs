//! Warnings about configurations that are valid but probably not meant as written.

use std::fmt;
use std::path::Path;

use crate::document::Position;
use crate::escape::escape_invisible;
use crate::source_location::SourceLocation;

/// A warning about a configuration, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    location: SourceLocation,
    text: String,
}

impl Warning {
    pub(crate) fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        Self { location: SourceLocation::new(field), text: text.into() }
    }

    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.location.position = position;
        self
    }

    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        self.location.set_file(file);
        self
    }

    /// Prepends the path of the object that has the field.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.location.prepend(path);
        self
    }

    /// Returns the path of the field, like `mcpServers.github.tpye`.
    pub fn field(&self) -> &str {
        &self.location.field
    }

    /// Returns the message without the location.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.location, escape_invisible(&self.text))
    }
}
