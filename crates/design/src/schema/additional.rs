//! Closes nested objects: at every level of a tool's arguments, members that the schema does not name are refused.
//!
//! Invariants: an object that says itself whether it takes other members is left as it is; no value is refused that has
//! only members which the schema names. `additionalProperties` sees the `properties` beside it and nothing else, so an
//! object that is composed (`$ref` or `allOf` beside `properties`, a flattened enum) is closed as a whole with
//! `unevaluatedProperties`, and its parts stay open.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::defs::name_of;
use super::passes::absorb;
use super::simplify::{NOTES, names};

/// Keywords that apply other schemas to the same value.
const IN_PLACE: [&str; 9] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];

/// Closes all objects below the root, which says itself whether it takes other members.
pub(super) fn close_objects(root: &mut Value, defs: &mut Map<String, Value>) {
    let composed = composed_defs(root, defs);
    let open = defs.clone();
    let closing = Closing { defs: &open, composed };
    closing.close(root, true);
    for (name, def) in defs.iter_mut() {
        closing.close(def, !closing.composed.contains(name));
    }
}

struct Closing<'a> {
    /// The definitions before anything was closed.
    defs: &'a Map<String, Value>,
    /// Definitions that are only part of an object somewhere. They stay open, and each reference closes itself.
    composed: BTreeSet<String>,
}

/// What a schema says about the members of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Members {
    /// No object fits the schema.
    NoObject,
    /// All members are named.
    Named,
    /// Other members may be meant.
    Any,
}

impl Closing<'_> {
    /// Closes a schema and everything in it. `is_whole` unless another schema describes the same value.
    fn close(&self, schema: &mut Value, is_whole: bool) {
        let Value::Object(map) = schema else { return };
        fold_all_of(map);
        let is_whole = is_whole && !says_itself(map);
        let is_choice = is_choice(map);
        for (place, part) in parts_mut(map) {
            self.close(part, place.is_whole(is_whole && is_choice));
        }
        if !is_whole || is_choice {
            return;
        }
        let is_composed = IN_PLACE.iter().any(|key| map.contains_key(*key));
        let closes = match reference(map) {
            Some(name) if is_plain_reference(map) => {
                self.composed.contains(&name) && self.members(map, &mut BTreeSet::new()) == Members::Named
            }
            _ => self.members(map, &mut BTreeSet::new()) == Members::Named,
        };
        if closes {
            let key = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
            map.insert(key.into(), Value::Bool(false));
        }
    }

    /// What a schema and those it applies in place say about members. `seen` has the references that were followed.
    fn members(&self, map: &Map<String, Value>, seen: &mut BTreeSet<String>) -> Members {
        if map.get("type").is_some_and(|kind| kind != "object") || map.contains_key("enum") {
            return Members::NoObject;
        }
        match map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties")) {
            Some(Value::Bool(false)) => return Members::Named,
            Some(_) => return Members::Any,
            None => {}
        }
        if ["$dynamicRef", "if", "then", "else", "dependentSchemas"].iter().any(|key| map.contains_key(*key))
        {
            return Members::Any;
        }
        let mut found = Vec::new();
        if let Some(name) = reference(map) {
            found.push(match self.defs.get(&name) {
                Some(_) if seen.contains(&name) => Members::NoObject,
                Some(def) => {
                    seen.insert(name);
                    self.members_of(def, seen)
                }
                None => Members::Any,
            });
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let parts = map.get(key).and_then(Value::as_array).into_iter().flatten();
            found.extend(parts.map(|part| self.members_of(part, seen)));
        }
        let is_composed = !found.is_empty();
        let has_names = ["properties", "patternProperties"]
            .iter()
            .any(|key| map.get(*key).and_then(Value::as_object).is_some_and(|names| !names.is_empty()));
        if has_names && (is_composed || !has_only_a_tag(map)) {
            found.push(Members::Named);
        }
        found.into_iter().max().unwrap_or(Members::Any)
    }

    fn members_of(&self, schema: &Value, seen: &mut BTreeSet<String>) -> Members {
        match schema {
            Value::Object(map) => self.members(map, seen),
            _ => Members::Any,
        }
    }
}

/// Whether the only member is a tag. schemars writes a variant without fields and one that holds any object (a
/// `serde_json::Value`, an empty struct) the same, so neither can be closed.
fn has_only_a_tag(map: &Map<String, Value>) -> bool {
    let Some(properties) = map.get("properties").and_then(Value::as_object) else { return false };
    let is_fixed = |schema: &Value| match schema.get("enum") {
        Some(Value::Array(values)) => values.len() == 1,
        _ => schema.get("const").is_some(),
    };
    let required = names(map, "required");
    properties.len() == 1
        && properties.iter().all(|(name, schema)| required.contains(name) && is_fixed(schema))
}

fn says_itself(map: &Map<String, Value>) -> bool {
    map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties")
}

fn reference(map: &Map<String, Value>) -> Option<String> {
    map.get("$ref").and_then(Value::as_str).and_then(name_of)
}

/// How many keywords say which members an object has.
fn shaping(map: &Map<String, Value>) -> usize {
    let is_shaping = |key: &str| {
        IN_PLACE.contains(&key) || matches!(key, "properties" | "patternProperties" | "additionalProperties")
    };
    map.keys().filter(|key| is_shaping(key)).count()
}

/// Whether a reference is all that says which members there are.
fn is_plain_reference(map: &Map<String, Value>) -> bool {
    map.contains_key("$ref") && shaping(map) == 1
}

/// Whether a choice is all that says which members there are: each branch then describes the whole value.
fn is_choice(map: &Map<String, Value>) -> bool {
    (map.contains_key("anyOf") || map.contains_key("oneOf")) && shaping(map) == 1
}

/// How a part of a schema relates to the value of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The part describes a member or an item.
    Below,
    /// The part is a branch of a choice that describes the same value.
    Choice,
    /// The part describes the same value.
    Beside,
}

impl Place {
    /// Whether a part is all that describes its value. `is_choice` when the branches of a choice are.
    fn is_whole(self, is_choice: bool) -> bool {
        match self {
            Self::Below => true,
            Self::Choice => is_choice,
            Self::Beside => false,
        }
    }
}

/// What a keyword holds, except those whose schemas would accept other values when closed (`not`, `if`, `contains`).
fn place(keyword: &str) -> Option<Place> {
    match keyword {
        "properties"
        | "patternProperties"
        | "prefixItems"
        | "items"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems" => Some(Place::Below),
        "anyOf" | "oneOf" => Some(Place::Choice),
        "allOf" | "then" | "else" | "dependentSchemas" => Some(Place::Beside),
        _ => None,
    }
}

/// Whether a keyword holds schemas by name.
fn holds_names(keyword: &str) -> bool {
    matches!(keyword, "properties" | "patternProperties" | "dependentSchemas")
}

/// The schemas in a schema.
fn parts(map: &Map<String, Value>) -> Vec<(Place, &Value)> {
    let mut found = Vec::new();
    for (key, value) in map {
        let Some(place) = place(key) else { continue };
        match (holds_names(key), value) {
            (true, Value::Object(parts)) => found.extend(parts.values().map(|part| (place, part))),
            (_, Value::Array(parts)) => found.extend(parts.iter().map(|part| (place, part))),
            (_, part) => found.push((place, part)),
        }
    }
    found
}

/// The schemas in a schema, to be changed.
fn parts_mut(map: &mut Map<String, Value>) -> Vec<(Place, &mut Value)> {
    let mut found = Vec::new();
    for (key, value) in map {
        let Some(place) = place(key) else { continue };
        match (holds_names(key), value) {
            (true, Value::Object(parts)) => found.extend(parts.values_mut().map(|part| (place, part))),
            (_, Value::Array(parts)) => found.extend(parts.iter_mut().map(|part| (place, part))),
            (_, part) => found.push((place, part)),
        }
    }
    found
}

/// The definitions that describe a value together with another schema.
fn composed_defs(root: &Value, defs: &Map<String, Value>) -> BTreeSet<String> {
    let mut composed = BTreeSet::new();
    loop {
        let before = composed.len();
        collect_composed(root, true, &mut composed);
        for (name, def) in defs {
            let is_whole = !composed.contains(name);
            collect_composed(def, is_whole, &mut composed);
        }
        if composed.len() == before {
            return composed;
        }
    }
}

fn collect_composed(schema: &Value, is_whole: bool, composed: &mut BTreeSet<String>) {
    let Value::Object(map) = schema else { return };
    let is_whole = is_whole && !says_itself(map);
    if let Some(name) = reference(map)
        && !(is_plain_reference(map)
            && (is_whole || map.get("unevaluatedProperties") == Some(&Value::Bool(false))))
    {
        composed.insert(name);
    }
    let is_choice = is_choice(map);
    for (place, part) in parts(map) {
        collect_composed(part, place.is_whole(is_whole && is_choice), composed);
    }
}

/// Writes an `allOf` of plain objects as one object: a tag beside the fields of a struct is how schemars writes a
/// variant that holds that struct.
fn fold_all_of(map: &mut Map<String, Value>) {
    let is_plain = |part: &Value| {
        let is_known = |(key, value): (&String, &Value)| match key.as_str() {
            "type" => value == "object",
            "additionalProperties" => *value == Value::Bool(true),
            "properties" | "required" => true,
            key => NOTES.contains(&key),
        };
        part.as_object().is_some_and(|part| part.iter().all(is_known))
    };
    let is_object = map.get("type").is_none_or(|kind| kind == "object");
    let Some(Value::Array(parts)) = map.get("allOf") else { return };
    if !is_object || says_itself(map) || !parts.iter().all(is_plain) {
        return;
    }
    if let Some(Value::Array(parts)) = map.remove("allOf") {
        for part in parts {
            if let Value::Object(part) = part {
                absorb(map, part);
            }
        }
    }
}

#[cfg(test)]
mod tests;
