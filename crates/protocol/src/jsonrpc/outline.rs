//! Where the members of an object stand, noted while it was checked.

use std::ops::Range;

/// Where the members of an object stand, for objects with few: found while the message was checked, so that nobody has
/// to look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    members: [MemberSpans; Self::MAX_MEMBERS],
    /// `None` when the members are not known.
    len: Option<u8>,
    /// The value of `_meta`, which every request is asked for; nothing when there is none.
    meta: (u32, u32),
}

/// The name without its quotes, and the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct MemberSpans {
    name: (u32, u32),
    value: (u32, u32),
}

impl Outline {
    /// More than any request of the specification has.
    const MAX_MEMBERS: usize = 6;

    /// Of an object nobody has looked at.
    pub const UNKNOWN: Self = Self {
        members: [MemberSpans { name: (0, 0), value: (0, 0) }; Self::MAX_MEMBERS],
        len: None,
        meta: (0, 0),
    };

    /// Adds a member; the spans are counted from where the object begins.
    #[inline]
    pub(crate) fn push(&mut self, name: Range<usize>, value: Range<usize>) {
        let Some(len) = self.len else { return };
        // The value ends behind the rest: where its end fits, all do.
        let (Some(slot), Ok(end)) = (self.members.get_mut(usize::from(len)), u32::try_from(value.end)) else {
            self.len = None;
            return;
        };
        *slot = MemberSpans { name: (name.start as u32, name.end as u32), value: (value.start as u32, end) };
        self.len = Some(len + 1);
    }

    /// Where the value of `_meta` stands, when the members are known and it is one of them. Of several the last counts.
    #[inline]
    pub(crate) fn meta(&self) -> Option<Range<usize>> {
        let (start, end) = self.meta;
        (self.is_known() && end != 0).then_some(start as usize..end as usize)
    }

    /// The member that was added last is `_meta`.
    #[inline]
    pub(crate) fn mark_last_as_meta(&mut self) {
        let last = self.len.and_then(|len| self.members.get(usize::from(len).checked_sub(1)?));
        self.meta = last.map_or((0, 0), |member| member.value);
    }

    /// The spans of the name and the value of each member; `None` when they are not known.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(Range<usize>, Range<usize>)> {
        let members = &self.members[..usize::from(self.len?)];
        let MemberSpans { name, value } = members.get(index)?;
        let range = |(start, end): (u32, u32)| start as usize..end as usize;
        Some((range(*name), range(*value)))
    }

    /// Begins anew: an object whose members are about to be pushed.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.len = Some(0);
        self.meta = (0, 0);
    }

    /// Gives up: the members are not known after all.
    #[inline]
    pub(crate) fn invalidate(&mut self) {
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
