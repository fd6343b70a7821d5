//! What a scan stumbles over, and where.

use std::fmt;

use crate::jsonrpc::scan::MAX_BATCH;
use crate::raw::MAX_DEPTH;

/// What the scan stumbled over, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    at: usize,
}

/// Why a text is not an acceptable JSON message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A byte that cannot stand here.
    Unexpected(u8),
    /// The text ends in the middle of a value.
    Ended,
    /// More than [`MAX_DEPTH`] levels.
    TooDeep,
    /// A second value follows the first.
    Trailing,
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
    pub(crate) fn new(kind: FaultKind, at: usize) -> Self {
        Self { kind, at }
    }

    /// What is wrong.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The byte offset in the message.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match self.kind {
            FaultKind::Unexpected(byte) => write!(f, "unexpected {:?} at byte {at}", char::from(byte)),
            FaultKind::Ended => write!(f, "it ends in the middle of a value"),
            FaultKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels at byte {at}"),
            FaultKind::Trailing => write!(f, "a second value begins at byte {at}"),
            FaultKind::NotUtf8 => write!(f, "not UTF-8 at byte {at}"),
            FaultKind::Duplicate(name) => write!(f, "the member {name:?} stands twice"),
            FaultKind::BadMember(name) => write!(f, "the member {name:?} has the wrong type or size"),
            FaultKind::NoShape => write!(f, "neither a request, a notification nor a response"),
            FaultKind::BatchTooLong => write!(f, "a batch of more than {MAX_BATCH} messages"),
        }
    }
}
