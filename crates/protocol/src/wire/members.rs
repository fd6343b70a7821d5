//! Decodes the members of an object by a table of names and slots.

use switchboard_json::{DecodeError, Mismatch, Name, Raw, RawReader};

use crate::wire::slot::MemberSlot;

/// Binds a member name to the slot that receives its value.
pub(crate) struct MemberBinding<'s> {
    /// `None` for a flattened object, which is not a member.
    name: Option<&'static str>,
    slot: &'s mut dyn MemberSlot,
    occurrence: Occurrence,
}

/// Whether a member has occurred, and whether it may occur again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occurrence {
    /// Has not occurred yet.
    Unseen,
    /// Has occurred; a second occurrence is an error.
    Once,
    /// May occur any number of times; the last one wins.
    Repeatable,
}

impl<'s> MemberBinding<'s> {
    /// Binds a member that may occur once.
    #[inline]
    pub(crate) fn new(name: &'static str, slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: Some(name), slot, occurrence: Occurrence::Unseen }
    }

    /// Binds a member that may be repeated; the last one wins.
    pub(crate) fn repeatable(name: &'static str, slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: Some(name), slot, occurrence: Occurrence::Repeatable }
    }

    /// Binds a slot that matches no member.
    pub(crate) fn unnamed(slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: None, slot, occurrence: Occurrence::Unseen }
    }

    /// Records an occurrence, and returns whether it is allowed.
    #[inline]
    fn record_occurrence(&mut self) -> bool {
        let is_allowed = self.occurrence != Occurrence::Once;
        if self.occurrence == Occurrence::Unseen {
            self.occurrence = Occurrence::Once;
        }
        is_allowed
    }
}

/// Decodes the members of an object into their slots and skips all others.
pub(crate) fn read_members(
    reader: &mut RawReader<'_>,
    members: &mut [MemberBinding<'_>],
) -> Result<(), Mismatch> {
    read_members_with(reader, members, &mut |reader, _| {
        reader.skip();
        Ok(())
    })
}

/// Decodes the members of an object into their slots and calls `other` for all others, which must move behind the
/// value.
pub(crate) fn read_members_with<'a>(
    reader: &mut RawReader<'a>,
    members: &mut [MemberBinding<'_>],
    other: &mut dyn FnMut(&mut RawReader<'a>, Name<'a>) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let object = reader.offset();
    let mut next = 0;
    reader.for_each_member("an object", &mut |reader, name| match find(members, &mut next, &name) {
        None => other(reader, name),
        Some(member) => match member.record_occurrence() {
            true => member.slot.fill(reader),
            false => Err(Mismatch::new(object, format!("duplicate field `{}`", name.as_str()))),
        },
    })
}

/// Decodes members whose spans are known into their slots and skips all others; an error names the member.
pub(crate) fn read_fields<'a>(
    fields: impl IntoIterator<Item = (Name<'a>, Raw)>,
    members: &mut [MemberBinding<'_>],
) -> Result<(), DecodeError> {
    let mut next = 0;
    for (name, value) in fields {
        let Some(member) = find(members, &mut next, &name) else { continue };
        if !member.record_occurrence() {
            return Err(DecodeError::mismatch(name.as_str(), "duplicate member"));
        }
        member.slot.fill_from(&value).map_err(|error| error.within(name.as_str()))?;
    }
    Ok(())
}

/// Returns the binding of a member. Tries the next binding first: most peers write members in the order of the schema.
#[inline]
fn find<'m, 's>(
    members: &'m mut [MemberBinding<'s>],
    next: &mut usize,
    name: &Name<'_>,
) -> Option<&'m mut MemberBinding<'s>> {
    let has_name =
        |member: &MemberBinding<'_>| member.name.is_some_and(|known| known.as_bytes() == name.as_bytes());
    let index = match members.get(*next) {
        Some(member) if has_name(member) => *next,
        _ => members.iter().position(has_name)?,
    };
    *next = index + 1;
    members.get_mut(index)
}
