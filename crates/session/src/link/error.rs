//! Why a link could not carry a message. One loss fails many callers, so the error is cheap to clone.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::jsonrpc::MalformedMessage;

use super::challenge::Challenge;

/// The error of a link that could not carry a message. One variant for each way a caller can react.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LinkError {
    /// The server could not be started: fix the command, the path or the address.
    NotStarted(Arc<StartError>),
    /// The server process has ended.
    Exited(Arc<ServerExit>),
    /// The connection broke. Whether the request was carried out is unknown unless `sent` is false.
    Lost {
        /// The cause, for display.
        reason: String,
        /// Whether any byte of the request may have been sent.
        sent: bool,
    },
    /// A message was larger than the limit. Only this call fails.
    TooLarge {
        /// The limit in force, in bytes.
        limit: usize,
    },
    /// The response was damaged. Only this call fails.
    Malformed(MalformedMessage),
    /// The server could not be reached: no such host, connection refused, a certificate that is not trusted.
    Unreachable {
        /// Why not.
        reason: String,
        /// The step that failed.
        kind: UnreachableKind,
    },
    /// The description of the server cannot be used: its address or one of its headers is not valid. Nothing was sent.
    Misconfigured {
        /// The invalid part, for display.
        reason: String,
    },
    /// The server requires a login, or another one.
    Challenged(Arc<Challenge>),
    /// The server rejected the message on the transport level, without a JSON-RPC response.
    Refused {
        /// The status code.
        status: u16,
        /// The beginning of the response body.
        text: String,
    },
    /// The message is larger than the server accepts; nothing was carried out.
    TooLargeForServer,
    /// The server limits the request rate; nothing was carried out.
    RateLimited {
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The server no longer knows the session. Open another one; requests in flight are lost.
    SessionExpired,
    /// A queue is full; nothing was sent. Try again when calls have completed.
    Overloaded {
        /// Which limit was reached.
        what: &'static str,
    },
    /// The connection was closed from this side.
    Closed,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(why) => fmt::Display::fmt(why, f),
            Self::Exited(exit) => fmt::Display::fmt(exit, f),
            Self::Lost { reason, .. } => write!(f, "the connection was lost: {reason}"),
            Self::TooLarge { limit } => write!(
                f,
                "a message is larger than the limit of {limit} bytes; raise the limit for this server if it is trusted"
            ),
            Self::Malformed(what) => write!(f, "the answer is damaged: {what}"),
            Self::Unreachable { reason, .. } => write!(f, "the server cannot be reached: {reason}"),
            Self::Misconfigured { reason } => {
                write!(f, "the server's address or headers cannot be used: {reason}")
            }
            Self::Challenged(challenge) => fmt::Display::fmt(challenge, f),
            Self::Refused { status, text } => {
                write!(f, "the server refused the request with status {status}")?;
                if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
            }
            Self::TooLargeForServer => {
                f.write_str("the server takes no message this large; send less, or raise its limit")
            }
            Self::RateLimited { retry_after } => {
                f.write_str("the server is asked too often")?;
                retry_after.map_or(Ok(()), |after| write!(f, "; try again after {after:?}"))
            }
            Self::SessionExpired => f.write_str("the server no longer knows this session"),
            Self::Overloaded { what } => {
                write!(f, "too much is waiting on this connection: {what}; nothing was sent, try again later")
            }
            Self::Closed => f.write_str("the connection is closed"),
        }
    }
}

impl Error for LinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotStarted(why) => why.source(),
            Self::Exited(exit) => exit.source(),
            Self::Challenged(challenge) => challenge.source(),
            _ => None,
        }
    }
}

/// The step at which a server could not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnreachableKind {
    /// Its name could not be resolved.
    Dns,
    /// Nothing listens at its port.
    Refused,
    /// Nothing answered in time, or there is no route to it.
    Network,
    /// The proxy did not connect.
    Proxy,
    /// TLS could not be agreed on.
    Tls,
    /// Something else; the reason says.
    Other,
}

impl LinkError {
    /// Creates an error for a connection that broke for this reason.
    pub fn lost(reason: impl Into<String>) -> Self {
        Self::Lost { reason: reason.into(), sent: true }
    }

    /// Returns the same error for a request of which no byte was sent.
    #[must_use]
    pub fn unsent(self) -> Self {
        match self {
            Self::Lost { reason, .. } => Self::Lost { reason, sent: false },
            other => other,
        }
    }

    /// Returns whether the whole connection is gone, not only this call.
    pub fn ends_connection(&self) -> bool {
        matches!(
            self,
            Self::NotStarted(_) | Self::Exited(_) | Self::Lost { .. } | Self::SessionExpired | Self::Closed
        )
    }

    /// Returns the login that the server requires.
    pub fn challenge(&self) -> Option<&Challenge> {
        match self {
            Self::Challenged(challenge) => Some(challenge),
            _ => None,
        }
    }

    /// Returns whether the server rejected the form of the request, so that an older form may be tried.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { status: 400..500, .. })
    }

    /// Returns how the server process ended, where one did.
    pub fn exit(&self) -> Option<&ServerExit> {
        match self {
            Self::Exited(exit) => Some(exit),
            _ => None,
        }
    }
}

/// A server program that could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub struct StartError {
    /// The program, as configured.
    pub program: String,
    /// Why it did not start.
    pub kind: StartErrorKind,
    /// The directories that were searched. `Display` says how many; its alternate form (`{:#}`) names them.
    pub searched: Vec<String>,
    /// The error of the operating system.
    pub source: Option<io::Error>,
}

impl StartError {
    /// Creates the error of a program that could not be started.
    pub fn new(program: impl Into<String>, kind: StartErrorKind) -> Self {
        Self { program: program.into(), kind, searched: Vec::new(), source: None }
    }

    /// Sets the directories that were searched.
    #[must_use]
    pub fn with_searched(mut self, searched: Vec<String>) -> Self {
        self.searched = searched;
        self
    }

    /// Sets the error of the operating system.
    #[must_use]
    pub fn with_source(mut self, source: io::Error) -> Self {
        self.source = Some(source);
        self
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match self.kind {
            StartErrorKind::NotFound => write!(f, "the program {program:?} was not found")?,
            StartErrorKind::NotExecutable => write!(f, "{program:?} is there but cannot be executed")?,
            StartErrorKind::Directory => write!(f, "{program:?} is a directory, not a program")?,
            StartErrorKind::BadDirectory => {
                write!(f, "the working directory for {program:?} cannot be entered")?
            }
            StartErrorKind::OutOfResources => write!(f, "no room to start {program:?}")?,
            StartErrorKind::Other => write!(f, "{program:?} could not be started")?,
        }
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        match &*self.searched {
            [] => Ok(()),
            // The alternate form names all of them.
            [_, _, ..] if !f.alternate() => write!(f, " (searched {} folders of PATH)", self.searched.len()),
            searched => write!(f, " (searched {})", searched.join(", ")),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Why a program did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartErrorKind {
    /// No such program.
    NotFound,
    /// The file exists, but is not executable.
    NotExecutable,
    /// The path is a directory.
    Directory,
    /// The working directory does not exist or cannot be entered.
    BadDirectory,
    /// No descriptors, processes or memory left.
    OutOfResources,
    /// Anything else; the source says.
    Other,
}

/// How a server process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerExit {
    /// Its exit code, where it had one.
    pub code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// The end of its stderr output.
    pub stderr_tail: String,
}

impl ServerExit {
    /// Creates an exit with this code or signal.
    pub fn new(code: Option<i32>, signal: Option<i32>, stderr_tail: impl Into<String>) -> Self {
        Self { code, signal, stderr_tail: stderr_tail.into() }
    }
}

impl fmt::Display for ServerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => write!(f, "the server was ended by signal {signal}")?,
            (Some(code), None) => write!(f, "the server exited with code {code}")?,
            (None, None) => write!(f, "the server exited")?,
        }
        if !self.stderr_tail.is_empty() {
            write!(f, "; its last words on stderr: {}", self.stderr_tail.trim_end())?;
        }
        Ok(())
    }
}

impl Error for ServerExit {}
