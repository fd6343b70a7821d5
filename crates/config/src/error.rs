//! Errors of configuration files: where, what, and how to correct it.
//!
//! Invariant: no error shows a value that may be secret, such as the value of a variable, a header or an environment
//! entry.

use std::fmt;
use std::path::Path;

use crate::document::{Node, ParseError, Position};
use crate::source_location::SourceLocation;

/// An error in a configuration, with its location.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigError {
    location: SourceLocation,
    kind: ConfigErrorKind,
}

impl ConfigError {
    /// Creates an error of this field; an empty path means the whole file.
    pub fn new(field: impl Into<String>, kind: ConfigErrorKind) -> Self {
        Self { location: SourceLocation::new(field), kind }
    }

    /// Creates the error of a text that is not JSON.
    pub(crate) fn not_json(text: &str, error: &ParseError) -> Self {
        let kind = ConfigErrorKind::Syntax { what: error.what.to_owned() };
        Self::new("", kind).at(Some(Position::at_byte(text, error.at)))
    }

    /// Creates the error for a value that must be an object.
    pub(crate) fn not_an_object(field: &str, node: &Node, text: &str) -> Self {
        let kind = ConfigErrorKind::Mismatch { expected: "an object", found: node.type_name() };
        Self::new(field, kind).at(Position::in_text(text, node.span.start))
    }

    /// Sets the position, unless it is known already.
    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.location.position = self.location.position.or(position);
        self
    }

    /// Sets the file, unless it is known already.
    pub fn in_file(mut self, file: &Path) -> Self {
        self.location.set_file(file);
        self
    }

    /// Prepends the path of the object that has the field.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.location.prepend(path);
        self
    }

    /// Returns the file, if the configuration came from one.
    pub fn file(&self) -> Option<&Path> {
        self.location.file.as_deref()
    }

    /// Returns line and column, if the configuration came from a text.
    pub fn position(&self) -> Option<Position> {
        self.location.position
    }

    /// Returns the path of the field, like `mcpServers.github.args[1]`; empty for the whole file.
    pub fn field(&self) -> &str {
        &self.location.field
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> &ConfigErrorKind {
        &self.kind
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.location, self.kind)
    }
}

impl std::error::Error for ConfigError {}

/// The kind of a [`ConfigError`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The text is not JSON, or not TOML.
    #[error("{what}")]
    Syntax {
        /// The message of the parser.
        what: String,
    },
    /// The value has the wrong type.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// The expected type.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// An object has the same key twice.
    #[error("duplicate key; remove one of the two")]
    DuplicateKey,
    /// The server has neither a command nor a URL.
    #[error("this server has no transport; give it a `command` or a `url`")]
    MissingTransport,
    /// A field that the server type requires is missing.
    #[error("a server of type `{server_type}` needs a `{needs}`")]
    MissingField {
        /// The type.
        server_type: &'static str,
        /// The field.
        needs: &'static str,
    },
    /// A field contradicts the server type.
    #[error("a server of type `{server_type}` cannot have `{field}`; remove it, or change the type")]
    Contradiction {
        /// The type.
        server_type: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The server type is unknown.
    #[error("unknown server type `{word}`; use stdio, http, sse, sdk or claudeai-proxy")]
    UnknownType {
        /// The type as written, shortened.
        word: String,
    },
    /// The value is empty or has an invalid character.
    #[error("{what}")]
    InvalidValue {
        /// The requirement that the value violates.
        what: &'static str,
    },
    /// A value is not one of the allowed ones.
    #[error("must be {range}")]
    Range {
        /// The valid range.
        range: &'static str,
    },
    /// A variable is not set and has no default.
    #[error("the variable {variable} is not set; set it, or write ${{{variable}:-default}}")]
    UnsetVariable {
        /// Its name.
        variable: String,
    },
    /// A `${` does not begin a valid reference to a variable.
    #[error("`{text}` is not a reference to a variable; write ${{NAME}} or ${{NAME:-default}}")]
    BadReference {
        /// The reference as written, without its default.
        text: String,
    },
    /// The value is too long after variables were substituted.
    #[error("with its variables substituted it is longer than {max} bytes")]
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
    /// The address is invalid.
    #[error("{what}")]
    Address {
        /// The error of the address, and what to write instead.
        what: String,
    },
    /// The file is too large.
    #[error("the file is larger than {max} bytes; is it the right one?")]
    TooLarge {
        /// The limit in bytes.
        max: u64,
    },
    /// The file could not be read or written.
    #[error("cannot {doing}: {why}")]
    Io {
        /// The operation, like `read it`.
        doing: &'static str,
        /// The system's message.
        why: String,
        /// The kind of the I/O error.
        kind: std::io::ErrorKind,
    },
    /// Other users could have written the file.
    #[error("{what}; a server in it could be anybody's program, so it is not read. Fix it with: {remedy}")]
    InsecureFile {
        /// Why others could have written it.
        what: &'static str,
        /// The command that corrects it.
        remedy: String,
    },
    /// The file has no server of that name.
    #[error("the file has no server of that name")]
    UnknownServer,
    /// The file has a server of that name already.
    #[error("a server of that name exists already; remove it first, or replace it")]
    AlreadyExists,
}
