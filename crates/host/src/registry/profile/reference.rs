//! `$ref`: looked up, or replaced by what it refers to.
//!
//! Only what is in the schema itself is looked up; nothing is ever fetched.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::{Budget, DEEPEST, MOST_NODES, OF_SCHEMAS, Unfit, shown};

/// References that follow each other without a schema in between.
const LONGEST_CHAIN: usize = 16;

/// What a reference refers to: `#`, `#/a/pointer`, or an anchor's or definition's `#name`.
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

/// A schema that is not a mere reference: references in front of it are followed, and what stands beside them kept.
pub(super) fn followed(root: &Value, schema: &Map<String, Value>) -> Result<Map<String, Value>, Unfit> {
    let mut current = schema.clone();
    for _ in 0..LONGEST_CHAIN {
        let Some(Value::String(reference)) = current.remove("$ref") else { return Ok(current) };
        let target = lookup(root, &reference).and_then(Value::as_object);
        let mut target = target.ok_or_else(|| Unfit::Dangling { reference: shown(&reference) })?.clone();
        // What is said at the place of the reference is nearer than what is said at its target.
        for (key, value) in current {
            target.insert(key, value);
        }
        current = target;
    }
    Err(Unfit::Dangling { reference: "a circle of references".into() })
}

/// The schema without references: each is replaced by its target, and one that is inside its own target by a stand-in
/// that takes anything of its type. References elsewhere take anything: nothing is fetched.
pub(super) fn inline(root: &Value) -> Result<Value, Unfit> {
    let mut schema = inline_at(root, root, &mut Budget(MOST_NODES))?;
    if let Some(members) = schema.as_object_mut() {
        members.remove("$defs");
        members.remove("definitions");
    }
    Ok(schema)
}

/// A part of the schema without references.
pub(super) fn inline_at<'a>(root: &'a Value, part: &'a Value, budget: &mut Budget) -> Result<Value, Unfit> {
    Inliner { root, active: Vec::new(), budget }.value(part, Position::Schema, 0)
}

/// What an object is: a schema, or names with a schema each.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Schema,
    Names,
}

struct Inliner<'a, 'b> {
    root: &'a Value,
    /// The references we are inside of.
    active: Vec<&'a str>,
    budget: &'b mut Budget,
}

impl<'a> Inliner<'a, '_> {
    fn value(&mut self, value: &'a Value, position: Position, depth: usize) -> Result<Value, Unfit> {
        self.budget.spend()?;
        if depth > DEEPEST {
            return Err(Unfit::TooDeep);
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item, Position::Schema, depth + 1));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(members) => match members.get("$ref") {
                Some(Value::String(reference)) if position == Position::Schema => {
                    self.reference(reference, members, depth)
                }
                _ => self.members(members, position, depth).map(Value::Object),
            },
            leaf => Ok(leaf.clone()),
        }
    }

    fn members(
        &mut self,
        members: &'a Map<String, Value>,
        position: Position,
        depth: usize,
    ) -> Result<Map<String, Value>, Unfit> {
        let mut out = Map::new();
        for (key, value) in members {
            let value = match (position, key.as_str()) {
                (Position::Names, _) => self.value(value, Position::Schema, depth + 1)?,
                // Definitions are used where they are referred to.
                (Position::Schema, "$ref" | "$defs" | "definitions") => continue,
                // Data, whatever it looks like.
                (Position::Schema, "default" | "const" | "enum" | "examples") => value.clone(),
                (Position::Schema, key) if OF_SCHEMAS.contains(&key) => {
                    self.value(value, Position::Names, depth + 1)?
                }
                (Position::Schema, _) => self.value(value, Position::Schema, depth + 1)?,
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
    ) -> Result<Value, Unfit> {
        let mut out = match lookup(self.root, reference) {
            None if reference.starts_with('#') => {
                return Err(Unfit::Dangling { reference: shown(reference) });
            }
            None => Map::new(),
            Some(target) if self.active.contains(&reference) || reference == "#" => stand_in(target),
            Some(target) => {
                self.active.push(reference);
                let inlined = self.value(target, Position::Schema, depth + 1);
                self.active.pop();
                match inlined? {
                    Value::Object(members) => members,
                    other => return Ok(other),
                }
            }
        };
        out.extend(self.members(beside, Position::Schema, depth)?);
        Ok(Value::Object(out))
    }
}

/// For a schema inside itself: its type and description, and no more.
fn stand_in(target: &Value) -> Map<String, Value> {
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
