//! The handle of a connection task: owns the task of one slot, and with it the keyed sessions of the slot.

use std::sync::Arc;

use tokio::task::{JoinHandle, JoinSet};

use crate::slot::{RunState, Slot};
use crate::status::Status;

/// A slot and its connection task. Dropping the handle aborts the task and ends the connection and all keyed sessions.
#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) slot: Arc<Slot>,
    task: JoinHandle<()>,
}

impl ConnectionHandle {
    /// Takes over the task of a slot.
    pub(crate) fn new(slot: Arc<Slot>, task: JoinHandle<()>) -> Self {
        Self { slot, task }
    }

    /// Closes the connection and all keyed sessions gracefully.
    pub(crate) async fn close(mut self) {
        self.slot.set_desired(RunState::Removed);
        let keyed = self.slot.keyed.close();
        Box::pin(close_all(keyed)).await;
        // An error means that the task has ended already.
        let _ = (&mut self.task).await;
    }
}

/// Closes connections gracefully and concurrently.
pub(crate) async fn close_all(connections: Vec<ConnectionHandle>) {
    let mut closing = JoinSet::new();
    for connection in connections {
        connection.slot.set_desired(RunState::Removed);
        closing.spawn(async move {
            let mut connection = connection;
            let _ = (&mut connection.task).await;
        });
    }
    while closing.join_next().await.is_some() {}
}

impl Drop for ConnectionHandle {
    fn drop(&mut self) {
        self.task.abort();
        self.slot.set_session(None);
        self.slot.child.set(None);
        self.slot.set_desired(RunState::Removed);
        self.slot.set_status(u64::MAX, Status::Stopped);
        drop(self.slot.keyed.close());
    }
}
