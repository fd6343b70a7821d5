//! Errors of a gateway's configuration: file, line, what is wrong, and what to write instead.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error in the configuration of a gateway.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GatewayConfigError {
    /// The file, if the document came from one.
    pub file: Option<PathBuf>,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// The kind of error.
    pub kind: GatewayConfigErrorKind,
}

/// The kind of a [`GatewayConfigError`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayConfigErrorKind {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The document is not TOML, or a key or value of it is not known.
    #[error("{0}")]
    Document(String),
    /// A server cannot be used as it is written.
    #[error("server `{name}`: {reason}")]
    Server {
        /// The name of the server.
        name: String,
        /// What is wrong, and what to write.
        reason: String,
    },
    /// Two entries have the same name.
    #[error("server `{name}` is written twice; {second} has it again. Rename or remove one of them")]
    DuplicateServer {
        /// The name of the server.
        name: String,
        /// Where the second entry is.
        second: String,
    },
    /// A server would get the token of the caller.
    #[error(
        "server `{server}`: {field} passes the caller's token on. It was issued for this gateway: a server that gets it could \
         act as the caller everywhere\ngive the server a credential of its own in `headers` or `env`, like \
         \"Bearer ${{SERVER_TOKEN}}\", or log the gateway in for all callers with `switchboard login {server}`; logins per \
         user are not offered yet"
    )]
    TokenPassthrough {
        /// The name of the server.
        server: String,
        /// The field of its entry.
        field: String,
    },
    /// The policy is not valid.
    #[error("{0}")]
    Policy(String),
    /// Settings that exclude or require each other.
    #[error("{0}")]
    Conflict(String),
    /// The document exceeds a limit.
    #[error("the file has more than {limit} bytes; move servers to files that `include` names")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl GatewayConfigError {
    /// Creates an error without a place.
    pub fn new(kind: GatewayConfigErrorKind) -> Self {
        Self { file: None, line: None, kind }
    }

    /// Sets the file, unless it is known already.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// Sets the line.
    #[must_use]
    pub(crate) fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for GatewayConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}, line {line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for GatewayConfigError {}
