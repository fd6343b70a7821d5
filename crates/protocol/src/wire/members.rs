//! The table that a type hands to the walk over an object.

use crate::wire::slot::Slot;

/// A name, and where its value goes.
pub(crate) struct Member<'s> {
    pub(super) name: &'static str,
    pub(super) slot: &'s mut dyn Slot,
    /// Whether it stood there: twice is a mistake.
    pub(super) seen: bool,
}

impl<'s> Member<'s> {
    #[inline]
    pub(crate) fn new(name: &'static str, slot: &'s mut dyn Slot) -> Self {
        Self { name, slot, seen: false }
    }
}
