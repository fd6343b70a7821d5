//! Slots for the values of members: required, optional, lenient and others.

use switchboard_json::{DecodeError, FromRaw, Mismatch, OrderedMap, Raw, RawReader};

use crate::number;

/// Receives the value of one member.
pub(crate) trait MemberSlot {
    /// Decodes the value and moves the reader behind it.
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch>;

    /// Decodes a value whose text is known.
    fn fill_from(&mut self, value: &Raw) -> Result<(), DecodeError> {
        self.fill(&mut RawReader::new(value))
            .map_err(|mismatch| mismatch.into_decode_error(value.as_str(), 0))
    }
}

/// A member that must be present and fit.
pub(crate) struct RequiredSlot<T>(pub(crate) Option<T>);

impl<T: FromRaw> MemberSlot for RequiredSlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        self.0 = Some(T::read(reader)?);
        Ok(())
    }

    fn fill_from(&mut self, value: &Raw) -> Result<(), DecodeError> {
        self.0 = Some(T::from_raw(value)?);
        Ok(())
    }
}

/// A member that may be missing or `null`: some peers write every optional member.
pub(crate) struct OptionalSlot<T>(pub(crate) Option<T>);

impl<T: FromRaw> MemberSlot for OptionalSlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        self.0 = if reader.skip_null() { None } else { Some(T::read(reader)?) };
        Ok(())
    }

    fn fill_from(&mut self, value: &Raw) -> Result<(), DecodeError> {
        self.0 = if value.is_null() { None } else { Some(T::from_raw(value)?) };
        Ok(())
    }
}

/// A member whose value counts as missing if it does not fit: an invalid hint must not fail a result.
pub(crate) struct LenientSlot<T>(pub(crate) Option<T>);

impl<T: FromRaw> MemberSlot for LenientSlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        self.0 = reader.peek().ok();
        reader.skip();
        Ok(())
    }
}

/// A non-negative integer, also spelled `3e3` or `7.0`; any other value counts as missing.
pub(crate) struct WholeNumberSlot(pub(crate) Option<u64>);

impl MemberSlot for WholeNumberSlot {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        self.0 = number::parse_whole_number(reader.read_text());
        Ok(())
    }
}

/// A value that stays JSON and must be an object.
pub(crate) struct ObjectSlot(pub(crate) Option<Raw>);

impl MemberSlot for ObjectSlot {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        if reader.first_byte() != b'{' {
            return Err(Mismatch::new(reader.offset(), "expected an object"));
        }
        self.0 = Some(reader.read_raw());
        Ok(())
    }
}

/// A flattened struct, decoded from the members of the surrounding object beforehand.
pub(crate) struct FlattenedSlot<T>(pub(crate) T);

impl<T> MemberSlot for FlattenedSlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        reader.skip();
        Ok(())
    }
}

/// A capability. Lenient: `false` and `null` declare nothing, `true` declares the capability without settings.
pub(crate) struct CapabilitySlot<T>(pub(crate) Option<T>);

/// A value that outlives its message and must not keep the whole message in memory.
pub(crate) trait Detach {
    /// Copies the text of the value into buffers of its own.
    fn detach(self) -> Self;
}

impl Detach for bool {
    fn detach(self) -> Self {
        self
    }
}

impl Detach for OrderedMap<Raw> {
    fn detach(mut self) -> Self {
        self.iter_mut().for_each(|(_, value)| *value = value.settled());
        self
    }
}

impl<T: FromRaw + Detach> MemberSlot for CapabilitySlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        let mut again = reader.clone();
        self.0 = match T::read(reader) {
            Ok(declared) => Some(declared.detach()),
            Err(mismatch) => {
                let declared = match again.read_text() {
                    "null" | "false" => None,
                    "true" => Some(T::from_raw(&Raw::empty_object()).map_err(|_| mismatch)?),
                    _ => return Err(mismatch),
                };
                *reader = again;
                declared
            }
        };
        Ok(())
    }
}

/// A content block or a list of content blocks.
pub(crate) struct ContentSlot<T>(pub(crate) Option<Vec<T>>);

impl<T: FromRaw> MemberSlot for ContentSlot<T> {
    fn fill(&mut self, reader: &mut RawReader<'_>) -> Result<(), Mismatch> {
        self.0 = Some(match reader.first_byte() {
            b'{' => vec![T::read(reader)?],
            b'[' => Vec::read(reader)?,
            _ => return Err(reader.type_mismatch("a content block or a list of them")),
        });
        Ok(())
    }
}
