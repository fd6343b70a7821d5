//! From the schema of a type to the schema that is listed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::additional::close_objects;
use super::canonical;
use super::defs::{attach, name_of, references};
use super::simplify::{NOTES, Side, is_null, merge, names, simplify};

/// A schema that would have more parts than this without its references keeps them.
const MOST_PARTS: usize = 20_000;

/// The name for a type that refers to itself as the whole document.
const WHOLE: &str = "Whole";

/// A schema that does not describe an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("arguments must be an object, and this schema describes {found}")]
pub struct NotAnObject {
    /// What it describes.
    pub found: String,
}

/// The schema of a tool's arguments, fit to be listed.
///
/// The root is an object that says its `properties` and whether it takes others, without references and combinations: of
/// a root that is a choice, the members are merged, and what they have not in common becomes optional. Types are written
/// in place unless they refer to themselves. Objects in it are closed unless they say `additionalProperties` themselves:
/// a misspelled member is refused at every level. See the [module](crate::schema) for the rest.
///
/// # Errors
/// When it does not describe an object.
pub fn input(schema: Value) -> Result<Value, NotAnObject> {
    let (root, mut defs) = resolved(schema);
    let mut root = flatten(root, &defs, &mut Vec::new())?;
    root.remove("title");
    let open = matches!(root.remove("unevaluatedProperties"), Some(Value::Bool(true) | Value::Object(_)));
    root.entry("additionalProperties").or_insert(Value::Bool(open));
    root.entry("properties").or_insert_with(|| json!({}));
    root.insert("type".into(), "object".into());
    let mut root = Value::Object(root);
    simplify(&mut root, Side::Input);
    defs.values_mut().for_each(|def| simplify(def, Side::Input));
    close_objects(&mut root, &mut defs);
    attach(&mut root, defs);
    Ok(canonical(root))
}

/// The schema of what a service answers with, fit to be listed where it [is an object](is_object).
pub fn output(schema: Value) -> Value {
    let (mut root, mut defs) = resolved(schema);
    while let Some(def) = referred(&root, &defs) {
        let Some(map) = root.as_object_mut() else { break };
        map.remove("$ref");
        merge(map, def);
    }
    simplify(&mut root, Side::Output);
    defs.values_mut().for_each(|def| simplify(def, Side::Output));
    if let Value::Object(map) = &mut root {
        map.remove("title");
        let object = |member: &Value| is_object(&whole(member, &defs));
        let members = ["oneOf", "anyOf"].iter().find_map(|key| map.get(*key)?.as_array());
        let all = members.is_some_and(|members| !members.is_empty() && members.iter().all(object));
        if all && !map.contains_key("type") {
            map.insert("type".into(), "object".into());
        }
        if map.get("type").is_some_and(|kind| kind == "object") {
            map.entry("properties").or_insert_with(|| json!({}));
        }
    }
    attach(&mut root, defs);
    canonical(root)
}

/// Whether a schema says of itself that it describes an object.
pub fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// The schema of an object that has the described value as its only member, `result`.
pub fn wrapped(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let defs = inner.as_object_mut().and_then(|map| map.remove("$defs"));
    let mut outer = json!({"type": "object", "properties": {"result": inner}, "required": ["result"]});
    if let (Some(defs), Some(map)) = (defs, outer.as_object_mut()) {
        map.insert("$defs".into(), defs);
    }
    canonical(outer)
}

/// The root, and the definitions that are left: every type that does not refer to itself is written in place.
fn resolved(mut schema: Value) -> (Value, Map<String, Value>) {
    let mut defs = Map::new();
    if let Value::Object(root) = &mut schema {
        root.remove("$schema");
        for key in ["definitions", "$defs"] {
            if let Some(Value::Object(own)) = root.remove(key) {
                defs.extend(own);
            }
        }
    }
    let whole = (1..)
        .map(|number| format!("{WHOLE}{}", if number == 1 { String::new() } else { number.to_string() }));
    let whole = whole.into_iter().find(|name| !defs.contains_key(name)).unwrap_or_default();
    let mut refers = false;
    repoint(&mut schema, &whole, &mut refers);
    defs.values_mut().for_each(|def| repoint(def, &whole, &mut refers));
    if refers {
        defs.insert(whole, schema.clone());
    }
    let inlined = Inlined::new(&defs);
    if inlined.size(&schema) <= MOST_PARTS {
        inlined.write(&mut schema);
        let kept: Vec<String> = inlined.recursive.iter().cloned().collect();
        let mut left = Map::new();
        for name in kept {
            if let Some(mut def) = defs.get(&name).cloned() {
                inlined.write(&mut def);
                left.insert(name, def);
            }
        }
        defs = left;
    }
    (schema, defs)
}

/// Makes references to the old place and to the whole document ones to `$defs`. Notes whether the whole was meant.
fn repoint(value: &mut Value, whole: &str, meant: &mut bool) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                if reference == "#" {
                    *reference = format!("#/$defs/{whole}");
                    *meant = true;
                } else if let Some(name) = reference.strip_prefix("#/definitions/") {
                    *reference = format!("#/$defs/{name}");
                }
            }
            members.values_mut().for_each(|member| repoint(member, whole, meant));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| repoint(item, whole, meant)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Definitions that can be written in place of a reference.
struct Inlined<'a> {
    defs: &'a Map<String, Value>,
    recursive: BTreeSet<String>,
    /// How many parts each has when everything in it is written in place.
    sizes: BTreeMap<String, usize>,
}

impl<'a> Inlined<'a> {
    fn new(defs: &'a Map<String, Value>) -> Self {
        let reaches_itself = |name: &&String| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<String> = defs.get(*name).map(references).into_iter().flatten().collect();
            while let Some(next) = open.pop() {
                if next == **name {
                    return true;
                }
                if let Some(def) = defs.get(&next)
                    && seen.insert(next)
                {
                    open.extend(references(def));
                }
            }
            false
        };
        let recursive = defs.keys().filter(reaches_itself).cloned().collect();
        let mut inlined = Self { defs, recursive, sizes: BTreeMap::new() };
        let mut open: Vec<&String> = defs.keys().filter(|name| !inlined.recursive.contains(*name)).collect();
        // Those without open references first; without recursion, there is always one.
        while !open.is_empty() {
            let before = open.len();
            open.retain(|name| {
                let known = |other: &String| {
                    inlined.sizes.contains_key(other)
                        || inlined.recursive.contains(other)
                        || !defs.contains_key(other)
                };
                let def = &defs[name.as_str()];
                let ready = references(def).iter().all(known);
                if ready {
                    let size = inlined.size(def);
                    inlined.sizes.insert((*name).clone(), size);
                }
                !ready
            });
            if open.len() == before {
                break;
            }
        }
        inlined
    }

    fn target(&self, members: &Map<String, Value>) -> Option<(String, &'a Map<String, Value>)> {
        let name = name_of(members.get("$ref")?.as_str()?)?;
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

    fn write(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                while let Some((_, def)) = self.target(members) {
                    members.remove("$ref");
                    merge(members, def.clone());
                }
                members.values_mut().for_each(|member| self.write(member));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.write(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// What the `$ref` of a schema refers to.
fn referred(schema: &Value, defs: &Map<String, Value>) -> Option<Map<String, Value>> {
    let def = defs.get(&name_of(schema.get("$ref")?.as_str()?)?)?;
    match def {
        Value::Object(def) => Some(def.clone()),
        _ => Some(Map::new()),
    }
}

/// A schema, or what it refers to.
fn whole(schema: &Value, defs: &Map<String, Value>) -> Value {
    referred(schema, defs).map_or_else(|| schema.clone(), Value::Object)
}

/// An object without references and combinations. `path` has the names that are being followed.
fn flatten(
    schema: Value,
    defs: &Map<String, Value>,
    path: &mut Vec<String>,
) -> Result<Map<String, Value>, NotAnObject> {
    let mut map = match schema {
        Value::Bool(true) => return Ok(anything()),
        // Notes ask nothing of a value.
        Value::Object(map) if map.keys().all(|key| NOTES.contains(&key.as_str())) => {
            return Ok(map.into_iter().chain(anything()).collect());
        }
        Value::Object(map) => map,
        other => return Err(NotAnObject { found: other.to_string() }),
    };
    if let Some(name) = map.get("$ref").and_then(Value::as_str).and_then(name_of) {
        let known = defs.get(&name).filter(|_| !path.contains(&name));
        let def = known.ok_or_else(|| NotAnObject { found: format!("`{name}`, which is not known") })?;
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
        return Err(NotAnObject { found: describe(&map) });
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(members)) = map.remove(key) else { continue };
        let members: Vec<Map<String, Value>> = members
            .into_iter()
            .filter(|member| key == "allOf" || !is_null(member))
            .map(|member| flatten(member, defs, path))
            .collect::<Result<_, _>>()?;
        if key == "allOf" || members.len() == 1 {
            members.into_iter().for_each(|member| absorb(&mut map, member));
        } else if !members.is_empty() {
            absorb(&mut map, any_of(members));
        }
    }
    Ok(map)
}

/// The schema of any object.
fn anything() -> Map<String, Value> {
    Map::from_iter([("additionalProperties".to_owned(), Value::Bool(true))])
}

fn describe(map: &Map<String, Value>) -> String {
    match map.get("type") {
        Some(Value::String(kind)) if kind != "object" => format!("a value of type {kind}"),
        _ => "a choice of values".to_owned(),
    }
}

/// Takes in what another object asks as well.
pub(super) fn absorb(map: &mut Map<String, Value>, other: Map<String, Value>) {
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
            // Each side names its own members; together they take what either takes.
            ("additionalProperties", Some(known), value) if *known == Value::Bool(false) => *known = value,
            (_, Some(_), _) => {}
            (_, None, value) => drop(map.insert(key, value)),
        }
    }
}

/// One object that everything fits that fits one of these.
fn any_of(members: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut properties: Map<String, Value> = Map::new();
    let mut required: Option<Vec<String>> = None;
    let mut others = Value::Bool(false);
    for member in members {
        let needed = names(&member, "required");
        required = Some(match required {
            Some(known) => known.into_iter().filter(|name| needed.contains(name)).collect(),
            None => needed,
        });
        for (key, value) in member {
            match (key.as_str(), value) {
                ("properties", Value::Object(more)) => {
                    for (name, schema) in more {
                        let either = match properties.remove(&name) {
                            Some(known) => either(known, schema),
                            None => schema,
                        };
                        properties.insert(name, either);
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

/// A schema that fits what fits one or the other.
fn either(one: Value, other: Value) -> Value {
    if one == other {
        return one;
    }
    let fixed = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        (None, _) => None,
    };
    if let (Some(mut values), Some(more)) = (fixed(&one), fixed(&other)) {
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
