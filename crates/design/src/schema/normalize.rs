//! Normalizes the schema of a Rust type to a schema that every client accepts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::canonicalize;
use super::close_objects::close_objects;
use super::pool::{attach_defs, definition_name, referenced_names};
use super::simplify::{ANNOTATIONS, SchemaRole, is_null, merge, simplify, string_list};

/// The maximum number of JSON nodes after inlining. A larger schema keeps its references.
const MAX_INLINED_NODES: usize = 20_000;

/// The name of the definition for references to the whole document (`#`).
const ROOT_DEFINITION: &str = "Whole";

/// The error for arguments whose schema does not describe an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments must be an object, but the schema describes {found}")]
pub struct NotAnObjectError {
    /// The type that the schema describes.
    pub found: String,
}

/// Normalizes the schema of a tool's arguments.
///
/// The root becomes an object with `properties` and `additionalProperties`, without references and combinations. The
/// branches of a choice at the root are merged; members that not all branches require become optional. Definitions are
/// inlined unless they are recursive. Nested objects are closed unless they have `additionalProperties`, so misspelled
/// members are rejected at every level. See the [module](crate::schema) for the other rules.
///
/// # Errors
/// When the schema does not describe an object.
pub fn normalize_input(schema: Value) -> Result<Value, NotAnObjectError> {
    let (root, mut defs) = inline_references(schema);
    let mut root = flatten(root, &defs, &mut Vec::new())?;
    root.remove("title");
    let is_open = matches!(root.remove("unevaluatedProperties"), Some(Value::Bool(true) | Value::Object(_)));
    root.entry("additionalProperties").or_insert(Value::Bool(is_open));
    root.entry("properties").or_insert_with(|| json!({}));
    root.insert("type".into(), "object".into());
    let mut root = Value::Object(root);
    simplify(&mut root, SchemaRole::Input);
    defs.values_mut().for_each(|def| simplify(def, SchemaRole::Input));
    close_objects(&mut root, &mut defs);
    attach_defs(&mut root, defs);
    Ok(canonicalize(root))
}

/// Normalizes the schema of a result. It can be listed as an output schema if it [is an object](is_object).
pub fn normalize_output(schema: Value) -> Value {
    let (mut root, mut defs) = inline_references(schema);
    while let Some(def) = reference_target(&root, &defs) {
        let Some(map) = root.as_object_mut() else { break };
        map.remove("$ref");
        merge(map, def);
    }
    simplify(&mut root, SchemaRole::Output);
    defs.values_mut().for_each(|def| simplify(def, SchemaRole::Output));
    if let Value::Object(map) = &mut root {
        map.remove("title");
        let is_object_member = |member: &Value| is_object(&resolve(member, &defs));
        let members = ["oneOf", "anyOf"].iter().find_map(|key| map.get(*key)?.as_array());
        let is_union_of_objects =
            members.is_some_and(|members| !members.is_empty() && members.iter().all(is_object_member));
        if is_union_of_objects && !map.contains_key("type") {
            map.insert("type".into(), "object".into());
        }
        if map.get("type").is_some_and(|kind| kind == "object") {
            map.entry("properties").or_insert_with(|| json!({}));
        }
    }
    attach_defs(&mut root, defs);
    canonicalize(root)
}

/// Returns whether a schema has the type `object`.
pub fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// Returns the schema of an object whose only member, `result`, has the given schema.
pub fn wrap_in_result(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let defs = inner.as_object_mut().and_then(|map| map.remove("$defs"));
    let mut outer = json!({"type": "object", "properties": {"result": inner}, "required": ["result"]});
    if let (Some(defs), Some(map)) = (defs, outer.as_object_mut()) {
        map.insert("$defs".into(), defs);
    }
    canonicalize(outer)
}

/// Inlines the definitions that are not recursive. Returns the root and the remaining definitions.
fn inline_references(mut schema: Value) -> (Value, Map<String, Value>) {
    let mut defs = Map::new();
    if let Value::Object(root) = &mut schema {
        root.remove("$schema");
        for key in ["definitions", "$defs"] {
            if let Some(Value::Object(own)) = root.remove(key) {
                defs.extend(own);
            }
        }
    }
    let root_names = (1..).map(|number| {
        format!("{ROOT_DEFINITION}{}", if number == 1 { String::new() } else { number.to_string() })
    });
    let root_name = root_names.into_iter().find(|name| !defs.contains_key(name)).unwrap_or_default();
    let mut has_root_reference = false;
    rewrite_references(&mut schema, &root_name, &mut has_root_reference);
    defs.values_mut().for_each(|def| rewrite_references(def, &root_name, &mut has_root_reference));
    if has_root_reference {
        defs.insert(root_name, schema.clone());
    }
    let inliner = Inliner::new(&defs);
    if inliner.size(&schema) <= MAX_INLINED_NODES {
        inliner.inline(&mut schema);
        let recursive: Vec<String> = inliner.recursive.iter().cloned().collect();
        let mut remaining = Map::new();
        for name in recursive {
            if let Some(mut def) = defs.get(&name).cloned() {
                inliner.inline(&mut def);
                remaining.insert(name, def);
            }
        }
        defs = remaining;
    }
    (schema, defs)
}

/// Rewrites references to `definitions` and to the whole document as references to `$defs`.
fn rewrite_references(value: &mut Value, root_name: &str, has_root_reference: &mut bool) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                if reference == "#" {
                    *reference = format!("#/$defs/{root_name}");
                    *has_root_reference = true;
                } else if let Some(name) = reference.strip_prefix("#/definitions/") {
                    *reference = format!("#/$defs/{name}");
                }
            }
            members.values_mut().for_each(|member| rewrite_references(member, root_name, has_root_reference));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| rewrite_references(item, root_name, has_root_reference))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces references with definitions that are not recursive.
struct Inliner<'a> {
    defs: &'a Map<String, Value>,
    recursive: BTreeSet<String>,
    /// The number of JSON nodes of each definition after inlining.
    sizes: BTreeMap<String, usize>,
}

impl<'a> Inliner<'a> {
    fn new(defs: &'a Map<String, Value>) -> Self {
        let reaches_itself = |name: &&String| {
            let mut seen = BTreeSet::new();
            let mut pending: Vec<String> =
                defs.get(*name).map(referenced_names).into_iter().flatten().collect();
            while let Some(next) = pending.pop() {
                if next == **name {
                    return true;
                }
                if let Some(def) = defs.get(&next)
                    && seen.insert(next)
                {
                    pending.extend(referenced_names(def));
                }
            }
            false
        };
        let recursive = defs.keys().filter(reaches_itself).cloned().collect();
        let mut inliner = Self { defs, recursive, sizes: BTreeMap::new() };
        let mut pending: Vec<&String> =
            defs.keys().filter(|name| !inliner.recursive.contains(*name)).collect();
        // Definitions without unresolved references first. Since none is recursive, there is always one.
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|name| {
                let is_resolved = |other: &String| {
                    inliner.sizes.contains_key(other)
                        || inliner.recursive.contains(other)
                        || !defs.contains_key(other)
                };
                let def = &defs[name.as_str()];
                let is_ready = referenced_names(def).iter().all(is_resolved);
                if is_ready {
                    let size = inliner.size(def);
                    inliner.sizes.insert((*name).clone(), size);
                }
                !is_ready
            });
            if pending.len() == before {
                break;
            }
        }
        inliner
    }

    fn target(&self, members: &Map<String, Value>) -> Option<(String, &'a Map<String, Value>)> {
        let name = definition_name(members.get("$ref")?.as_str()?)?;
        let def = self.defs.get(&name).filter(|_| !self.recursive.contains(&name))?;
        Some((name, def.as_object()?))
    }

    fn size(&self, value: &Value) -> usize {
        match value {
            Value::Object(members) => {
                let target =
                    self.target(members).and_then(|(name, _)| self.sizes.get(&name)).copied().unwrap_or(0);
                members.values().map(|member| self.size(member)).fold(target + 1, usize::saturating_add)
            }
            Value::Array(items) => items.iter().map(|item| self.size(item)).fold(1, usize::saturating_add),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
        }
    }

    fn inline(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                while let Some((_, def)) = self.target(members) {
                    members.remove("$ref");
                    merge(members, def.clone());
                }
                members.values_mut().for_each(|member| self.inline(member));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.inline(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// Returns the target of a `$ref`.
fn reference_target(schema: &Value, defs: &Map<String, Value>) -> Option<Map<String, Value>> {
    let def = defs.get(&definition_name(schema.get("$ref")?.as_str()?)?)?;
    match def {
        Value::Object(def) => Some(def.clone()),
        _ => Some(Map::new()),
    }
}

/// Returns the target of a `$ref`, or the schema itself.
fn resolve(schema: &Value, defs: &Map<String, Value>) -> Value {
    reference_target(schema, defs).map_or_else(|| schema.clone(), Value::Object)
}

/// Flattens references and combinations to one object. `path` has the definitions being visited.
fn flatten(
    schema: Value,
    defs: &Map<String, Value>,
    path: &mut Vec<String>,
) -> Result<Map<String, Value>, NotAnObjectError> {
    let mut map = match schema {
        Value::Bool(true) => return Ok(any_object()),
        // Annotations do not constrain values.
        Value::Object(map) if map.keys().all(|key| ANNOTATIONS.contains(&key.as_str())) => {
            return Ok(map.into_iter().chain(any_object()).collect());
        }
        Value::Object(map) => map,
        other => return Err(NotAnObjectError { found: other.to_string() }),
    };
    if let Some(name) = map.get("$ref").and_then(Value::as_str).and_then(definition_name) {
        let known = defs.get(&name).filter(|_| !path.contains(&name));
        let def = known.ok_or_else(|| NotAnObjectError { found: format!("the unknown type `{name}`") })?;
        path.push(name);
        let def = flatten(def.clone(), defs, path)?;
        path.pop();
        map.remove("$ref");
        merge(&mut map, def);
    }
    let is_object = match map.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    };
    if !is_object || map.contains_key("enum") || map.contains_key("const") || map.contains_key("not") {
        return Err(NotAnObjectError { found: describe_type(&map) });
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(members)) = map.remove(key) else { continue };
        let members: Vec<Map<String, Value>> = members
            .into_iter()
            .filter(|member| key == "allOf" || !is_null(member))
            .map(|member| flatten(member, defs, path))
            .collect::<Result<_, _>>()?;
        if key == "allOf" || members.len() == 1 {
            members.into_iter().for_each(|member| merge_object(&mut map, member));
        } else if !members.is_empty() {
            merge_object(&mut map, union_of(members));
        }
    }
    Ok(map)
}

/// Returns the schema of an arbitrary object.
fn any_object() -> Map<String, Value> {
    Map::from_iter([("additionalProperties".to_owned(), Value::Bool(true))])
}

fn describe_type(map: &Map<String, Value>) -> String {
    match map.get("type") {
        Some(Value::String(kind)) if kind != "object" => format!("a value of type {kind}"),
        _ => "a choice of values".to_owned(),
    }
}

/// Merges the constraints of another object schema into `map`.
pub(super) fn merge_object(map: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (key.as_str(), map.get_mut(&key), value) {
            ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                for (name, schema) in more {
                    let both = match known.remove(&name) {
                        Some(same) if same == schema => same,
                        Some(one) => json!({"allOf": [one, schema]}),
                        None => schema,
                    };
                    known.insert(name, both);
                }
            }
            ("required", Some(Value::Array(known)), Value::Array(more)) => {
                let new: Vec<Value> = more.into_iter().filter(|name| !known.contains(name)).collect();
                known.extend(new);
            }
            // Each schema names its own members; merged, they accept the members of both.
            ("additionalProperties", Some(known), value) if *known == Value::Bool(false) => *known = value,
            (_, Some(_), _) => {}
            (_, None, value) => drop(map.insert(key, value)),
        }
    }
}

/// Returns one object schema that accepts every value that one of the branches accepts.
fn union_of(members: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut properties: Map<String, Value> = Map::new();
    let mut required: Option<Vec<String>> = None;
    let mut others = Value::Bool(false);
    for member in members {
        let needed = string_list(&member, "required");
        required = Some(match required {
            Some(known) => known.into_iter().filter(|name| needed.contains(name)).collect(),
            None => needed,
        });
        for (key, value) in member {
            match (key.as_str(), value) {
                ("properties", Value::Object(more)) => {
                    for (name, schema) in more {
                        let union = match properties.remove(&name) {
                            Some(known) => union_schema(known, schema),
                            None => schema,
                        };
                        properties.insert(name, union);
                    }
                }
                ("additionalProperties", value) if value != Value::Bool(false) => others = Value::Bool(true),
                _ => {}
            }
        }
    }
    let mut map = Map::from_iter([
        ("properties".to_owned(), Value::Object(properties)),
        ("additionalProperties".to_owned(), others),
    ]);
    let required = required.unwrap_or_default();
    if !required.is_empty() {
        map.insert("required".into(), required.into());
    }
    map
}

/// Returns a schema that accepts every value that one of two schemas accepts.
fn union_schema(one: Value, other: Value) -> Value {
    if one == other {
        return one;
    }
    let fixed_values = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        (None, _) => None,
    };
    if let (Some(mut values), Some(more)) = (fixed_values(&one), fixed_values(&other)) {
        let new: Vec<Value> = more.into_iter().filter(|value| !values.contains(value)).collect();
        values.extend(new);
        return json!({"enum": values});
    }
    match one {
        Value::Object(mut map) if map.len() == 1 && map.contains_key("anyOf") => {
            if let Some(Value::Array(members)) = map.get_mut("anyOf")
                && !members.contains(&other)
            {
                members.push(other);
            }
            Value::Object(map)
        }
        one => json!({"anyOf": [one, other]}),
    }
}

#[cfg(test)]
mod tests;
