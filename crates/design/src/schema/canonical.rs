//! Canonical JSON values.

use serde_json::{Map, Value};

/// Sorts the keys of every object, so that equal values have equal texts independent of the features of `serde_json`.
pub fn canonicalize(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(Map::from_iter(members.into_iter().map(|(key, value)| (key, canonicalize(value)))))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonicalize).collect()),
        scalar => scalar,
    }
}
