//! Resolves and inlines `$ref`. Only references within the schema are resolved; nothing is fetched.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::{MAX_DEPTH, MAX_NODES, NodeBudget, ProfileError, SCHEMA_MAPS, shorten};

/// The limit of references that refer to references.
const MAX_CHAIN: usize = 16;

/// Returns the target of a reference: `#`, `#/a/pointer`, or the `#name` of an anchor.
pub(super) fn lookup<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&percent_decode_str(fragment).decode_utf8_lossy());
    }
    let definitions = ["$defs", "definitions"].into_iter().filter_map(|key| root.get(key)?.as_object());
    definitions
        .flat_map(Map::values)
        .find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(fragment))
}

/// Follows the reference of a schema, if it has one, and keeps the keywords beside it.
pub(super) fn follow(root: &Value, schema: &Map<String, Value>) -> Result<Map<String, Value>, ProfileError> {
    let mut current = schema.clone();
    for _ in 0..MAX_CHAIN {
        let Some(Value::String(reference)) = current.remove("$ref") else { return Ok(current) };
        let target = lookup(root, &reference).and_then(Value::as_object);
        let mut target =
            target.ok_or_else(|| ProfileError::Dangling { reference: shorten(&reference) })?.clone();
        // Keywords beside the reference override those of its target.
        for (key, value) in current {
            target.insert(key, value);
        }
        current = target;
    }
    Err(ProfileError::Dangling { reference: "a circular reference".into() })
}

/// Inlines all references. A recursive reference is replaced by a placeholder that accepts anything of its type, an
/// external one by a schema that accepts anything.
pub(super) fn inline(root: &Value) -> Result<Value, ProfileError> {
    let mut schema = inline_at(root, root, &mut NodeBudget(MAX_NODES))?;
    if let Some(members) = schema.as_object_mut() {
        members.remove("$defs");
        members.remove("definitions");
    }
    Ok(schema)
}

/// Inlines all references in a part of the schema.
pub(super) fn inline_at<'a>(
    root: &'a Value,
    part: &'a Value,
    budget: &mut NodeBudget,
) -> Result<Value, ProfileError> {
    Inliner { root, active: Vec::new(), budget }.value(part, ValueRole::Schema, 0)
}

/// The role of a value: a schema, or an object of schemas.
#[derive(Clone, Copy, PartialEq)]
enum ValueRole {
    Schema,
    SchemaMap,
}

struct Inliner<'a, 'b> {
    root: &'a Value,
    /// The references that are being inlined.
    active: Vec<&'a str>,
    budget: &'b mut NodeBudget,
}

impl<'a> Inliner<'a, '_> {
    fn value(&mut self, value: &'a Value, role: ValueRole, depth: usize) -> Result<Value, ProfileError> {
        self.budget.spend()?;
        if depth > MAX_DEPTH {
            return Err(ProfileError::TooDeep);
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item, ValueRole::Schema, depth + 1));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(members) => match members.get("$ref") {
                Some(Value::String(reference)) if role == ValueRole::Schema => {
                    self.reference(reference, members, depth)
                }
                _ => self.members(members, role, depth).map(Value::Object),
            },
            leaf => Ok(leaf.clone()),
        }
    }

    fn members(
        &mut self,
        members: &'a Map<String, Value>,
        role: ValueRole,
        depth: usize,
    ) -> Result<Map<String, Value>, ProfileError> {
        let mut out = Map::new();
        for (key, value) in members {
            let value = match (role, key.as_str()) {
                (ValueRole::SchemaMap, _) => self.value(value, ValueRole::Schema, depth + 1)?,
                // Definitions are inlined where they are referenced.
                (ValueRole::Schema, "$ref" | "$defs" | "definitions") => continue,
                // Data, not schemas.
                (ValueRole::Schema, "default" | "const" | "enum" | "examples") => value.clone(),
                (ValueRole::Schema, key) if SCHEMA_MAPS.contains(&key) => {
                    self.value(value, ValueRole::SchemaMap, depth + 1)?
                }
                (ValueRole::Schema, _) => self.value(value, ValueRole::Schema, depth + 1)?,
            };
            out.insert(key.clone(), value);
        }
        Ok(out)
    }

    fn reference(
        &mut self,
        reference: &'a str,
        beside: &'a Map<String, Value>,
        depth: usize,
    ) -> Result<Value, ProfileError> {
        let mut out = match lookup(self.root, reference) {
            None if reference.starts_with('#') => {
                return Err(ProfileError::Dangling { reference: shorten(reference) });
            }
            None => Map::new(),
            Some(target) if self.active.contains(&reference) || reference == "#" => placeholder(target),
            Some(target) => {
                self.active.push(reference);
                let inlined = self.value(target, ValueRole::Schema, depth + 1);
                self.active.pop();
                match inlined? {
                    Value::Object(members) => members,
                    other => return Ok(other),
                }
            }
        };
        out.extend(self.members(beside, ValueRole::Schema, depth)?);
        Ok(Value::Object(out))
    }
}

/// Returns a placeholder for a recursive schema: its type and description only.
fn placeholder(target: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    let kind = target.get("type").and_then(Value::as_str).unwrap_or("object");
    out.insert("type".into(), json!(kind));
    if let Some(description) = target.get("description").filter(|description| description.is_string()) {
        out.insert("description".into(), description.clone());
    }
    if kind == "array" {
        out.insert("items".into(), json!({"type": "object"}));
    }
    out
}
