//! Request ids: a number or a string, which are distinct (`"92"` is not `92`).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, RawReader, decode_string};

use crate::wire::impl_deserialize;

/// The maximum length of a string id, in bytes.
pub const MAX_ID_BYTES: usize = 128;

/// A JSON-RPC request id. Also the type of progress tokens and subscription ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string.
    String(Arc<str>),
}

impl RequestId {
    /// Parses the JSON text of an id. `7.0` and `7e0` are the integer 7. Returns `None` for a fraction, `null` or any
    /// other value.
    pub fn from_json(text: &str) -> Option<Self> {
        if text.starts_with('"') {
            // Rejects a lone surrogate, which could not be written back.
            let string = decode_string(text)?;
            return (string.len() <= MAX_ID_BYTES).then(|| Self::String((*string).into()));
        }
        text.parse().ok().or_else(|| integral(text)).map(Self::Number)
    }

    /// Returns the number that a string id spells in canonical decimal (`"7"`, not `"07"`, `" 7"` or `"0x7"`): some
    /// servers answer the id 7 with `"7"`.
    pub fn canonical_number(&self) -> Option<i64> {
        let Self::String(text) = self else { return None };
        let number: i64 = text.parse().ok()?;
        // Parsing accepts "+7", "007" and "-0"; writing back does not.
        (number.to_string() == **text).then_some(number)
    }

    /// Appends the JSON text of this id.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        match self {
            Self::Number(number) => write!(out, "{number}").expect("writing to memory does not fail"),
            Self::String(text) => {
                serde_json::to_writer(out, &**text)
                    .expect("a string is always JSON, and memory does not fail");
            }
        }
    }
}

/// Parses an exact integer that is written with a fraction or an exponent.
fn integral(text: &str) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it a float skips integers
    let number: f64 = text.parse().ok()?;
    let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and within 2^53")]
    (plain && number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The discriminant is not hashed: this is on the path of every message, and `Eq` resolves the rare collision.
        match self {
            Self::Number(number) => state.write_i64(*number),
            Self::String(text) => text.hash(state),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl FromRaw for RequestId {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        match Self::from_json(reader.clone().read_text()) {
            Some(id) => {
                reader.skip();
                Ok(id)
            }
            None => Err(reader.type_mismatch("an integer or a string of at most 128 bytes")),
        }
    }
}

impl_deserialize!(RequestId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_are_distinct() {
        assert_ne!(RequestId::from_json("92"), RequestId::from_json("\"92\""));
    }

    #[test]
    fn only_exact_integers_are_numbers() {
        for (text, number) in
            [("7", 7), ("7.0", 7), ("7e0", 7), ("-3", -3), ("9007199254740993", 9007199254740993)]
        {
            assert_eq!(RequestId::from_json(text), Some(RequestId::Number(number)), "{text}");
        }
        for text in ["7.9", "null", "true", "1e300", "99999999999999999999", "{}", "NaN", "inf"] {
            assert_eq!(RequestId::from_json(text), None, "{text}");
        }
    }

    #[test]
    fn only_canonical_decimals_are_tolerated() {
        for (text, number) in
            [("7", Some(7)), ("07", None), (" 7", None), ("0x7", None), ("", None), ("+7", None)]
        {
            assert_eq!(RequestId::from(text).canonical_number(), number, "{text:?}");
        }
    }

    #[test]
    fn a_string_of_more_than_128_bytes_is_rejected() {
        assert!(RequestId::from_json(&format!("\"{}\"", "x".repeat(128))).is_some());
        assert!(RequestId::from_json(&format!("\"{}\"", "x".repeat(129))).is_none());
    }
}
