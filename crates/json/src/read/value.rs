//! `FromRaw` for scalars, sequences and maps.

use crate::error::DecodeError;
use crate::map::OrderedMap;
use crate::raw::Raw;
use crate::read::{FromRaw, Mismatch, RawReader};

impl FromRaw for Raw {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        Ok(reader.read_raw())
    }

    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(raw.clone())
    }
}

impl FromRaw for String {
    #[inline]
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        reader.read_string().map(Into::into)
    }
}

impl FromRaw for bool {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        match reader.first_byte() {
            b't' | b'f' => Ok(reader.read_text() == "true"),
            _ => Err(reader.type_mismatch("a boolean")),
        }
    }
}

/// Integers without a fraction or an exponent.
macro_rules! integers {
    ($($type:ident),+) => {$(
        impl FromRaw for $type {
            fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
                let read = reader.clone().read_text().parse();
                match read {
                    Ok(number) => {
                        reader.skip();
                        Ok(number)
                    }
                    Err(_) => Err(reader.type_mismatch(stringify!($type))),
                }
            }
        }
    )+};
}

integers!(i32, u64);

impl FromRaw for f64 {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        if !matches!(reader.first_byte(), b'-' | b'0'..=b'9') {
            return Err(reader.type_mismatch("f64"));
        }
        let start = reader.offset();
        match reader.read_text().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(Mismatch::new(start, "number out of range")),
        }
    }
}

impl<T: FromRaw> FromRaw for Box<T> {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        T::read(reader).map(Box::new)
    }
}

impl<T: FromRaw> FromRaw for Option<T> {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        if reader.skip_null() { Ok(None) } else { T::read(reader).map(Some) }
    }
}

impl<T: FromRaw> FromRaw for Vec<T> {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let mut elements = Self::new();
        reader.for_each_element(&mut |reader| {
            elements.push(T::read(reader)?);
            Ok(())
        })?;
        Ok(elements)
    }
}

impl<V: FromRaw> FromRaw for OrderedMap<V> {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let mut entries = Vec::new();
        reader.for_each_member("a map", &mut |reader, name| {
            entries.push((name.as_str().to_owned(), V::read(reader)?));
            Ok(())
        })?;
        Ok(Self::from(entries))
    }
}
