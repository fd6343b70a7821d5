//! How a session is, for whoever watches.

use crate::error::CallError;

/// How a session is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum State {
    /// Made, and not opened yet.
    Created,
    /// Open.
    Ready,
    /// It did not open, or its connection was lost; this is why.
    Failed(CallError),
    /// Closed from this side.
    Closed,
}
