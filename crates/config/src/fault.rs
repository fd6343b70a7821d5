//! What is wrong with a configuration: where it stands, what it is, and what to do about it.
//!
//! Invariant: no fault shows a value that may be secret: the text of a variable, a header or an environment entry.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::document::{Malformed, Position};
use crate::visible::visible;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub(crate) file: Option<PathBuf>,
    pub(crate) position: Option<Position>,
    pub(crate) field: String,
    pub(crate) problem: Problem,
}

impl Fault {
    /// A fault of this field.
    pub fn new(field: impl Into<String>, problem: Problem) -> Self {
        Self { file: None, position: None, field: field.into(), problem }
    }

    /// A text that is not JSON.
    pub(crate) fn malformed(text: &str, malformed: &Malformed) -> Self {
        let fault = Self::new("", Problem::Syntax { what: malformed.what.to_owned() });
        Self { position: Some(Position::of(text, malformed.at)), ..fault }
    }

    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// With the file it was found in, unless one is known already.
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// With the path to the object the field was found in.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.field = match self.field.as_str() {
            "" => path.to_owned(),
            field if field.starts_with('[') => format!("{path}{field}"),
            field => format!("{path}.{field}"),
        };
        self
    }

    /// The file, if it came from one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Line and column, if it came from a text.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The path of the field, like `mcpServers.github.args[1]`; empty for the whole text.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", visible(&file.to_string_lossy()))?;
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        if self.file.is_some() || self.position.is_some() {
            write!(f, " ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", visible(&self.field))?;
        }
        self.problem.fmt(f)
    }
}

impl std::error::Error for Fault {}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not JSON, or not TOML.
    #[error("{what}")]
    Syntax {
        /// What the reader stumbled over.
        what: String,
    },
    /// The value is of another kind.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// The key stands twice.
    #[error("this key stands twice; take one out")]
    Twice,
    /// Neither a program nor an address.
    #[error("nothing says how to reach this server; give it a `command` or a `url`")]
    NoReach,
    /// A field that this type needs.
    #[error("a server of type `{kind}` needs a `{needs}`")]
    Missing {
        /// The type.
        kind: &'static str,
        /// The field.
        needs: &'static str,
    },
    /// A field that contradicts the type.
    #[error("a server of type `{kind}` has no `{field}`; take it out, or change the type")]
    Contradiction {
        /// The type.
        kind: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A type that is not known.
    #[error("`{word}` is no type of server; use stdio, http, sse, sdk or claudeai-proxy")]
    UnknownType {
        /// What was written.
        word: String,
    },
    /// The text is empty, or has a character that cannot be there.
    #[error("{what}")]
    Unusable {
        /// What is wrong with it.
        what: &'static str,
    },
    /// A number out of its range.
    #[error("must be {range}")]
    Range {
        /// The range.
        range: &'static str,
    },
    /// A variable that is not set and has no default.
    #[error("the variable {variable} is not set; set it, or write ${{{variable}:-default}}")]
    Unset {
        /// Its name.
        variable: String,
    },
    /// A `${` that begins no reference we know.
    #[error("`{text}` is no reference to a variable; write ${{NAME}} or ${{NAME:-default}}")]
    BadReference {
        /// What was written.
        text: String,
    },
    /// The field is longer than any such field, variables filled in.
    #[error("with its variables filled in it is longer than {most} bytes")]
    TooLong {
        /// The most.
        most: usize,
    },
    /// Not an address that can be connected to.
    #[error("{what}")]
    Address {
        /// What is wrong with it, and what to write.
        what: String,
    },
    /// The file is larger than any configuration.
    #[error("the file is larger than {most} bytes; is it the right one?")]
    TooLarge {
        /// The most.
        most: u64,
    },
    /// The file could not be read or written.
    #[error("cannot {doing}: {why}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// The system's words.
        why: String,
        /// What kind of failure the system reported.
        kind: std::io::ErrorKind,
    },
    /// Others could have written the file.
    #[error("{what}; a server in it could be anybody's program, so it is not read. Fix it with: {remedy}")]
    Exposed {
        /// Who could have.
        what: &'static str,
        /// The command that helps.
        remedy: String,
    },
    /// No server of that name is in the file.
    #[error("there is no server of that name here")]
    NoServer,
    /// A server of that name is in the file already.
    #[error("there is a server of that name already; remove it first, or replace it")]
    Exists,
}
