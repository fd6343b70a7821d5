//! Messages of issues: the expected value and the actual value.

use serde_json::Value;

use super::node::TypeSet;
use crate::repair::Issue;

/// The maximum number of listed `enum` values.
const MAX_LISTED: usize = 20;
/// The maximum number of characters of a value in a message.
const MAX_SHOWN: usize = 60;

pub(super) fn expected(expected: impl Into<String>, message: impl Into<String>) -> Issue {
    Issue::new("", message).with_expected(expected)
}

pub(super) fn got(value: &Value) -> String {
    format!("got {}", shown(value))
}

pub(super) fn wrong_type(types: TypeSet, value: &Value) -> Issue {
    expected(types.description(), got(value))
}

pub(super) fn not_one_of(values: &[Value], value: &Value) -> Issue {
    let listed: Vec<String> = values.iter().take(MAX_LISTED).map(shown).collect();
    let more = values.len().saturating_sub(MAX_LISTED);
    let text = match (values.len(), more) {
        (1, _) => listed.concat(),
        (_, 0) => format!("one of {}", listed.join(", ")),
        _ => format!("one of {} and {more} more", listed.join(", ")),
    };
    expected(text, got(value))
}

/// Describes a value: scalars as truncated JSON, others by their type.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(_) => "an array".into(),
        Value::String(text) if text.chars().nth(MAX_SHOWN).is_some() => {
            let start: String = text.chars().take(MAX_SHOWN).collect();
            format!("{}…", Value::String(start)).replace("\"…", "…\"")
        }
        scalar => scalar.to_string(),
    }
}
