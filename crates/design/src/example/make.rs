//! A value made from a schema.
//!
//! Every way to make one is tried in a fixed order, and the first whose value fits is taken. The work is bounded: a schema
//! that takes more gets what was found so far.

use std::cell::Cell;

use serde_json::{Map, Number, Value, json};

use super::text;
use crate::schema::misfits;

/// Lists deeper than this are empty where they may be.
const MOST_DEPTH: usize = 3;
/// Nothing is made deeper than this: a type that needs itself has no value.
const NO_DEEPER: usize = 24;
/// So many values are tried at most.
const MOST_TRIES: usize = 4_000;

/// A value for a schema that stands on its own; null when none was found.
pub(super) fn value(schema: &Value) -> Value {
    let maker = Maker { defs: schema.get("$defs").cloned(), tries: Cell::new(0) };
    maker.make(schema, Turn { depth: 0, nth: 0 }).unwrap_or(Value::Null)
}

struct Maker {
    defs: Option<Value>,
    tries: Cell<usize>,
}

/// How deep a value is, and which of several different ones it is to be.
#[derive(Clone, Copy)]
struct Turn {
    depth: usize,
    nth: usize,
}

impl Turn {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, nth: 0 }
    }
}

impl Maker {
    /// The first value that fits.
    fn make(&self, schema: &Value, turn: Turn) -> Option<Value> {
        if self.tries.replace(self.tries.get() + 1) > MOST_TRIES || turn.depth > NO_DEEPER {
            return None;
        }
        let map = match schema {
            Value::Bool(false) => return None,
            Value::Object(map) => map,
            _ => return Some(json!("text")),
        };
        if let Some(whole) = self.referred(map) {
            return self.make(&whole, Turn { depth: turn.depth + 1, ..turn });
        }
        let fits = |value: &Value| self.fits(schema, value);
        let own = map.get("examples").and_then(Value::as_array).into_iter().flatten();
        let own = own.chain(map.get("default")).chain(map.get("const"));
        let own = own.chain(map.get("enum").and_then(Value::as_array).into_iter().flatten());
        if let Some(found) = own.filter(|value| fits(value)).nth(turn.nth) {
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
                members.iter().for_each(|member| combine(&mut rest, &self.whole(member)));
                return self.make(&Value::Object(rest), turn).filter(fits);
            }
            return members.iter().find_map(|member| {
                let mut one = rest.clone();
                combine(&mut one, &self.whole(member));
                self.make(&Value::Object(one), turn).filter(fits)
            });
        }
        let kinds: Vec<&str> = match map.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => vec![implied(map)],
        };
        kinds.into_iter().find_map(|kind| self.of(kind, map, turn).filter(fits))
    }

    fn of(&self, kind: &str, map: &Map<String, Value>, turn: Turn) -> Option<Value> {
        match kind {
            "object" => self.object(map, turn),
            "array" => self.array(map, turn),
            "string" => Some(text::value(map, turn.nth).into()),
            "integer" => integer(map, turn.nth),
            "number" => integer(map, turn.nth)
                .filter(|value| self.fits(&map.clone().into(), value))
                .or_else(|| number(map)),
            "boolean" => Some(Value::Bool(turn.nth == 0)),
            _ => Some(Value::Null),
        }
    }

    fn object(&self, map: &Map<String, Value>, turn: Turn) -> Option<Value> {
        let properties = map.get("properties").and_then(Value::as_object);
        let others = map.get("additionalProperties").unwrap_or(&Value::Bool(true));
        let mut members = Map::new();
        for name in
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(others);
            members.insert(name.to_owned(), self.make(schema, turn.inner())?);
        }
        let least = count(map, "minProperties").unwrap_or(0);
        for (name, schema) in properties.into_iter().flatten() {
            if members.len() < least
                && !members.contains_key(name)
                && let Some(value) = self.make(schema, turn.inner())
            {
                members.insert(name.clone(), value);
            }
        }
        for number in 1.. {
            if members.len() >= least {
                break;
            }
            members.insert(format!("key{number}"), self.make(others, turn.inner())?);
        }
        Some(Value::Object(members))
    }

    fn array(&self, map: &Map<String, Value>, turn: Turn) -> Option<Value> {
        let least = count(map, "minItems").unwrap_or(0);
        let most = count(map, "maxItems").unwrap_or(usize::MAX);
        let first = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = map.get("items").or(map.get("contains")).unwrap_or(&Value::Bool(true));
        let wanted = if turn.depth < MOST_DEPTH { least.max(1) } else { least };
        let wanted = wanted.max(first.len().min(most)).min(most);
        let differ = map.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for at in 0..wanted {
            let schema = first.get(at).unwrap_or(rest);
            let nth = if differ { items.len() } else { 0 };
            match self.make(schema, Turn { nth: nth + turn.nth, ..turn.inner() }) {
                Some(item) => items.push(item),
                None if items.len() >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    fn referred(&self, map: &Map<String, Value>) -> Option<Value> {
        let name = crate::schema::referred_name(map.get("$ref")?.as_str()?)?;
        let mut whole = map.clone();
        whole.remove("$ref");
        combine(&mut whole, self.defs.as_ref()?.get(&name)?);
        Some(Value::Object(whole))
    }

    fn whole(&self, schema: &Value) -> Value {
        schema.as_object().and_then(|map| self.referred(map)).unwrap_or_else(|| schema.clone())
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut schema = schema.clone();
        if let (Value::Object(map), Some(defs)) = (&mut schema, &self.defs) {
            map.entry("$defs").or_insert_with(|| defs.clone());
        }
        misfits(&schema, value).is_empty()
    }
}

/// The type that the words of a schema are about.
fn implied(map: &Map<String, Value>) -> &'static str {
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

/// Adds what another schema asks as well.
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
            ("properties", Value::Object(known), Value::Object(more)) => {
                for (name, schema) in more {
                    let both = match known.remove(name) {
                        Some(one) if one != *schema => json!({"allOf": [one, schema]}),
                        _ => schema.clone(),
                    };
                    known.insert(name.clone(), both);
                }
            }
            ("required" | "allOf", Value::Array(known), Value::Array(more)) => {
                known.extend(more.iter().cloned())
            }
            ("enum", Value::Array(known), Value::Array(more)) => known.retain(|value| more.contains(value)),
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

/// The bounds of a whole number, both included.
fn whole_bounds(map: &Map<String, Value>) -> (Option<i128>, Option<i128>) {
    let whole = |key: &str, round: fn(f64) -> f64| {
        let number = map.get(key)?.as_number()?;
        Some(number.as_i128().unwrap_or_else(|| round(number.as_f64().unwrap_or(0.0)) as i128))
    };
    let least = whole("minimum", f64::ceil)
        .into_iter()
        .chain(whole("exclusiveMinimum", f64::floor).map(|n| n + 1))
        .max();
    let most = whole("maximum", f64::floor)
        .into_iter()
        .chain(whole("exclusiveMaximum", f64::ceil).map(|n| n - 1))
        .min();
    (least, most)
}

/// One, or what is nearest to it within bounds; the next ones count up, or down from the upper bound.
fn integer(map: &Map<String, Value>, nth: usize) -> Option<Value> {
    let (least, most) = whole_bounds(map);
    let step = map.get("multipleOf").and_then(Value::as_number);
    let step = step.and_then(Number::as_i128).filter(|step| *step > 0).unwrap_or(1);
    let start = 1.max(least.unwrap_or(1)).min(most.unwrap_or(i128::MAX));
    let mut found = start.div_euclid(step) * step;
    if found < start || found == 0 {
        found += step;
    }
    if most.is_some_and(|most| found > most) {
        found = start.div_euclid(step) * step;
    }
    let nth = nth as i128 * step;
    let found = match most {
        Some(most) if found + nth > most => found - nth,
        _ => found + nth,
    };
    let number = i64::try_from(found).map(Value::from).or_else(|_| u64::try_from(found).map(Value::from));
    number.ok()
}

/// A number with a fraction, for bounds that no whole number is within.
fn number(map: &Map<String, Value>) -> Option<Value> {
    let bound = |keys: [&str; 2]| keys.iter().find_map(|key| map.get(*key)?.as_f64());
    let (least, most) = (bound(["exclusiveMinimum", "minimum"]), bound(["exclusiveMaximum", "maximum"]));
    let found = match (least, most) {
        (Some(least), Some(most)) => least + (most - least) / 2.0,
        (Some(least), None) => least + 0.5,
        (None, Some(most)) => most - 0.5,
        (None, None) => 1.5,
    };
    let step = map.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let found = step.map_or(found, |step| (found / step).round() * step);
    Number::from_f64(found).map(Value::Number)
}
