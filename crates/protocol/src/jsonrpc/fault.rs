//! What makes a frame no message, and where.

use std::fmt;

use switchboard_json::{SyntaxError, SyntaxErrorKind};

use crate::jsonrpc::members::MAX_BATCH;

/// What the scan stumbled over, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    offset: usize,
}

/// Why a text is not an acceptable JSON-RPC message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The text is not JSON, or is nested too deep.
    Syntax(SyntaxErrorKind),
    /// Not UTF-8.
    NotUtf8,
    /// A member that may stand once stands twice.
    Duplicate(&'static str),
    /// A member has the wrong type or too many bytes.
    BadMember(&'static str),
    /// Neither a request, a notification nor a response.
    NoShape,
    /// An array of more than [`MAX_BATCH`] messages.
    BatchTooLong,
}

impl Fault {
    #[cold]
    pub(crate) fn new(kind: FaultKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The byte offset in the message.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl From<SyntaxError> for Fault {
    #[cold]
    fn from(error: SyntaxError) -> Self {
        Self::new(FaultKind::Syntax(error.kind()), error.offset())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Syntax(kind) => SyntaxError::new(kind, self.offset).fmt(f),
            FaultKind::NotUtf8 => write!(f, "not UTF-8 at byte {}", self.offset),
            FaultKind::Duplicate(name) => write!(f, "duplicate member {name:?}"),
            FaultKind::BadMember(name) => write!(f, "member {name:?} has the wrong type or size"),
            FaultKind::NoShape => write!(f, "neither a request, a notification nor a response"),
            FaultKind::BatchTooLong => write!(f, "a batch of more than {MAX_BATCH} messages"),
        }
    }
}
