//! The process of a server that was started here, for whoever wants to look at it.

use parking_lot::Mutex;
use switchboard_transport::stdio::ChildHandle;

/// A look at the process of a server, from beside its connection.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    // Held for a clone or a swap, never across an await.
    child: Mutex<Option<ChildHandle>>,
}

impl Sight {
    /// The process, if there is one.
    pub(crate) fn child(&self) -> Option<ChildHandle> {
        self.child.lock().clone()
    }

    /// This is the process from now on.
    pub(crate) fn show(&self, child: ChildHandle) {
        *self.child.lock() = Some(child);
    }

    /// There is none any more.
    pub(crate) fn close(&self) {
        *self.child.lock() = None;
    }
}
