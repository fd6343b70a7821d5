//! Synthesizes a value from a schema.
//!
//! Tries candidates in a fixed order and returns the first valid one. The number of attempts is bounded.

use std::cell::Cell;

use serde_json::{Map, Number, Value, json};

use super::string;
use crate::schema::validation_issues;

/// Below this depth, arrays have only the required items.
const MAX_LIST_DEPTH: usize = 3;
/// The maximum depth of a value. A type that requires itself has no finite value.
const MAX_DEPTH: usize = 24;
/// The maximum number of candidates.
const MAX_ATTEMPTS: usize = 4_000;

/// Returns a value of a self-contained schema; null if no valid one was found.
pub(super) fn value(schema: &Value) -> Value {
    let synthesizer = Synthesizer { defs: schema.get("$defs").cloned(), attempts: Cell::new(0) };
    synthesizer.synthesize(schema, ValuePosition { depth: 0, nth: 0 }).unwrap_or(Value::Null)
}

struct Synthesizer {
    defs: Option<Value>,
    attempts: Cell<usize>,
}

/// The depth of a value, and its index among the distinct values of a `uniqueItems` array.
#[derive(Clone, Copy)]
struct ValuePosition {
    depth: usize,
    nth: usize,
}

impl ValuePosition {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, nth: 0 }
    }
}

impl Synthesizer {
    /// Returns the first valid candidate.
    fn synthesize(&self, schema: &Value, position: ValuePosition) -> Option<Value> {
        if self.attempts.replace(self.attempts.get() + 1) > MAX_ATTEMPTS || position.depth > MAX_DEPTH {
            return None;
        }
        let map = match schema {
            Value::Bool(false) => return None,
            Value::Object(map) => map,
            _ => return Some(json!("text")),
        };
        if let Some(resolved) = self.resolve_reference(map) {
            return self.synthesize(&resolved, ValuePosition { depth: position.depth + 1, ..position });
        }
        let is_valid = |value: &Value| self.is_valid(schema, value);
        let own = map.get("examples").and_then(Value::as_array).into_iter().flatten();
        let own = own.chain(map.get("default")).chain(map.get("const"));
        let own = own.chain(map.get("enum").and_then(Value::as_array).into_iter().flatten());
        if let Some(found) = own.filter(|value| is_valid(value)).nth(position.nth) {
            return Some(found.clone());
        }
        if map.contains_key("enum") || map.contains_key("const") {
            return None;
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(members)) = map.get(key) else { continue };
            let mut rest = map.clone();
            rest.remove(key);
            if key == "allOf" {
                members.iter().for_each(|member| combine(&mut rest, &self.resolve(member)));
                return self.synthesize(&Value::Object(rest), position).filter(is_valid);
            }
            return members.iter().find_map(|member| {
                let mut one = rest.clone();
                combine(&mut one, &self.resolve(member));
                self.synthesize(&Value::Object(one), position).filter(is_valid)
            });
        }
        let kinds: Vec<&str> = match map.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => vec![implied_type(map)],
        };
        kinds.into_iter().find_map(|kind| self.value_of_type(kind, map, position).filter(is_valid))
    }

    fn value_of_type(&self, kind: &str, map: &Map<String, Value>, position: ValuePosition) -> Option<Value> {
        match kind {
            "object" => self.object(map, position),
            "array" => self.array(map, position),
            "string" => Some(string::value(map, position.nth).into()),
            "integer" => integer(map, position.nth),
            "number" => integer(map, position.nth)
                .filter(|value| self.is_valid(&map.clone().into(), value))
                .or_else(|| number(map)),
            "boolean" => Some(Value::Bool(position.nth == 0)),
            _ => Some(Value::Null),
        }
    }

    fn object(&self, map: &Map<String, Value>, position: ValuePosition) -> Option<Value> {
        let properties = map.get("properties").and_then(Value::as_object);
        let others = map.get("additionalProperties").unwrap_or(&Value::Bool(true));
        let mut members = Map::new();
        for name in
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(others);
            members.insert(name.to_owned(), self.synthesize(schema, position.inner())?);
        }
        let min = count(map, "minProperties").unwrap_or(0);
        for (name, schema) in properties.into_iter().flatten() {
            if members.len() < min
                && !members.contains_key(name)
                && let Some(value) = self.synthesize(schema, position.inner())
            {
                members.insert(name.clone(), value);
            }
        }
        for number in 1.. {
            if members.len() >= min {
                break;
            }
            members.insert(format!("key{number}"), self.synthesize(others, position.inner())?);
        }
        Some(Value::Object(members))
    }

    fn array(&self, map: &Map<String, Value>, position: ValuePosition) -> Option<Value> {
        let min = count(map, "minItems").unwrap_or(0);
        let max = count(map, "maxItems").unwrap_or(usize::MAX);
        let first = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = map.get("items").or(map.get("contains")).unwrap_or(&Value::Bool(true));
        let wanted = if position.depth < MAX_LIST_DEPTH { min.max(1) } else { min };
        let wanted = wanted.max(first.len().min(max)).min(max);
        let is_unique = map.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for at in 0..wanted {
            let schema = first.get(at).unwrap_or(rest);
            let nth = if is_unique { items.len() } else { 0 };
            match self.synthesize(schema, ValuePosition { nth: nth + position.nth, ..position.inner() }) {
                Some(item) => items.push(item),
                None if items.len() >= min => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    /// Merges the target of a `$ref` with the keywords beside it.
    fn resolve_reference(&self, map: &Map<String, Value>) -> Option<Value> {
        let name = crate::schema::definition_name(map.get("$ref")?.as_str()?)?;
        let mut resolved = map.clone();
        resolved.remove("$ref");
        combine(&mut resolved, self.defs.as_ref()?.get(&name)?);
        Some(Value::Object(resolved))
    }

    fn resolve(&self, schema: &Value) -> Value {
        schema.as_object().and_then(|map| self.resolve_reference(map)).unwrap_or_else(|| schema.clone())
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        let mut schema = schema.clone();
        if let (Value::Object(map), Some(defs)) = (&mut schema, &self.defs) {
            map.entry("$defs").or_insert_with(|| defs.clone());
        }
        validation_issues(&schema, value).is_empty()
    }
}

/// Infers the type from the keywords of a schema without `type`.
fn implied_type(map: &Map<String, Value>) -> &'static str {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    if has(&["properties", "required", "additionalProperties", "minProperties"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "contains"]) {
        "array"
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        "string"
    }
}

/// Merges the constraints of another schema into `map`.
fn combine(map: &mut Map<String, Value>, other: &Value) {
    let Value::Object(other) = other else {
        if *other == Value::Bool(false) {
            map.insert("enum".into(), json!([]));
        }
        return;
    };
    for (key, value) in other {
        let Some(known) = map.get_mut(key) else {
            map.insert(key.clone(), value.clone());
            continue;
        };
        match (key.as_str(), known, value) {
            ("properties", Value::Object(known), Value::Object(extra)) => {
                for (name, schema) in extra {
                    let both = match known.remove(name) {
                        Some(one) if one != *schema => json!({"allOf": [one, schema]}),
                        _ => schema.clone(),
                    };
                    known.insert(name.clone(), both);
                }
            }
            ("required" | "allOf", Value::Array(known), Value::Array(extra)) => {
                known.extend(extra.iter().cloned())
            }
            ("enum", Value::Array(known), Value::Array(extra)) => known.retain(|value| extra.contains(value)),
            ("type", known, value) if known == "number" && value == "integer" => *known = value.clone(),
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", known, value)
                if value.as_f64() > known.as_f64() =>
            {
                *known = value.clone();
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", known, value)
                if value.as_f64() < known.as_f64() =>
            {
                *known = value.clone();
            }
            _ => {}
        }
    }
}

fn count(map: &Map<String, Value>, key: &str) -> Option<usize> {
    map.get(key).and_then(Value::as_f64).map(|count| count as usize)
}

/// Returns the inclusive bounds of an integer.
fn integer_bounds(map: &Map<String, Value>) -> (Option<i128>, Option<i128>) {
    let whole = |key: &str, round: fn(f64) -> f64| {
        let number = map.get(key)?.as_number()?;
        Some(number.as_i128().unwrap_or_else(|| round(number.as_f64().unwrap_or(0.0)) as i128))
    };
    let min = whole("minimum", f64::ceil)
        .into_iter()
        .chain(whole("exclusiveMinimum", f64::floor).map(|n| n + 1))
        .max();
    let max = whole("maximum", f64::floor)
        .into_iter()
        .chain(whole("exclusiveMaximum", f64::ceil).map(|n| n - 1))
        .min();
    (min, max)
}

/// Returns 1 or the nearest integer within bounds. Further values count up, or down if they would exceed the maximum.
fn integer(map: &Map<String, Value>, nth: usize) -> Option<Value> {
    let (min, max) = integer_bounds(map);
    let step = map.get("multipleOf").and_then(Value::as_number);
    let step = step.and_then(Number::as_i128).filter(|step| *step > 0).unwrap_or(1);
    let start = 1.max(min.unwrap_or(1)).min(max.unwrap_or(i128::MAX));
    let mut found = start.div_euclid(step) * step;
    if found < start || found == 0 {
        found += step;
    }
    if max.is_some_and(|max| found > max) {
        found = start.div_euclid(step) * step;
    }
    let nth = nth as i128 * step;
    let found = match max {
        Some(max) if found + nth > max => found - nth,
        _ => found + nth,
    };
    let number = i64::try_from(found).map(Value::from).or_else(|_| u64::try_from(found).map(Value::from));
    number.ok()
}

/// Returns a number with a fraction, for bounds that contain no integer.
fn number(map: &Map<String, Value>) -> Option<Value> {
    let bound = |keys: [&str; 2]| keys.iter().find_map(|key| map.get(*key)?.as_f64());
    let (min, max) = (bound(["exclusiveMinimum", "minimum"]), bound(["exclusiveMaximum", "maximum"]));
    let found = match (min, max) {
        (Some(min), Some(max)) => min + (max - min) / 2.0,
        (Some(min), None) => min + 0.5,
        (None, Some(max)) => max - 0.5,
        (None, None) => 1.5,
    };
    let step = map.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let found = step.map_or(found, |step| (found / step).round() * step);
    Number::from_f64(found).map(Value::Number)
}
