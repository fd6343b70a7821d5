//! One run of an agent: what ends all of its calls at once, and who answers what servers ask meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_session::client::ClientHandler;
use tokio::sync::watch;

/// One run of an agent. Cheap to clone; all clones are the same run.
///
/// Cancelling it ends every call made [within](crate::ToolCall::within) it, on every server.
#[derive(Clone)]
pub struct Run {
    inner: Arc<Inner>,
}

struct Inner {
    id: u64,
    is_cancelled: watch::Sender<bool>,
    answers: Option<Arc<dyn ClientHandler>>,
}

impl Run {
    /// A run that answers no questions of servers.
    pub fn new() -> Self {
        Self::made(None)
    }

    /// A run that answers what servers ask while its calls run on them.
    pub fn answering(answers: impl ClientHandler) -> Self {
        Self::made(Some(Arc::new(answers)))
    }

    fn made(answers: Option<Arc<dyn ClientHandler>>) -> Self {
        let inner = Inner { id: next_id(), is_cancelled: watch::Sender::new(false), answers };
        Self { inner: Arc::new(inner) }
    }

    /// Ends every call of this run, and every one that would begin.
    pub fn cancel(&self) {
        self.inner.is_cancelled.send_replace(true);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.inner.is_cancelled.borrow()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        let mut is_cancelled = self.inner.is_cancelled.subscribe();
        // The sender lives as long as we do.
        let _ = is_cancelled.wait_for(|is_cancelled| *is_cancelled).await;
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn answers(&self) -> Option<&Arc<dyn ClientHandler>> {
        self.inner.answers.as_ref()
    }
}

/// A number for a run, or for a call that belongs to none.
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
