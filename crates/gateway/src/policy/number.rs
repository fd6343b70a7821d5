//! Numbers compared by value: `1`, `1.0` and `1e0` are equal, and no digit is lost to a float.

/// A decimal number of any size, in normal form: equal values are equal structs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DecimalNumber {
    is_negative: bool,
    /// The significant digits, without zeros at either end; empty for zero.
    digits: String,
    /// The power of ten of the last digit; 0 for zero.
    exponent: i64,
}

/// The maximum number of digits of an exponent that is read; more are beyond any type of any peer.
const MAX_EXPONENT_DIGITS: usize = 15;

impl DecimalNumber {
    /// Parses a number as JSON and TOML write it in decimal. Returns `None` if it is not one, or its exponent is absurd.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits: String::new(), exponent: 0 });
        }
        let dropped_zeros = i64::try_from(significant.len() - digits.len()).ok()?;
        let exponent = exponent - i64::try_from(fraction.len()).ok()? + dropped_zeros;
        Some(Self { is_negative, digits: digits.to_owned(), exponent })
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let significant = digits.trim_start_matches('0');
    if digits.is_empty() || significant.len() > MAX_EXPONENT_DIGITS {
        return None;
    }
    let value: i64 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    Some(if text.starts_with('-') { -value } else { value })
}

/// Returns whether two numbers are the same to a peer that reads them as 64-bit floats.
pub(super) fn equal_as_floats(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.to_bits() == other.to_bits() || (one == 0.0 && other == 0.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> DecimalNumber {
        DecimalNumber::parse(text).unwrap()
    }

    #[test]
    fn spellings_of_one_value_are_equal() {
        for text in [
            "1",
            "1.0",
            "1e0",
            "1E+0",
            "10e-1",
            "0.1e1",
            "0.0000000001e10",
            "+1",
            "1.",
            "1e00000000000000000000",
        ] {
            assert_eq!(parse(text), parse("1"), "{text}");
        }
        for text in ["0", "-0", "0.0", "0e999", "-0.0e-5"] {
            assert_eq!(parse(text), parse("0"), "{text}");
        }
        assert_eq!(parse("123e28"), parse("1230000000000000000000000000000"));
    }

    #[test]
    fn different_values_differ() {
        let texts = [
            "1",
            "-1",
            "10",
            "0",
            "1.00000000000000000001",
            "9007199254740992",
            "9007199254740993",
            "1e999",
            "1e1000",
        ];
        for (at, text) in texts.iter().enumerate() {
            assert!(texts[..at].iter().all(|other| parse(other) != parse(text)), "{text}");
        }
    }

    #[test]
    fn other_texts_and_absurd_exponents_are_no_numbers() {
        for text in
            ["", "-", ".", "e1", "1e", "1e+", "0x10", "1_000", "NaN", "inf", " 1", "1e9999999999999999"]
        {
            assert_eq!(DecimalNumber::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_float_reader_confuses_what_is_beyond_its_precision() {
        assert!(equal_as_floats("9007199254740993", "9007199254740992"));
        assert!(equal_as_floats("1.00000000000000000001", "1"));
        assert!(equal_as_floats("1e999", "1e1000"));
        assert!(equal_as_floats("-0", "0"));
        assert!(!equal_as_floats("1", "2"));
    }

    proptest! {
        #[test]
        fn integers_are_equal_exactly_if_their_values_are(one: i64, other: i64, zeros in 0usize..5) {
            let spelled = format!("{one}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(parse(&spelled), parse(&one.to_string()));
            prop_assert_eq!(parse(&spelled) == parse(&other.to_string()), one == other);
        }
    }
}
