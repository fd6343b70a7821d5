//! Closes nested objects: members that the schema does not name are rejected at every level of a tool's arguments.
//!
//! Invariants: objects with `additionalProperties` or `unevaluatedProperties` are unchanged; values that have only named
//! members stay valid. `additionalProperties` considers only the `properties` beside it, so a composed object (`$ref` or
//! `allOf` beside `properties`, a flattened enum) is closed as a whole with `unevaluatedProperties`, and its parts stay open.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::normalize::merge_object;
use super::pool::definition_name;
use super::simplify::{ANNOTATIONS, string_list};

/// Keywords that apply subschemas to the same value.
const IN_PLACE_APPLICATORS: [&str; 9] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];

/// Closes all objects below the root. The root has `additionalProperties` already.
pub(super) fn close_objects(root: &mut Value, defs: &mut Map<String, Value>) {
    let composed = composed_defs(root, defs);
    let original_defs = defs.clone();
    let closer = ObjectCloser { defs: &original_defs, composed };
    closer.close(root, true);
    for (name, def) in defs.iter_mut() {
        closer.close(def, !closer.composed.contains(name));
    }
}

struct ObjectCloser<'a> {
    /// The definitions before any object was closed.
    defs: &'a Map<String, Value>,
    /// Definitions that some schema combines with others. They stay open, and each reference to them is closed instead.
    composed: BTreeSet<String>,
}

/// Whether a schema names all members of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MemberCoverage {
    /// The schema accepts no object.
    NoObject,
    /// All members are named.
    AllNamed,
    /// Other members may be intended.
    Any,
}

impl ObjectCloser<'_> {
    /// Closes a schema and its subschemas. `is_whole` is false if another schema applies to the same value.
    fn close(&self, schema: &mut Value, is_whole: bool) {
        let Value::Object(map) = schema else { return };
        merge_all_of(map);
        let is_whole = is_whole && !is_explicit(map);
        let is_choice = is_choice(map);
        for (position, part) in subschemas_mut(map) {
            self.close(part, position.is_whole(is_whole && is_choice));
        }
        if !is_whole || is_choice {
            return;
        }
        let is_composed = IN_PLACE_APPLICATORS.iter().any(|key| map.contains_key(*key));
        let is_closable = match reference(map) {
            Some(name) if is_plain_reference(map) => {
                self.composed.contains(&name)
                    && self.coverage(map, &mut BTreeSet::new()) == MemberCoverage::AllNamed
            }
            _ => self.coverage(map, &mut BTreeSet::new()) == MemberCoverage::AllNamed,
        };
        if is_closable {
            let key = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
            map.insert(key.into(), Value::Bool(false));
        }
    }

    /// Returns the coverage of a schema and the schemas it applies in place. `seen` has the references followed so far.
    fn coverage(&self, map: &Map<String, Value>, seen: &mut BTreeSet<String>) -> MemberCoverage {
        if map.get("type").is_some_and(|kind| kind != "object") || map.contains_key("enum") {
            return MemberCoverage::NoObject;
        }
        match map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties")) {
            Some(Value::Bool(false)) => return MemberCoverage::AllNamed,
            Some(_) => return MemberCoverage::Any,
            None => {}
        }
        if ["$dynamicRef", "if", "then", "else", "dependentSchemas"].iter().any(|key| map.contains_key(*key))
        {
            return MemberCoverage::Any;
        }
        let mut found = Vec::new();
        if let Some(name) = reference(map) {
            found.push(match self.defs.get(&name) {
                Some(_) if seen.contains(&name) => MemberCoverage::NoObject,
                Some(def) => {
                    seen.insert(name);
                    self.coverage_of(def, seen)
                }
                None => MemberCoverage::Any,
            });
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let parts = map.get(key).and_then(Value::as_array).into_iter().flatten();
            found.extend(parts.map(|part| self.coverage_of(part, seen)));
        }
        let is_composed = !found.is_empty();
        let names_members = ["properties", "patternProperties"]
            .iter()
            .any(|key| map.get(*key).and_then(Value::as_object).is_some_and(|names| !names.is_empty()));
        if names_members && (is_composed || !has_only_a_tag(map)) {
            found.push(MemberCoverage::AllNamed);
        }
        found.into_iter().max().unwrap_or(MemberCoverage::Any)
    }

    fn coverage_of(&self, schema: &Value, seen: &mut BTreeSet<String>) -> MemberCoverage {
        match schema {
            Value::Object(map) => self.coverage(map, seen),
            _ => MemberCoverage::Any,
        }
    }
}

/// Returns whether the only member is a tag. schemars gives the same schema to a variant without fields and to one that
/// holds an arbitrary object (a `serde_json::Value`, an empty struct), so neither can be closed.
fn has_only_a_tag(map: &Map<String, Value>) -> bool {
    let Some(properties) = map.get("properties").and_then(Value::as_object) else { return false };
    let is_fixed = |schema: &Value| match schema.get("enum") {
        Some(Value::Array(values)) => values.len() == 1,
        _ => schema.get("const").is_some(),
    };
    let required = string_list(map, "required");
    properties.len() == 1
        && properties.iter().all(|(name, schema)| required.contains(name) && is_fixed(schema))
}

/// Returns whether a schema says itself if it accepts other members.
fn is_explicit(map: &Map<String, Value>) -> bool {
    map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties")
}

fn reference(map: &Map<String, Value>) -> Option<String> {
    map.get("$ref").and_then(Value::as_str).and_then(definition_name)
}

/// Returns the number of keywords that determine the members of an object.
fn count_member_keywords(map: &Map<String, Value>) -> usize {
    let is_member_keyword = |key: &str| {
        IN_PLACE_APPLICATORS.contains(&key)
            || matches!(key, "properties" | "patternProperties" | "additionalProperties")
    };
    map.keys().filter(|key| is_member_keyword(key)).count()
}

/// Returns whether a reference alone determines the members.
fn is_plain_reference(map: &Map<String, Value>) -> bool {
    map.contains_key("$ref") && count_member_keywords(map) == 1
}

/// Returns whether a choice alone determines the members, so that each branch describes the whole value.
fn is_choice(map: &Map<String, Value>) -> bool {
    (map.contains_key("anyOf") || map.contains_key("oneOf")) && count_member_keywords(map) == 1
}

/// The position of a subschema relative to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubschemaPosition {
    /// It describes a member or an item.
    Child,
    /// It is a branch of a choice and describes the same value.
    Branch,
    /// It describes the same value, together with its siblings.
    InPlace,
}

impl SubschemaPosition {
    /// Returns whether a subschema alone describes its value. `is_choice` is true if a branch of a choice does.
    fn is_whole(self, is_choice: bool) -> bool {
        match self {
            Self::Child => true,
            Self::Branch => is_choice,
            Self::InPlace => false,
        }
    }
}

/// Returns the position of the subschemas of a keyword; `None` for keywords whose schemas must not be closed because that
/// would accept more values (`not`, `if`, `contains`).
fn position_of(keyword: &str) -> Option<SubschemaPosition> {
    match keyword {
        "properties"
        | "patternProperties"
        | "prefixItems"
        | "items"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems" => Some(SubschemaPosition::Child),
        "anyOf" | "oneOf" => Some(SubschemaPosition::Branch),
        "allOf" | "then" | "else" | "dependentSchemas" => Some(SubschemaPosition::InPlace),
        _ => None,
    }
}

/// Returns whether a keyword contains schemas by name.
fn is_schema_map(keyword: &str) -> bool {
    matches!(keyword, "properties" | "patternProperties" | "dependentSchemas")
}

/// Returns the subschemas of a schema.
fn subschemas(map: &Map<String, Value>) -> Vec<(SubschemaPosition, &Value)> {
    let mut found = Vec::new();
    for (key, value) in map {
        let Some(position) = position_of(key) else { continue };
        match (is_schema_map(key), value) {
            (true, Value::Object(parts)) => found.extend(parts.values().map(|part| (position, part))),
            (_, Value::Array(parts)) => found.extend(parts.iter().map(|part| (position, part))),
            (_, part) => found.push((position, part)),
        }
    }
    found
}

/// Returns the subschemas of a schema, mutably.
fn subschemas_mut(map: &mut Map<String, Value>) -> Vec<(SubschemaPosition, &mut Value)> {
    let mut found = Vec::new();
    for (key, value) in map {
        let Some(position) = position_of(key) else { continue };
        match (is_schema_map(key), value) {
            (true, Value::Object(parts)) => found.extend(parts.values_mut().map(|part| (position, part))),
            (_, Value::Array(parts)) => found.extend(parts.iter_mut().map(|part| (position, part))),
            (_, part) => found.push((position, part)),
        }
    }
    found
}

/// Returns the definitions that some schema combines with others.
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
    let is_whole = is_whole && !is_explicit(map);
    if let Some(name) = reference(map)
        && !(is_plain_reference(map)
            && (is_whole || map.get("unevaluatedProperties") == Some(&Value::Bool(false))))
    {
        composed.insert(name);
    }
    let is_choice = is_choice(map);
    for (position, part) in subschemas(map) {
        collect_composed(part, position.is_whole(is_whole && is_choice), composed);
    }
}

/// Merges an `allOf` of plain objects to one object. schemars generates it for an enum variant that holds a struct: the tag
/// beside the fields.
fn merge_all_of(map: &mut Map<String, Value>) {
    let is_plain = |part: &Value| {
        let is_mergeable = |(key, value): (&String, &Value)| match key.as_str() {
            "type" => value == "object",
            "additionalProperties" => *value == Value::Bool(true),
            "properties" | "required" => true,
            key => ANNOTATIONS.contains(&key),
        };
        part.as_object().is_some_and(|part| part.iter().all(is_mergeable))
    };
    let is_object = map.get("type").is_none_or(|kind| kind == "object");
    let Some(Value::Array(parts)) = map.get("allOf") else { return };
    if !is_object || is_explicit(map) || !parts.iter().all(is_plain) {
        return;
    }
    if let Some(Value::Array(parts)) = map.remove("allOf") {
        for part in parts {
            if let Value::Object(part) = part {
                merge_object(map, part);
            }
        }
    }
}

#[cfg(test)]
mod tests;
