//! Numbers: lenient parsing of integers, and writing of integral floats without a fraction.
//!
//! Knows nothing of MCP types.

use serde_core::{Serialize, Serializer};

/// 2^53: beyond it not every integer has a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Parses a non-negative integer, also in spellings like `3e3` or `7.0`; `None` for any other value.
pub(crate) fn parse_whole_number(text: &str) -> Option<u64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole, positive and within 2^53"
    )]
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

/// A float that serializes without a fraction if it is integral: `1` instead of `1.0`, which strict peers reject as an
/// integer.
pub(crate) struct CompactNumber(pub(crate) f64);

impl Serialize for CompactNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() <= EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_non_negative_integers_are_parsed() {
        for (text, number) in [
            ("0", Some(0)),
            ("3e3", Some(3000)),
            ("7.0", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("-1", None),
            ("1.5", None),
            ("1e999", None),
            ("\"60\"", None),
            ("null", None),
            ("{}", None),
        ] {
            assert_eq!(parse_whole_number(text), number, "{text}");
        }
    }
}
