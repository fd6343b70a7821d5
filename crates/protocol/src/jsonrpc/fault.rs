//! The reason why a frame is not a JSON-RPC message, and its byte offset.

use std::fmt;

use switchboard_json::{SyntaxError, SyntaxErrorKind};

use crate::jsonrpc::members::MAX_BATCH;

/// The reason why a frame is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    offset: usize,
}

/// The kind of a [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The text is not JSON, or is nested too deep.
    Syntax(SyntaxErrorKind),
    /// The frame is not UTF-8.
    NotUtf8,
    /// A JSON-RPC member occurs twice.
    Duplicate(&'static str),
    /// A member has the wrong type or exceeds its maximum size.
    BadMember(&'static str),
    /// The members are those of neither a request, a notification nor a response.
    NoShape,
    /// The batch has more than [`MAX_BATCH`] messages.
    BatchTooLong,
}

impl Fault {
    #[cold]
    pub(crate) fn new(kind: FaultKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Returns the kind of the fault.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Returns the byte offset in the frame.
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
