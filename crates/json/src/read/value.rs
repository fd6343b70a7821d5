//! How scalars, sequences and maps are read.

use crate::map::OrderedMap;
use crate::raw::Raw;
use crate::read::{FromRaw, Mismatch, Reader};

impl FromRaw for Raw {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        Ok(reader.raw())
    }
}

impl FromRaw for String {
    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        reader.string().map(Into::into)
    }
}

impl FromRaw for bool {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        match reader.first() {
            b't' | b'f' => Ok(reader.text() == "true"),
            _ => Err(reader.expected("a boolean")),
        }
    }
}

/// Whole numbers, as they are written without a fraction or an exponent.
macro_rules! whole_numbers {
    ($($type:ident),+) => {$(
        impl FromRaw for $type {
            fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
                let read = reader.clone().text().parse();
                match read {
                    Ok(number) => {
                        reader.pass();
                        Ok(number)
                    }
                    Err(_) => Err(reader.expected(stringify!($type))),
                }
            }
        }
    )+};
}

whole_numbers!(i32, u64);

impl FromRaw for f64 {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        if !matches!(reader.first(), b'-' | b'0'..=b'9') {
            return Err(reader.expected("f64"));
        }
        let start = reader.at();
        match reader.text().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(Mismatch::new(start, "number out of range")),
        }
    }
}

impl<T: FromRaw> FromRaw for Box<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        T::read(reader).map(Box::new)
    }
}

impl<T: FromRaw> FromRaw for Option<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        if reader.null() { Ok(None) } else { T::read(reader).map(Some) }
    }
}

impl<T: FromRaw> FromRaw for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        let mut elements = Self::new();
        reader.each_element(&mut |reader| {
            elements.push(T::read(reader)?);
            Ok(())
        })?;
        Ok(elements)
    }
}

impl<V: FromRaw> FromRaw for OrderedMap<V> {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        let mut entries = Vec::new();
        reader.each_member("a map", &mut |reader, name| {
            entries.push((name.as_str().to_owned(), V::read(reader)?));
            Ok(())
        })?;
        Ok(Self::from(entries))
    }
}
