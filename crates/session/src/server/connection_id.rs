//! The id of a connection over a pipe, for handlers.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of a connection over a pipe, unique in this process. Handlers get it from
/// [`RequestContext::extension`](crate::server::RequestContext::extension); requests over HTTP have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId(u64);

impl ConnectionId {
    /// Creates the id of a new connection.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}
