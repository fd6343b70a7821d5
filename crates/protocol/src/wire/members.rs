//! The table that a type hands to the walk over an object, and that walk.

use switchboard_json::{Mismatch, Name, Reader};

use crate::wire::slot::MemberSlot;

/// A name, and where its value goes.
pub(crate) struct MemberBinding<'s> {
    /// None has none: it is no member of its own.
    name: Option<&'static str>,
    slot: &'s mut dyn MemberSlot,
    occurrence: Occurrence,
}

/// Whether a member stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occurrence {
    Unseen,
    /// Another time is a mistake.
    Once,
    /// The last one counts.
    Repeatable,
}

impl<'s> MemberBinding<'s> {
    #[inline]
    pub(crate) fn new(name: &'static str, slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: Some(name), slot, occurrence: Occurrence::Unseen }
    }

    /// Of several with this name the last one counts.
    pub(crate) fn repeatable(name: &'static str, slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: Some(name), slot, occurrence: Occurrence::Repeatable }
    }

    /// Is never met.
    pub(crate) fn unnamed(slot: &'s mut dyn MemberSlot) -> Self {
        Self { name: None, slot, occurrence: Occurrence::Unseen }
    }
}

/// Reads the members of the value, which must be an object, each into the place that is given for its name; others are
/// left out.
pub(crate) fn read_members(
    reader: &mut Reader<'_>,
    members: &mut [MemberBinding<'_>],
) -> Result<(), Mismatch> {
    read_members_with(reader, members, &mut |reader, _| {
        reader.skip();
        Ok(())
    })
}

/// The same, with something that reads and passes the others.
pub(crate) fn read_members_with<'a>(
    reader: &mut Reader<'a>,
    members: &mut [MemberBinding<'_>],
    other: &mut dyn FnMut(&mut Reader<'a>, Name<'a>) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let object = reader.offset();
    // Most peers write the members in the order of the schema.
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
