//! Where the members of an object stand, noted while it was checked.

use std::ops::Range;

/// Where the members of an object stand, for objects with few: found while the message was checked, so that nobody has
/// to look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    members: [Member; Self::MOST],
    /// `None` when the members are not known.
    len: Option<u8>,
}

/// The name without its quotes, and the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Member {
    name: (u32, u32),
    value: (u32, u32),
}

impl Outline {
    /// More than any request of the specification has.
    const MOST: usize = 6;

    /// Of an object nobody has looked at.
    pub const UNKNOWN: Self =
        Self { members: [Member { name: (0, 0), value: (0, 0) }; Self::MOST], len: None };

    /// Adds a member; the spans are counted from where the object begins.
    #[inline]
    pub(crate) fn push(&mut self, name: Range<usize>, value: Range<usize>) {
        let Some(len) = self.len else { return };
        let span =
            |range: Range<usize>| Some((u32::try_from(range.start).ok()?, u32::try_from(range.end).ok()?));
        match (self.members.get_mut(usize::from(len)), span(name), span(value)) {
            (Some(slot), Some(name), Some(value)) => {
                *slot = Member { name, value };
                self.len = Some(len + 1);
            }
            _ => self.len = None,
        }
    }

    /// The spans of the name and the value of each member; `None` when they are not known.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(Range<usize>, Range<usize>)> {
        let members = &self.members[..usize::from(self.len?)];
        let Member { name, value } = members.get(index)?;
        let range = |(start, end): (u32, u32)| start as usize..end as usize;
        Some((range(*name), range(*value)))
    }

    /// Begins anew: an object whose members are about to be pushed.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.len = Some(0);
    }

    /// Gives up: the members are not known after all.
    #[inline]
    pub(crate) fn give_up(&mut self) {
        self.len = None;
    }

    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.len.is_some()
    }
}

impl Default for Outline {
    fn default() -> Self {
        Self::UNKNOWN
    }
}
