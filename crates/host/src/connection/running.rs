//! A server that is looked after: the slot, and the task that owns its connection.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::connection::SharedState;
use crate::connection::task;
use crate::slot::{Run, Slot};
use crate::status::Status;

/// A slot whose task runs. Whoever holds this owns the server: dropping it ends both at once.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) slot: Arc<Slot>,
    task: JoinHandle<()>,
}

impl Running {
    /// Starts the task. Nothing happens until the slot [begins](Slot::begin).
    pub(crate) fn new(slot: Arc<Slot>, shared: Arc<SharedState>) -> Self {
        let task = tokio::spawn(task::run(Arc::clone(&slot), shared));
        Self { slot, task }
    }

    /// Ends the server in order.
    pub(crate) async fn close(mut self) {
        self.slot.want(Run::Gone);
        // An error means that it ended already.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
        self.slot.set_session(None);
        self.slot.child.clear();
        self.slot.want(Run::Gone);
        self.slot.tell(u64::MAX, Status::Stopped);
    }
}
