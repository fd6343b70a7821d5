//! Conditions on arguments.
//!
//! A condition of a deny rule holds if a value *may* meet it; a condition of an allow rule holds if all values
//! *certainly* do. A value that cannot be inspected, such as a list where a text is expected, may be anything.

use std::borrow::Cow;

use switchboard_json::decode_string;
use switchboard_protocol::Raw;

use super::argument_path::ArgumentPath;
use super::expected::ExpectedValue;
use super::regex::Regex;
use super::rule::Effect;

/// A condition on the values at a path.
#[derive(Debug, PartialEq)]
pub(super) struct ArgumentCondition {
    pub(super) path: ArgumentPath,
    pub(super) test: ArgumentTest,
    /// Whether the condition holds if the argument is missing or `null`, where the rule says so.
    pub(super) on_missing: Option<bool>,
}

/// The test of a value.
#[derive(Debug, PartialEq)]
pub(super) enum ArgumentTest {
    In(Vec<ExpectedValue>),
    NotIn(Vec<ExpectedValue>),
    Matches(Regex),
    NotMatches(Regex),
    /// The argument is present, with any value.
    Exists,
    /// The argument is missing or `null`.
    Missing,
}

impl ArgumentCondition {
    /// Returns whether the condition holds for these arguments.
    pub(super) fn holds(&self, effect: Effect, arguments: Option<&Raw>) -> bool {
        let arguments = arguments.map_or_else(|| Cow::Owned(Raw::empty_object()), Cow::Borrowed);
        let reached = self.path.values(&arguments);
        let on_missing = self.holds_on_missing(effect);
        match effect {
            Effect::Deny => {
                reached.is_opaque
                    || (reached.is_missing && on_missing)
                    || reached.values.iter().any(|value| self.may_meet(value))
            }
            Effect::Allow => {
                !reached.is_opaque
                    && (!reached.is_missing || on_missing)
                    && reached.values.iter().all(|value| self.certainly_meets(value))
            }
        }
    }

    /// Returns whether no value and no absence can meet the condition.
    pub(super) fn is_unsatisfiable(&self) -> bool {
        matches!(&self.test, ArgumentTest::In(values) if values.is_empty()) && self.on_missing != Some(true)
    }

    fn holds_on_missing(&self, effect: Effect) -> bool {
        let by_default = match self.test {
            ArgumentTest::In(_) | ArgumentTest::Matches(_) | ArgumentTest::Exists => false,
            // Nobody knows the default of the server: it is not shown to be one of the expected values.
            ArgumentTest::NotIn(_) | ArgumentTest::NotMatches(_) => effect == Effect::Deny,
            ArgumentTest::Missing => true,
        };
        self.on_missing.unwrap_or(by_default)
    }

    fn may_meet(&self, value: &Raw) -> bool {
        match &self.test {
            ArgumentTest::In(expected) => expected.iter().any(|expected| expected.possibly_equals(value)),
            ArgumentTest::NotIn(expected) => {
                !expected.iter().any(|expected| expected.certainly_equals(value))
            }
            ArgumentTest::Matches(regex) => text_matches(regex, value) != Some(false),
            ArgumentTest::NotMatches(regex) => text_matches(regex, value) != Some(true),
            ArgumentTest::Exists => true,
            ArgumentTest::Missing => false,
        }
    }

    fn certainly_meets(&self, value: &Raw) -> bool {
        match &self.test {
            ArgumentTest::In(expected) => expected.iter().any(|expected| expected.certainly_equals(value)),
            ArgumentTest::NotIn(expected) => !expected.iter().any(|expected| expected.possibly_equals(value)),
            ArgumentTest::Matches(regex) => text_matches(regex, value) == Some(true),
            ArgumentTest::NotMatches(regex) => text_matches(regex, value) == Some(false),
            ArgumentTest::Exists => true,
            ArgumentTest::Missing => false,
        }
    }
}

/// Matches a string; `None` for any other value, and for a string that cannot be decoded or is too long.
fn text_matches(regex: &Regex, value: &Raw) -> Option<bool> {
    regex.matches(&decode_string(value.as_str())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(test: ArgumentTest, on_missing: Option<bool>) -> ArgumentCondition {
        ArgumentCondition { path: ArgumentPath::parse("a").unwrap(), test, on_missing }
    }

    fn holds(condition: &ArgumentCondition, arguments: &str) -> (bool, bool) {
        let arguments = Raw::parse(arguments.to_owned()).unwrap();
        (condition.holds(Effect::Allow, Some(&arguments)), condition.holds(Effect::Deny, Some(&arguments)))
    }

    fn x() -> Vec<ExpectedValue> {
        vec![ExpectedValue::Text("x".into())]
    }

    #[test]
    fn the_table_of_missing_arguments() {
        let regex = || Regex::new("x").unwrap();
        for (test, on_missing, expected) in [
            (ArgumentTest::In(x()), None, (false, false)),
            (ArgumentTest::In(x()), Some(true), (true, true)),
            (ArgumentTest::Matches(regex()), None, (false, false)),
            (ArgumentTest::NotIn(x()), None, (false, true)),
            (ArgumentTest::NotIn(x()), Some(false), (false, false)),
            (ArgumentTest::NotIn(x()), Some(true), (true, true)),
            (ArgumentTest::NotMatches(regex()), None, (false, true)),
            (ArgumentTest::Exists, None, (false, false)),
            (ArgumentTest::Missing, None, (true, true)),
        ] {
            let condition = condition(test, on_missing);
            for arguments in ["{}", r#"{"a":null}"#] {
                assert_eq!(holds(&condition, arguments), expected, "{condition:?} {arguments}");
            }
            assert_eq!(condition.holds(Effect::Allow, None), expected.0, "no arguments are empty arguments");
        }
    }

    #[test]
    fn a_value_of_another_type_is_denied_and_not_allowed() {
        let matches = condition(ArgumentTest::Matches(Regex::new("x").unwrap()), None);
        assert_eq!(holds(&matches, r#"{"a":"x"}"#), (true, true));
        assert_eq!(holds(&matches, r#"{"a":"y"}"#), (false, false));
        assert_eq!(holds(&matches, r#"{"a":["y"]}"#), (false, true));
        assert_eq!(holds(&matches, r#"{"a":1}"#), (false, true));
        let not_matches = condition(ArgumentTest::NotMatches(Regex::new("x").unwrap()), None);
        assert_eq!(holds(&not_matches, r#"{"a":["y"]}"#), (false, true));
        let not_in = condition(ArgumentTest::NotIn(x()), None);
        assert_eq!(holds(&not_in, r#"{"a":["x"]}"#), (false, true));
        assert_eq!(holds(&not_in, r#"{"a":"y"}"#), (true, true));
    }
}
