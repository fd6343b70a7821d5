//! The table that a type hands to the walk over an object.

use crate::wire::slot::Slot;

/// A name, and where its value goes.
pub(crate) struct Member<'s> {
    /// None has none: it is no member of its own.
    pub(super) name: Option<&'static str>,
    pub(super) slot: &'s mut dyn Slot,
    pub(super) seen: Seen,
}

/// Whether a member stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    No,
    /// Another time is a mistake.
    Once,
    /// The last one counts.
    AnyTimes,
}

impl<'s> Member<'s> {
    #[inline]
    pub(crate) fn new(name: &'static str, slot: &'s mut dyn Slot) -> Self {
        Self { name: Some(name), slot, seen: Seen::No }
    }

    /// Of several with this name the last one counts.
    pub(crate) fn repeatable(name: &'static str, slot: &'s mut dyn Slot) -> Self {
        Self { name: Some(name), slot, seen: Seen::AnyTimes }
    }

    /// Is never met.
    pub(crate) fn nameless(slot: &'s mut dyn Slot) -> Self {
        Self { name: None, slot, seen: Seen::No }
    }
}
