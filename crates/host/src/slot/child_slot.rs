//! The child process of a stdio server.

use parking_lot::Mutex;
use switchboard_transport::stdio::ChildHandle;

/// The child process of a server, while there is one.
#[derive(Debug, Default)]
pub(crate) struct ChildSlot {
    // Held for a clone or a swap, never across an await.
    child: Mutex<Option<ChildHandle>>,
}

impl ChildSlot {
    /// Returns the process, if there is one.
    pub(crate) fn get(&self) -> Option<ChildHandle> {
        self.child.lock().clone()
    }

    /// Sets the process.
    pub(crate) fn set(&self, child: ChildHandle) {
        *self.child.lock() = Some(child);
    }

    /// Clears the process.
    pub(crate) fn clear(&self) {
        *self.child.lock() = None;
    }
}
