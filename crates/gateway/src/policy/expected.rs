//! Values that a rule expects of an argument, compared with JSON text in two readings.
//!
//! *Certainly equal*: every peer reads the same value; numbers by value, strings after unescaping. *Possibly equal*:
//! some peer may read it so, because peers coerce `"5"` to 5, `1` to `true`, and round large numbers. An allow rule
//! asks for certainty; a deny rule is content with a possibility.

use switchboard_json::decode_string;
use switchboard_protocol::Raw;

use super::number::{DecimalNumber, equal_as_floats};

/// A value in a rule. TOML has no `null`: a `null` argument counts as missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpectedValue {
    Bool(bool),
    Number { value: DecimalNumber, text: String },
    Text(String),
    Array(Vec<ExpectedValue>),
    Object(Vec<(String, ExpectedValue)>),
}

impl ExpectedValue {
    /// Creates a number from its decimal text, which may have underscores as in TOML.
    pub(super) fn number(text: &str) -> Option<Self> {
        let text = text.replace('_', "");
        Some(Self::Number { value: DecimalNumber::parse(&text)?, text })
    }

    /// Returns whether every peer reads the argument as this value.
    pub(super) fn certainly_equals(&self, found: &Raw) -> bool {
        let text = found.as_str();
        match self {
            Self::Bool(value) => text == if *value { "true" } else { "false" },
            Self::Number { value, .. } => {
                is_number(text) && DecimalNumber::parse(text).as_ref() == Some(value)
            }
            Self::Text(value) => decode_string(text).is_some_and(|found| *found == **value),
            Self::Array(values) => self.compare_elements(values, found, Self::certainly_equals),
            Self::Object(members) => compare_members(members, found, Self::certainly_equals),
        }
    }

    /// Returns whether some peer may read the argument as this value.
    pub(super) fn possibly_equals(&self, found: &Raw) -> bool {
        if self.certainly_equals(found) {
            return true;
        }
        let text = found.as_str();
        match text.as_bytes().first() {
            Some(b'"') => match decode_string(text) {
                Some(string) => self.is_coerced_from(&string),
                // A lone surrogate is replaced by one peer and kept by another.
                None => true,
            },
            Some(b'{' | b'[') => match self {
                Self::Array(values) => self.compare_elements(values, found, Self::possibly_equals),
                Self::Object(members) => compare_members(members, found, Self::possibly_equals),
                // A scalar was expected: a peer that unwraps or joins the container cannot be followed.
                Self::Bool(_) | Self::Number { .. } | Self::Text(_) => true,
            },
            Some(b't' | b'f') => self.is_coerced_from_bool(text == "true"),
            _ => is_number(text) && self.is_coerced_from_number(text),
        }
    }

    fn is_coerced_from(&self, string: &str) -> bool {
        let trimmed = string.trim();
        match self {
            Self::Text(_) => false,
            // To a peer that only asks whether there is a value, even "false" is true.
            Self::Bool(true) => !string.is_empty(),
            Self::Bool(false) => {
                let words = ["", "false", "f", "no", "n", "off", "0"];
                words.iter().any(|word| trimmed.eq_ignore_ascii_case(word))
            }
            Self::Number { .. } => self.is_coerced_from_number(&decimal_text(trimmed)),
            // Some peers parse a string that holds JSON.
            Self::Array(_) | Self::Object(_) => {
                Raw::parse(trimmed.to_owned()).is_ok_and(|parsed| self.possibly_equals(&parsed))
            }
        }
    }

    fn is_coerced_from_bool(&self, found: bool) -> bool {
        match self {
            Self::Number { .. } => self.is_coerced_from_number(if found { "1" } else { "0" }),
            Self::Text(value) => value.eq_ignore_ascii_case(if found { "true" } else { "false" }),
            _ => false,
        }
    }

    fn is_coerced_from_number(&self, found: &str) -> bool {
        let same = |expected: &str| {
            let (one, other) = (DecimalNumber::parse(expected), DecimalNumber::parse(found));
            (one.is_some() && one == other) || equal_as_floats(expected, found)
        };
        match self {
            Self::Number { text, .. } => same(text),
            // Every number but 0 counts as true.
            Self::Bool(value) => *value != same("0"),
            Self::Text(value) => same(value.trim()),
            Self::Array(_) | Self::Object(_) => false,
        }
    }

    fn compare_elements(&self, values: &[Self], found: &Raw, equals: fn(&Self, &Raw) -> bool) -> bool {
        let mut elements = found.elements();
        found.is_array()
            && values.iter().all(|value| elements.next().is_some_and(|element| equals(value, &element)))
            && elements.next().is_none()
    }
}

/// Compares objects whose names are unique: duplicates are refused before.
fn compare_members(
    members: &[(String, ExpectedValue)],
    found: &Raw,
    equals: fn(&ExpectedValue, &Raw) -> bool,
) -> bool {
    let expected = |name: &str| members.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let all_expected =
        found.fields().all(|(name, value)| expected(name.as_str()).is_some_and(|own| equals(own, &value)));
    found.is_object() && found.fields().count() == members.len() && all_expected
}

/// Returns the number in a string as peers read it, in decimal: with underscores, of another radix, and 0 if it is empty. Other
/// strings are returned as they are.
fn decimal_text(string: &str) -> String {
    if string.is_empty() {
        return "0".to_owned();
    }
    let text = string.replace('_', "");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    let radix = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => return text,
    };
    u128::from_str_radix(&digits[2..], radix).map_or(text.clone(), |number| format!("{sign}{number}"))
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    fn number(text: &str) -> ExpectedValue {
        ExpectedValue::number(text).unwrap()
    }

    #[test]
    fn equal_values_are_certain() {
        let text = ExpectedValue::Text("é\"".into());
        assert!(text.certainly_equals(&raw(r#""\u00e9\"""#)));
        assert!(number("1").certainly_equals(&raw("1.0")));
        assert!(number("1_000").certainly_equals(&raw("1e3")));
        assert!(
            number("123456789012345678901234567890").certainly_equals(&raw("123456789012345678901234567890"))
        );
        assert!(!number("9007199254740992").certainly_equals(&raw("9007199254740993")));
        let list = ExpectedValue::Array(vec![number("1"), ExpectedValue::Bool(true)]);
        assert!(list.certainly_equals(&raw("[1, true]")));
        assert!(!list.certainly_equals(&raw("[1, true, 2]")) && !list.certainly_equals(&raw("[1]")));
        let object = ExpectedValue::Object(vec![("a".into(), number("1"))]);
        assert!(object.certainly_equals(&raw(r#"{"\u0061": 1e0}"#)) && !object.certainly_equals(&raw("{}")));
        assert!(!object.certainly_equals(&raw(r#"{"a":1,"b":2}"#)));
    }

    #[test]
    fn coercions_are_possible_and_not_certain() {
        let text = |text: &str| ExpectedValue::Text(text.into());
        for (expected, found) in [
            (number("5"), r#""5""#),
            (number("5"), r#"" +5.0 ""#),
            (number("5000"), r#""5_000""#),
            (number("1"), "true"),
            (number("9007199254740992"), "9007199254740993"),
            (number("1"), "1.00000000000000000001"),
            (number("5"), "[5]"),
            (ExpectedValue::Bool(true), "1"),
            (number("5"), r#""0x5""#),
            (number("-5"), r#""-0B101""#),
            (number("0"), r#"" ""#),
            (ExpectedValue::Bool(true), r#""YES""#),
            (ExpectedValue::Bool(true), r#""false""#),
            (ExpectedValue::Bool(true), r#""anything""#),
            (ExpectedValue::Bool(true), "2"),
            (ExpectedValue::Bool(true), "-0.5"),
            (ExpectedValue::Bool(false), "\"\""),
            (ExpectedValue::Bool(false), "0.0"),
            (ExpectedValue::Bool(false), r#""off""#),
            (text("5"), "5.0"),
            (text("true"), "true"),
            (text("a"), r#"["a"]"#),
            (text("a"), r#""\ud800""#),
            (ExpectedValue::Array(vec![number("1")]), r#""[1]""#),
        ] {
            assert!(expected.possibly_equals(&raw(found)), "{expected:?} {found}");
            assert!(!expected.certainly_equals(&raw(found)), "{expected:?} {found}");
        }
    }

    #[test]
    fn other_values_are_not_possible() {
        for (expected, found) in [
            (number("5"), "6"),
            (number("5"), r#""6""#),
            (ExpectedValue::Bool(true), "false"),
            (ExpectedValue::Bool(true), "0"),
            (ExpectedValue::Bool(true), "\"\""),
            (ExpectedValue::Bool(false), "2"),
            (ExpectedValue::Bool(false), r#""anything""#),
            (number("5"), r#""0x6""#),
            (number("5"), r#""0x""#),
            (ExpectedValue::Text("a".into()), r#""A""#),
            (ExpectedValue::Text("a".into()), "1"),
            (ExpectedValue::Array(vec![number("1")]), "[2]"),
        ] {
            assert!(!expected.possibly_equals(&raw(found)), "{expected:?} {found}");
        }
    }
}
