//! Cached results: encoded once for each revision, and given to every client as text.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, Revision, RpcError, ServerResult};

use crate::era::serving::RequestEra;
use crate::server::Server;

/// A result that is the same for everybody who asks, such as a list of tools. Cheap to clone.
///
/// It is written when it is first asked for, once for each revision that asks, and then given as it is.
///
/// ```
/// use switchboard::protocol::{ListToolsResult, Tool};
/// use switchboard::session::server::{CachedResult, HandlerOutcome};
///
/// let tools = CachedResult::new(ListToolsResult::new(vec![Tool::new("echo", serde_json::json!({"type": "object"}))]));
/// let handled = HandlerOutcome::cached(&tools); // for every `tools/list`, without writing it again
/// # let _ = handled;
/// ```
#[derive(Clone)]
pub struct CachedResult(Arc<Inner>);

struct Inner {
    result: ServerResult,
    /// What was written, for which server and revision.
    encoded: Mutex<Vec<(ServerId, Revision, Raw)>>,
}

/// Which server writes: each puts its own name under what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerId(u64);

impl ServerId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Texts kept of one result; beyond these it is written anew.
const MAX_TEXTS: usize = 8;

impl CachedResult {
    /// Keeps this result.
    pub fn new(result: impl Into<ServerResult>) -> Self {
        Self(Arc::new(Inner { result: result.into(), encoded: Mutex::default() }))
    }

    /// The result.
    pub fn result(&self) -> &ServerResult {
        &self.0.result
    }

    pub(crate) fn encode(&self, server: &Server, era: &RequestEra) -> Result<Raw, RpcError> {
        let (id, revision) = (server.id(), era.revision());
        let is_match = |(by, of, _): &&(ServerId, Revision, Raw)| *by == id && *of == revision;
        if let Some((_, _, text)) = self.0.encoded.lock().iter().find(is_match) {
            return Ok(text.clone());
        }
        let text = era.encode_reply(server.profile(), Ok(self.0.result.clone()))?.settled();
        let mut encoded = self.0.encoded.lock();
        if encoded.len() < MAX_TEXTS && encoded.iter().find(is_match).is_none() {
            encoded.push((id, revision, text.clone()));
        }
        Ok(text)
    }
}

impl fmt::Debug for CachedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedResult").field("result", &self.0.result).finish_non_exhaustive()
    }
}
