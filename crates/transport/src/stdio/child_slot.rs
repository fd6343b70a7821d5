//! Slot in which a command puts the handle of the process it starts.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::stdio::child::ChildHandle;

/// Holds the process that a [`Stdio`](crate::stdio::Stdio) command started last. Clones share the slot.
#[derive(Debug, Clone, Default)]
pub struct ChildSlot {
    // Held for a clone or a swap, never across an await.
    child: Arc<Mutex<Option<ChildHandle>>>,
}

impl ChildSlot {
    /// Returns the process, if there is one.
    pub fn get(&self) -> Option<ChildHandle> {
        self.child.lock().clone()
    }

    /// Sets or clears the process.
    pub fn set(&self, child: Option<ChildHandle>) {
        *self.child.lock() = child;
    }
}

/// Equal if they are clones of each other.
impl PartialEq for ChildSlot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.child, &other.child)
    }
}
