//! Decodes the members of an object by a table of names and slots.

use switchboard_json::{Mismatch, Name, Reader};

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
}

/// Decodes the members of an object into their slots and skips all others.
pub(crate) fn read_members(
    reader: &mut Reader<'_>,
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
    reader: &mut Reader<'a>,
    members: &mut [MemberBinding<'_>],
    other: &mut dyn FnMut(&mut Reader<'a>, Name<'a>) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let object = reader.offset();
    // Tries the next binding first: most peers write members in the order of the schema.
    let mut next = 0;
    reader.for_each_member("an object", &mut |reader, name| {
        let has_name =
            |member: &MemberBinding<'_>| member.name.is_some_and(|known| known.as_bytes() == name.as_bytes());
        let found = match members.get(next) {
            Some(member) if has_name(member) => Some(next),
            _ => members.iter().position(has_name),
        };
        let Some(index) = found else { return other(reader, name) };
        next = index + 1;
        let member = &mut members[index];
        match member.occurrence {
            Occurrence::Unseen => member.occurrence = Occurrence::Once,
            Occurrence::Once => {
                let reason = format!("duplicate field `{}`", member.name.unwrap_or_default());
                return Err(Mismatch::new(object, reason));
            }
            Occurrence::Repeatable => {}
        }
        member.slot.fill(reader)
    })
}
