//! Flattens the root of a schema: one object with all properties, without combinators.

use serde_json::{Map, Value, json};

use super::{AdaptedSchema, ProfileError, reference};

/// The limit of alternatives that are listed in a note.
const MAX_LISTED: usize = 8;
/// The nesting limit of combinators at the root.
const MAX_DEPTH: usize = 8;

/// Flattens the root.
pub(super) fn flatten(schema: &Value) -> Result<AdaptedSchema, ProfileError> {
    let members = schema.as_object().ok_or(ProfileError::NotASchema)?;
    let mut notes = Vec::new();
    let flat = flatten_object(schema, members, &mut notes, 0)?;
    let mut root = Map::new();
    root.insert("type".into(), json!("object"));
    for key in ["title", "description", "$defs", "definitions", "additionalProperties"] {
        if let Some(value) = members.get(key).or_else(|| flat.rest.get(key)) {
            root.insert(key.into(), value.clone());
        }
    }
    root.insert("properties".into(), Value::Object(flat.properties));
    if !flat.required.is_empty() {
        root.insert("required".into(), json!(flat.required));
    }
    Ok(AdaptedSchema { schema: Value::Object(root), notes })
}

/// An object schema with combinators merged.
#[derive(Default)]
struct FlattenedObject {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// All other keywords.
    rest: Map<String, Value>,
}

fn flatten_object(
    root: &Value,
    members: &Map<String, Value>,
    notes: &mut Vec<String>,
    depth: usize,
) -> Result<FlattenedObject, ProfileError> {
    if depth > MAX_DEPTH {
        return Err(ProfileError::TooDeep);
    }
    let mut members = reference::follow(root, members)?;
    check_object_type(&members)?;
    let mut flat = FlattenedObject {
        properties: match members.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        },
        required: names(members.remove("required").as_ref()),
        rest: Map::new(),
    };
    if let Some(Value::Array(branches)) = members.remove("allOf") {
        for branch in branches.iter().filter_map(Value::as_object) {
            let branch = flatten_object(root, branch, notes, depth + 1)?;
            add_properties(&mut flat.properties, branch.properties);
            flat.required.extend(branch.required);
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = members.remove(key) {
            alternatives(root, &branches, &mut flat, notes, depth)?;
        }
    }
    let mut seen = Vec::new();
    flat.required.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    flat.rest = members;
    Ok(flat)
}

/// Merges the alternatives of `anyOf` or `oneOf`: all their properties, required only if all require them. A note lists the
/// rest.
fn alternatives(
    root: &Value,
    branches: &[Value],
    flat: &mut FlattenedObject,
    notes: &mut Vec<String>,
    depth: usize,
) -> Result<(), ProfileError> {
    let mut read = Vec::new();
    let mut error = None;
    for branch in branches.iter().filter_map(Value::as_object) {
        // A branch that is not an object cannot describe arguments.
        match flatten_object(root, branch, notes, depth + 1) {
            Ok(branch) => read.push(branch),
            Err(not_object @ ProfileError::RootType { .. }) => error = Some(not_object),
            Err(error) => return Err(error),
        }
    }
    if read.is_empty() {
        return error.map_or(Ok(()), Err);
    }
    let is_common = |name: &String| read.iter().all(|branch| branch.required.contains(name));
    let common: Vec<String> = read[0].required.iter().filter(|name| is_common(name)).cloned().collect();
    let listed: Vec<String> = read
        .iter()
        .map(|branch| {
            branch.required.iter().filter(|name| !common.contains(name)).map(|name| format!("`{name}`"))
        })
        .map(|names| names.collect::<Vec<_>>().join(" with "))
        .collect();
    if listed.len() > 1 && listed.len() <= MAX_LISTED && listed.iter().any(|names| !names.is_empty()) {
        let listed = listed.iter().map(|names| if names.is_empty() { "none of them" } else { names });
        notes.push(format!("Give one of these: {}.", listed.collect::<Vec<_>>().join(", or ")));
    }
    flat.required.extend(common);
    for branch in read {
        add_properties(&mut flat.properties, branch.properties);
    }
    Ok(())
}

fn check_object_type(members: &Map<String, Value>) -> Result<(), ProfileError> {
    let fits = match members.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => true,
    };
    match fits {
        true => Ok(()),
        false => {
            let found = members.get("type").map(ToString::to_string).unwrap_or_default();
            Err(ProfileError::RootType { found: super::shorten(found.trim_matches('"')) })
        }
    }
}

/// Adds properties; one with two schemas becomes `anyOf`.
fn add_properties(properties: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, schema) in more {
        match properties.get_mut(&name) {
            None => drop(properties.insert(name, schema)),
            Some(known) if *known == schema => {}
            Some(known) => match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(either) if !either.contains(&schema) => either.push(schema),
                Some(_) => {}
                None => *known = json!({"anyOf": [known.clone(), schema]}),
            },
        }
    }
}

fn names(required: Option<&Value>) -> Vec<String> {
    let Some(Value::Array(names)) = required else { return Vec::new() };
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
