//! A run of an agent: cancels its calls together and answers requests of servers during them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_session::client::ClientHandler;
use tokio::sync::watch;

/// A run of an agent. Cheap to clone; all clones are the same run.
///
/// Cancelling it cancels every call made [within](crate::ToolCall::within) it, on every server.
///
/// ```
/// use switchboard::host::Run;
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let run = Run::new();
/// let call = tokio::spawn(host.call("wait", json!({})).within(&run).into_future());
/// run.cancel(); // the user pressed Escape
/// assert!(call.await?.is_err());
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Run {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    is_cancelled: watch::Sender<bool>,
    handler: Option<Arc<dyn ClientHandler>>,
    /// Held for a read or a write, never across an await.
    last_session: Mutex<Option<u64>>,
}

impl Run {
    /// Creates a run that answers no requests of servers.
    pub fn new() -> Self {
        Self::new_inner(None)
    }

    /// Creates a run whose handler answers requests of servers during its calls.
    pub fn with_handler(handler: impl ClientHandler) -> Self {
        Self::new_inner(Some(Arc::new(handler)))
    }

    fn new_inner(handler: Option<Arc<dyn ClientHandler>>) -> Self {
        let is_cancelled = watch::Sender::new(false);
        let inner = Inner { id: next_id(), is_cancelled, handler, last_session: Mutex::new(None) };
        Self { inner: Arc::new(inner) }
    }

    /// Cancels every call of this run, including future ones.
    pub fn cancel(&self) {
        self.inner.is_cancelled.send_replace(true);
    }

    /// Returns whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.inner.is_cancelled.borrow()
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        let mut is_cancelled = self.inner.is_cancelled.subscribe();
        // The sender lives as long as `self`.
        let _ = is_cancelled.wait_for(|is_cancelled| *is_cancelled).await;
    }

    /// Returns the [number](switchboard_session::ClientSession::number) of the session in which the last call of this run
    /// was sent; `None` if none was.
    pub fn last_session(&self) -> Option<u64> {
        *self.inner.last_session.lock()
    }

    /// Notes the session in which a call is sent.
    pub(crate) fn note_session(&self, number: u64) {
        *self.inner.last_session.lock() = Some(number);
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn handler(&self) -> Option<&Arc<dyn ClientHandler>> {
        self.inner.handler.as_ref()
    }
}

/// Returns the id of a run, or of a call without a run.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Default for Run {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
