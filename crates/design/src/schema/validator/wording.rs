//! What an issue says: what is expected, and what was given.

use serde_json::Value;

use super::node::Types;
use crate::repair::Issue;

/// Values of an `enum` that are listed.
const MAX_LISTED: usize = 20;
/// Characters of a value that are shown.
const MAX_SHOWN: usize = 60;

pub(super) fn expected(expected: impl Into<String>, message: impl Into<String>) -> Issue {
    Issue::new("", message).expecting(expected)
}

pub(super) fn got(value: &Value) -> String {
    format!("got {}", shown(value))
}

pub(super) fn wrong_type(types: Types, value: &Value) -> Issue {
    expected(types.words(), got(value))
}

pub(super) fn not_one_of(values: &[Value], value: &Value) -> Issue {
    let listed: Vec<String> = values.iter().take(MAX_LISTED).map(shown).collect();
    let more = values.len().saturating_sub(MAX_LISTED);
    let words = match (values.len(), more) {
        (1, _) => listed.concat(),
        (_, 0) => format!("one of {}", listed.join(", ")),
        _ => format!("one of {} and {more} more", listed.join(", ")),
    };
    expected(words, got(value))
}

/// Scalars as JSON, cut short; the kind of everything else.
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
