//! Spawns the background tasks of a session. All have one future type, so that tokio's task code is generated once.

use tokio::task::AbortHandle;

use crate::link::BoxFuture;

/// Spawns a task. The owner of the handle must abort it.
pub(crate) fn spawn(work: BoxFuture<'static, ()>) -> AbortHandle {
    tokio::spawn(work).abort_handle()
}
