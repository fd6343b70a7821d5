//! [`SchemaPool`]: definitions shared by the schemas of a design.
//!
//! Invariant: a name has one definition, and definitions in the pool refer only to names in the pool.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// A pool of definitions that schemas refer to as `#/$defs/<name>`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SchemaPool(BTreeMap<String, Value>);

impl SchemaPool {
    /// Creates an empty pool.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns the definition of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Iterates over names and definitions, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns whether the pool is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the `$defs` of a schema into the pool and returns the schema without them.
    ///
    /// If the pool has another definition of the same name, the new one gets a number.
    pub fn absorb_defs(&mut self, mut schema: Value) -> Value {
        let Some(Value::Object(defs)) = schema.as_object_mut().and_then(|root| root.remove("$defs")) else {
            return schema;
        };
        let renamed: BTreeMap<String, String> = self.new_names_for(&defs);
        for (name, mut def) in defs {
            rename_references(&mut def, &renamed);
            let name = renamed.get(&name).unwrap_or(&name).clone();
            self.0.insert(name, def);
        }
        rename_references(&mut schema, &renamed);
        schema
    }

    /// Returns new names for definitions whose name has another definition in the pool.
    fn new_names_for(&self, defs: &Map<String, Value>) -> BTreeMap<String, String> {
        let mut renamed = BTreeMap::new();
        for (name, def) in defs {
            if self.0.get(name).is_none_or(|known| known == def) {
                continue;
            }
            let numbered = (2..).map(|number| format!("{name}{number}"));
            let is_free = |new: &String| {
                let is_used = renamed.values().any(|used| used == new) || defs.contains_key(new);
                // An equal definition may have received this number before.
                let renaming = BTreeMap::from([(name.clone(), new.clone())]);
                let mut moved = def.clone();
                rename_references(&mut moved, &renaming);
                !is_used && self.0.get(new).is_none_or(|known| *known == moved)
            };
            let new = numbered.into_iter().find(is_free);
            renamed.extend(new.map(|new| (name.clone(), new)));
        }
        renamed
    }

    /// Returns a self-contained schema: with the `$defs` that it needs, and no others.
    pub fn bundle(&self, schema: &Value) -> Value {
        let mut bundled = schema.clone();
        let mut defs = bundled
            .as_object_mut()
            .and_then(|root| root.remove("$defs"))
            .and_then(|defs| if let Value::Object(defs) = defs { Some(defs) } else { None })
            .unwrap_or_default();
        for (name, def) in &self.0 {
            if !defs.contains_key(name) {
                defs.insert(name.clone(), def.clone());
            }
        }
        attach_defs(&mut bundled, defs);
        super::canonicalize(bundled)
    }

    /// Returns the names that a schema refers to and that neither the schema nor the pool defines.
    pub fn unresolved_references(&self, schema: &Value) -> BTreeSet<String> {
        let own = schema.get("$defs").and_then(Value::as_object);
        let known =
            |name: &String| own.is_some_and(|own| own.contains_key(name)) || self.0.contains_key(name);
        referenced_names(schema).into_iter().filter(|name| !known(name)).collect()
    }
}

/// Collects definitions without checking them.
impl<N: Into<String>> FromIterator<(N, Value)> for SchemaPool {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(schemas: I) -> Self {
        Self(schemas.into_iter().map(|(name, schema)| (name.into(), schema)).collect())
    }
}

/// Adds the `$defs` that a schema reaches, directly or through other definitions.
pub(super) fn attach_defs(root: &mut Value, mut defs: Map<String, Value>) {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<String> = referenced_names(root).into_iter().collect();
    while let Some(name) = pending.pop() {
        if let Some(def) = defs.get(&name)
            && reached.insert(name)
        {
            pending.extend(referenced_names(def));
        }
    }
    defs.retain(|name, _| reached.contains(name));
    if let Some(root) = root.as_object_mut()
        && !defs.is_empty()
    {
        root.insert("$defs".into(), Value::Object(defs));
    }
}

/// Returns the name in a `#/$defs/<name>` reference.
pub(crate) fn definition_name(reference: &str) -> Option<String> {
    let name = reference.strip_prefix(PREFIX)?;
    (!name.contains('/')).then(|| name.replace("~1", "/").replace("~0", "~"))
}

fn reference_to(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the names of all definitions that a schema refers to, including in its own `$defs`.
pub(super) fn referenced_names(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    names.extend(definition_name(reference));
                }
                members.values().for_each(|member| collect(member, names));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut names = BTreeSet::new();
    collect(value, &mut names);
    names
}

fn rename_references(value: &mut Value, names: &BTreeMap<String, String>) {
    if names.is_empty() {
        return;
    }
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(new) = definition_name(reference).and_then(|name| names.get(&name))
            {
                *reference = reference_to(new);
            }
            members.values_mut().for_each(|member| rename_references(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_definitions_are_pooled_once_and_others_are_numbered() {
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}});
        let schema =
            json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}});
        let other = json!({
            "type": "object",
            "properties": {"t": {"$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        });
        let mut pool = SchemaPool::new();
        let first = pool.absorb_defs(schema.clone());
        assert_eq!(first, json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}}));
        assert_eq!(pool.absorb_defs(schema.clone()), first);
        let second = pool.absorb_defs(other.clone());
        assert_eq!(second["properties"]["t"], json!({"$ref": "#/$defs/Tree2"}));
        assert_eq!(pool.absorb_defs(other.clone()), second);
        assert_eq!(pool.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["Tree", "Tree2"]);
        assert_eq!(pool.bundle(&first), super::super::canonicalize(schema));
        assert_eq!(
            pool.bundle(&second)["$defs"],
            json!({"Tree2": {"type": "array", "items": {"$ref": "#/$defs/Tree2"}}})
        );
    }

    #[test]
    fn unresolved_references_are_reported() {
        let pool = SchemaPool::from_iter([("A", json!({}))]);
        let schema = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}], "$defs": {"C": {}}});
        assert_eq!(pool.unresolved_references(&schema), BTreeSet::from(["B".to_owned()]));
    }
}
