//! Scalars that can be mirrored: strings, integers and booleans, looked up by path in a JSON text.
//!
//! Invariants: `42`, `42.0` and `4.2e1` are one integer; `null` and absent are alike. Knows no headers.

use serde_json::value::RawValue;
use switchboard_protocol::Raw;

/// The largest integer that a double represents exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Integer(i128),
    Boolean(bool),
}

/// The result of looking up a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lookup {
    Nothing,
    Scalar(Scalar),
    /// A fraction, an object or an array, which cannot be mirrored.
    Other,
    /// An unpaired surrogate or a duplicate key, which other parsers may read differently.
    Unreadable,
}

impl Scalar {
    /// Returns the text for a header.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Boolean(value) => value.to_string(),
        }
    }

    /// Returns whether the text of a header has this value.
    pub(super) fn matches_text(&self, text: &str) -> bool {
        match self {
            Self::Text(own) => own == text,
            Self::Integer(number) => integer(text) == Some(*number),
            Self::Boolean(value) => text == if *value { "true" } else { "false" },
        }
    }
}

/// Looks up a path of object keys. Only the objects on the path are parsed.
pub(super) fn find(arguments: &str, path: &[String]) -> Lookup {
    let Ok(mut value) = Raw::parse(arguments.to_owned()) else { return Lookup::Unreadable };
    for key in path {
        let next = {
            let mut named = value.fields().filter(|(name, _)| name.as_str() == key).map(|(_, value)| value);
            match (named.next(), named.next()) {
                (None, _) => return Lookup::Nothing,
                (Some(value), None) => value,
                // Parsers differ in which of the two they use.
                (Some(_), Some(_)) => return Lookup::Unreadable,
            }
        };
        value = next;
    }
    read(value.as_str())
}

fn read(text: &str) -> Lookup {
    let scalar = match text.as_bytes().first() {
        Some(b'"') => match serde_json::from_str(text) {
            Ok(text) => Some(Scalar::Text(text)),
            Err(_) => return Lookup::Unreadable,
        },
        Some(b't') => Some(Scalar::Boolean(true)),
        Some(b'f') => Some(Scalar::Boolean(false)),
        Some(b'-' | b'0'..=b'9') => integer(text).map(Scalar::Integer),
        Some(b'n') | None => return Lookup::Nothing,
        Some(_) => None,
    };
    scalar.map_or(Lookup::Other, Lookup::Scalar)
}

/// Parses a JSON number as an integer, if it is one.
fn integer(text: &str) -> Option<i128> {
    // Only JSON numbers: Rust's parser also accepts `inf` and `+1`.
    serde_json::from_str::<&RawValue>(text).ok().filter(|raw| raw.get().len() == text.len())?;
    if let Ok(number) = text.parse::<i128>() {
        return Some(number);
    }
    let number: f64 = text.parse().ok()?;
    let exact = number.fract() == 0.0 && number.abs() <= MAX_EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is within 53 bits")]
    exact.then_some(number as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_path() {
        let arguments =
            r#" {"s":"ä\n","n":42,"f":42.0,"e":1e2,"x":4.5,"b":false,"z":null,"o":{"p":{"q":-7}},"a":[1]} "#;
        let text = |text: &str| Lookup::Scalar(Scalar::Text(text.into()));
        let number = |number| Lookup::Scalar(Scalar::Integer(number));
        let cases: [(&[&str], Lookup); 13] = [
            (&["s"], text("ä\n")),
            (&["n"], number(42)),
            (&["f"], number(42)),
            (&["e"], number(100)),
            (&["x"], Lookup::Other),
            (&["b"], Lookup::Scalar(Scalar::Boolean(false))),
            (&["z"], Lookup::Nothing),
            (&["o", "p", "q"], number(-7)),
            (&["o", "p"], Lookup::Other),
            (&["o", "q"], Lookup::Nothing),
            (&["s", "t"], Lookup::Nothing),
            (&["a"], Lookup::Other),
            (&["missing"], Lookup::Nothing),
        ];
        for (path, expected) in cases {
            let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(find(arguments, &path), expected, "{path:?}");
        }
        assert_eq!(find("not json", &["a".into()]), Lookup::Unreadable);
    }

    #[test]
    fn integers_are_compared_as_numbers_and_nothing_else_is() {
        let number = Scalar::Integer(42);
        for same in ["42", "42.0", "4.2e1", "420e-1"] {
            assert!(number.matches_text(same), "{same}");
        }
        for other in ["43", "42.5", "+42", "042", "0x2a", " 42", "42 ", "", "inf", "NaN", "1e999", "\"42\""] {
            assert!(!number.matches_text(other), "{other:?}");
        }
        assert!(Scalar::Integer(9_007_199_254_740_993).matches_text("9007199254740993"));
        assert!(!Scalar::Integer(9_007_199_254_740_992).matches_text("9007199254740993"));
        assert!(
            Scalar::Text("42".into()).matches_text("42") && !Scalar::Text("42".into()).matches_text("42.0")
        );
        assert!(Scalar::Boolean(true).matches_text("true") && !Scalar::Boolean(true).matches_text("True"));
    }
}
