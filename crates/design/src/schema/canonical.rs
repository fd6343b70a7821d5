//! One text for one value.

use serde_json::{Map, Value};

/// The same value with the keys of every object sorted, whatever features `serde_json` was built with.
pub fn canonical(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(Map::from_iter(members.into_iter().map(|(key, value)| (key, canonical(value)))))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        scalar => scalar,
    }
}
