//! Cached results: encoded once per revision, and sent to every client as text.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, Revision, RpcError, ServerResult};

use crate::era::serving::RequestEra;
use crate::server::Server;

/// A result that is the same for every client, such as a list of tools. Cheap to clone.
///
/// It is encoded on first use, once per revision, and then reused.
///
/// ```
/// use switchboard::protocol::{ListToolsResult, Tool};
/// use switchboard::server::{CachedResult, HandlerOutcome};
///
/// let tools = CachedResult::new(ListToolsResult::new(vec![Tool::new("echo", serde_json::json!({"type": "object"}))]));
/// let handled = HandlerOutcome::cached(&tools); // for every `tools/list`, without encoding it again
/// # let _ = handled;
/// ```
#[derive(Clone)]
pub struct CachedResult(Arc<Inner>);

struct Inner {
    result: ServerResult,
    /// The encoded texts, by server and revision.
    encoded: Mutex<Vec<(ServerId, Revision, Raw)>>,
}

/// Identifies a server in the cache: each adds its own info to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerId(u64);

impl ServerId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Texts cached per result; beyond these it is encoded anew.
const MAX_TEXTS: usize = 8;

impl CachedResult {
    /// Caches this result.
    pub fn new(result: impl Into<ServerResult>) -> Self {
        Self(Arc::new(Inner { result: result.into(), encoded: Mutex::default() }))
    }

    /// Returns the result.
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
