//! `Outline`: the spans of the members of an object, recorded while it was scanned.

use std::ops::Range;

/// The spans of the members of a small object, recorded by the scan of the message, so that reading the members needs
/// no second scan. Unknown for objects with many members or with escaped names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    members: [MemberSpans; Self::MAX_MEMBERS],
    /// The number of members; `None` if they are unknown.
    len: Option<u8>,
    /// The span of the value of `_meta`; empty if there is none.
    meta: (u32, u32),
}

/// The spans of one member: the name without its quotes, and the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct MemberSpans {
    name: (u32, u32),
    value: (u32, u32),
}

impl Outline {
    /// The maximum number of members, which no request of the specification exceeds.
    const MAX_MEMBERS: usize = 6;

    /// The outline of an object that has not been scanned.
    pub const UNKNOWN: Self = Self {
        members: [MemberSpans { name: (0, 0), value: (0, 0) }; Self::MAX_MEMBERS],
        len: None,
        meta: (0, 0),
    };

    /// Appends a member; the spans are relative to the start of the object.
    #[inline]
    pub(crate) fn push(&mut self, name: Range<usize>, value: Range<usize>) {
        let Some(len) = self.len else { return };
        // The end of the value is the largest offset: if it fits a u32, all do.
        let (Some(slot), Ok(end)) = (self.members.get_mut(usize::from(len)), u32::try_from(value.end)) else {
            self.len = None;
            return;
        };
        *slot = MemberSpans { name: (name.start as u32, name.end as u32), value: (value.start as u32, end) };
        self.len = Some(len + 1);
    }

    /// Returns the span of the value of `_meta`, if recorded. Of duplicates the last one wins.
    #[inline]
    pub(crate) fn meta(&self) -> Option<Range<usize>> {
        let (start, end) = self.meta;
        (self.is_known() && end != 0).then_some(start as usize..end as usize)
    }

    /// Marks the last appended member as `_meta`.
    #[inline]
    pub(crate) fn mark_last_as_meta(&mut self) {
        let last = self.len.and_then(|len| self.members.get(usize::from(len).checked_sub(1)?));
        self.meta = last.map_or((0, 0), |member| member.value);
    }

    /// Returns the spans of the name and the value of a member; `None` behind the last one or if the members are
    /// unknown.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(Range<usize>, Range<usize>)> {
        let members = &self.members[..usize::from(self.len?)];
        let MemberSpans { name, value } = members.get(index)?;
        let range = |(start, end): (u32, u32)| start as usize..end as usize;
        Some((range(*name), range(*value)))
    }

    /// Clears the outline for the members of an object.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.len = Some(0);
        self.meta = (0, 0);
    }

    /// Marks the members as unknown.
    #[inline]
    pub(crate) fn invalidate(&mut self) {
        self.len = None;
    }

    /// Returns whether the members are known.
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
