//! The handle of a connection task: owns the task of one slot.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::connection::{SharedState, task};
use crate::slot::{RunState, Slot};
use crate::status::Status;

/// A slot and its connection task. Dropping the handle aborts the task and ends the connection.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) slot: Arc<Slot>,
    task: JoinHandle<()>,
}

impl ConnectionHandle {
    /// Spawns the task. It waits until the slot is [started](Slot::start_initially).
    pub(crate) fn new(slot: Arc<Slot>, shared: Arc<SharedState>) -> Self {
        let task = tokio::spawn(task::run(Arc::clone(&slot), shared));
        Self { slot, task }
    }

    /// Closes the connection gracefully.
    pub(crate) async fn close(mut self) {
        self.slot.set_desired(RunState::Removed);
        // An error means that the task has ended already.
        let _ = (&mut self.task).await;
    }
}

impl Drop for ConnectionHandle {
    fn drop(&mut self) {
        self.task.abort();
        self.slot.set_session(None);
        self.slot.child.set(None);
        self.slot.set_desired(RunState::Removed);
        self.slot.set_status(u64::MAX, Status::Stopped);
    }
}
