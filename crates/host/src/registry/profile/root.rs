//! The root of a schema: an object with its properties side by side, combinators dissolved.

use serde_json::{Map, Value, json};

use super::{Unfit, reference};

/// Branches that are told in a sentence; more would be a paragraph.
const MOST_TOLD: usize = 8;
/// Combinators inside combinators at the root.
const DEEPEST: usize = 8;

/// A flat root, and what it no longer says.
pub(super) struct Rooted {
    pub(super) schema: Value,
    pub(super) notes: Vec<String>,
}

/// Makes the root a plain object.
pub(super) fn flatten(schema: &Value) -> Result<Rooted, Unfit> {
    let members = schema.as_object().ok_or(Unfit::NotASchema)?;
    let mut notes = Vec::new();
    let flat = object(schema, members, &mut notes, 0)?;
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
    Ok(Rooted { schema: Value::Object(root), notes })
}

/// What an object schema says of its properties.
#[derive(Default)]
struct Flat {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// Everything else.
    rest: Map<String, Value>,
}

fn object(
    root: &Value,
    members: &Map<String, Value>,
    notes: &mut Vec<String>,
    depth: usize,
) -> Result<Flat, Unfit> {
    if depth > DEEPEST {
        return Err(Unfit::TooDeep);
    }
    let mut members = reference::followed(root, members)?;
    is_object(&members)?;
    let mut flat = Flat {
        properties: match members.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        },
        required: names(members.remove("required").as_ref()),
        rest: Map::new(),
    };
    if let Some(Value::Array(branches)) = members.remove("allOf") {
        for branch in branches.iter().filter_map(Value::as_object) {
            let branch = object(root, branch, notes, depth + 1)?;
            add(&mut flat.properties, branch.properties);
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

/// One of several: all their properties, of which only what each requires is required; the rest is told.
fn alternatives(
    root: &Value,
    branches: &[Value],
    flat: &mut Flat,
    notes: &mut Vec<String>,
    depth: usize,
) -> Result<(), Unfit> {
    let mut read = Vec::new();
    let mut unfit = None;
    for branch in branches.iter().filter_map(Value::as_object) {
        // A branch that is no object cannot be meant for arguments.
        match object(root, branch, notes, depth + 1) {
            Ok(branch) => read.push(branch),
            Err(error @ Unfit::RootType { .. }) => unfit = Some(error),
            Err(error) => return Err(error),
        }
    }
    if read.is_empty() {
        return unfit.map_or(Ok(()), Err);
    }
    let is_common = |name: &String| read.iter().all(|branch| branch.required.contains(name));
    let common: Vec<String> = read[0].required.iter().filter(|name| is_common(name)).cloned().collect();
    let told: Vec<String> = read
        .iter()
        .map(|branch| {
            branch.required.iter().filter(|name| !common.contains(name)).map(|name| format!("`{name}`"))
        })
        .map(|names| names.collect::<Vec<_>>().join(" with "))
        .collect();
    if told.len() > 1 && told.len() <= MOST_TOLD && told.iter().any(|names| !names.is_empty()) {
        let told = told.iter().map(|names| if names.is_empty() { "none of them" } else { names });
        notes.push(format!("Give one of these: {}.", told.collect::<Vec<_>>().join(", or ")));
    }
    flat.required.extend(common);
    for branch in read {
        add(&mut flat.properties, branch.properties);
    }
    Ok(())
}

fn is_object(members: &Map<String, Value>) -> Result<(), Unfit> {
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
            Err(Unfit::RootType { found: super::shown(found.trim_matches('"')) })
        }
    }
}

/// A property that stands in two places may be either.
fn add(properties: &mut Map<String, Value>, more: Map<String, Value>) {
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
