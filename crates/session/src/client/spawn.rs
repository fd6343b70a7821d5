//! The tasks of a session beside its calls. They are all of one type, so that the code a runtime needs for a task is
//! made once.

use tokio::task::AbortHandle;

use crate::link::BoxFuture;

/// Runs this in a task. Whoever holds the handle ends it.
pub(crate) fn spawn(work: BoxFuture<'static, ()>) -> AbortHandle {
    tokio::spawn(work).abort_handle()
}
