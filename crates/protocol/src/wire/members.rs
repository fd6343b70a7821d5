//! The table that a type hands to the walk over an object, and that walk.

use switchboard_json::{Mismatch, Name, Reader};

use crate::wire::slot::Slot;

/// A name, and where its value goes.
pub(crate) struct Member<'s> {
    /// None has none: it is no member of its own.
    name: Option<&'static str>,
    slot: &'s mut dyn Slot,
    seen: Seen,
}

/// Whether a member stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
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

/// Reads the members of the value, which must be an object, each into the place that is given for its name; others are
/// left out.
pub(crate) fn read_members(reader: &mut Reader<'_>, members: &mut [Member<'_>]) -> Result<(), Mismatch> {
    read_members_and(reader, members, &mut |reader, _| {
        reader.skip();
        Ok(())
    })
}

/// The same, with something that reads and passes the others.
pub(crate) fn read_members_and<'a>(
    reader: &mut Reader<'a>,
    members: &mut [Member<'_>],
    other: &mut dyn FnMut(&mut Reader<'a>, Name<'a>) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let object = reader.offset();
    // Most peers write the members in the order of the schema.
    let mut next = 0;
    reader.for_each_member("an object", &mut |reader, name| {
        let is_called =
            |member: &Member<'_>| member.name.is_some_and(|known| known.as_bytes() == name.as_bytes());
        let found = match members.get(next) {
            Some(member) if is_called(member) => Some(next),
            _ => members.iter().position(is_called),
        };
        let Some(index) = found else { return other(reader, name) };
        next = index + 1;
        let member = &mut members[index];
        match member.seen {
            Seen::No => member.seen = Seen::Once,
            Seen::Once => {
                let reason = format!("duplicate field `{}`", member.name.unwrap_or_default());
                return Err(Mismatch::new(object, reason));
            }
            Seen::AnyTimes => {}
        }
        member.slot.fill(reader)
    })
}
