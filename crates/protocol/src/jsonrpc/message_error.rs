//! The reason why a frame is not a JSON-RPC message, and its byte offset.

use std::fmt;

use switchboard_json::{SyntaxError, SyntaxErrorKind};

use crate::jsonrpc::members::MAX_BATCH;

/// The reason why a frame is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageError {
    kind: MessageErrorKind,
    offset: usize,
}

/// The kind of a [`MessageError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageErrorKind {
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

impl MessageError {
    #[cold]
    pub(crate) fn new(kind: MessageErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> MessageErrorKind {
        self.kind
    }

    /// Returns the byte offset in the frame.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl From<SyntaxError> for MessageError {
    #[cold]
    fn from(error: SyntaxError) -> Self {
        Self::new(MessageErrorKind::Syntax(error.kind()), error.offset())
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            MessageErrorKind::Syntax(kind) => SyntaxError::new(kind, self.offset).fmt(f),
            MessageErrorKind::NotUtf8 => write!(f, "not UTF-8 at byte {}", self.offset),
            MessageErrorKind::Duplicate(name) => write!(f, "duplicate member {name:?}"),
            MessageErrorKind::BadMember(name) => write!(f, "member {name:?} has the wrong type or size"),
            MessageErrorKind::NoShape => write!(f, "neither a request, a notification nor a response"),
            MessageErrorKind::BatchTooLong => write!(f, "a batch of more than {MAX_BATCH} messages"),
        }
    }
}
