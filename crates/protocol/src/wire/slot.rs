//! Places for the values of members, by how much a member may be missing or wrong.

use switchboard_json::{FromRaw, Mismatch, OrderedMap, Raw, Reader};

use crate::lenient;

/// Where the value of one member goes.
pub(crate) trait Slot {
    /// Reads the value and passes it.
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch>;
}

/// Must be there, and fit.
pub(crate) struct Need<T>(pub(crate) Option<T>);

impl<T: FromRaw> Slot for Need<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        self.0 = Some(T::read(reader)?);
        Ok(())
    }
}

/// May be missing, or `null`: some peers write every optional member.
pub(crate) struct May<T>(pub(crate) Option<T>);

impl<T: FromRaw> Slot for May<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        self.0 = if reader.skip_null() { None } else { Some(T::read(reader)?) };
        Ok(())
    }
}

/// Anything that does not fit counts as missing: a hint is never worth failing a result for.
pub(crate) struct Fit<T>(pub(crate) Option<T>);

impl<T: FromRaw> Slot for Fit<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        self.0 = reader.peek().ok();
        reader.skip();
        Ok(())
    }
}

/// A whole number of zero or more, also when written `3e3` or `7.0`; anything else counts as missing.
pub(crate) struct Whole(pub(crate) Option<u64>);

impl Slot for Whole {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        self.0 = lenient::whole(reader.read_text());
        Ok(())
    }
}

/// JSON that must be an object.
pub(crate) struct ObjectOnly(pub(crate) Option<Raw>);

impl Slot for ObjectOnly {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        if reader.first_byte() != b'{' {
            return Err(Mismatch::new(reader.offset(), "expected an object"));
        }
        self.0 = Some(reader.read_raw());
        Ok(())
    }
}

/// Was read from the same object; no member is its own.
pub(crate) struct Flat<T>(pub(crate) T);

impl<T> Slot for Flat<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        reader.skip();
        Ok(())
    }
}

/// A capability. Tolerant: `false` and `null` declare nothing, `true` declares the bare capability.
pub(crate) struct Declared<T>(pub(crate) Option<T>);

/// What outlives the message it came in, and must not keep all of that.
pub(crate) trait Lasting {
    /// The same in room of its own.
    fn lasting(self) -> Self;
}

impl Lasting for bool {
    fn lasting(self) -> Self {
        self
    }
}

impl Lasting for OrderedMap<Raw> {
    fn lasting(mut self) -> Self {
        self.iter_mut().for_each(|(_, value)| *value = value.settled());
        self
    }
}

impl<T: FromRaw + Lasting> Slot for Declared<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        let mut again = reader.clone();
        self.0 = match T::read(reader) {
            Ok(declared) => Some(declared.lasting()),
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

/// One content block, or a list of them.
pub(crate) struct Blocks<T>(pub(crate) Option<Vec<T>>);

impl<T: FromRaw> Slot for Blocks<T> {
    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Mismatch> {
        self.0 = Some(match reader.first_byte() {
            b'{' => vec![T::read(reader)?],
            b'[' => Vec::read(reader)?,
            _ => return Err(reader.type_mismatch("a content block or a list of them")),
        });
        Ok(())
    }
}
