//! Types that schemas refer to by name.
//!
//! Invariant of the pool: a name stands for one type, and whoever refers to it finds it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// A pool of schemas that others refer to as `#/$defs/<name>`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    /// A pool without schemas.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The schema of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Names and schemas, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the `$defs` of a schema into the pool and gives back the rest, which refers to them there.
    ///
    /// A name that the pool has for something else gets a number.
    pub fn pool(&mut self, mut schema: Value) -> Value {
        let Some(Value::Object(defs)) = schema.as_object_mut().and_then(|root| root.remove("$defs")) else {
            return schema;
        };
        let renamed: BTreeMap<String, String> = self.names_for(&defs);
        for (name, mut def) in defs {
            rename(&mut def, &renamed);
            let name = renamed.get(&name).unwrap_or(&name).clone();
            self.0.insert(name, def);
        }
        rename(&mut schema, &renamed);
        schema
    }

    /// New names for those that the pool has for something else.
    fn names_for(&self, defs: &Map<String, Value>) -> BTreeMap<String, String> {
        let mut renamed = BTreeMap::new();
        for (name, def) in defs {
            if self.0.get(name).is_none_or(|known| known == def) {
                continue;
            }
            let numbered = (2..).map(|number| format!("{name}{number}"));
            let free = |new: &String| {
                let taken = renamed.values().any(|used| used == new) || defs.contains_key(new);
                // The same type may have been given this number before.
                let one = BTreeMap::from([(name.clone(), new.clone())]);
                let mut moved = def.clone();
                rename(&mut moved, &one);
                !taken && self.0.get(new).is_none_or(|known| *known == moved)
            };
            let new = numbered.into_iter().find(free);
            renamed.extend(new.map(|new| (name.clone(), new)));
        }
        renamed
    }

    /// The schema with the `$defs` it needs, and no other: it stands on its own.
    pub fn close(&self, schema: &Value) -> Value {
        let mut closed = schema.clone();
        let mut defs = closed
            .as_object_mut()
            .and_then(|root| root.remove("$defs"))
            .and_then(|defs| if let Value::Object(defs) = defs { Some(defs) } else { None })
            .unwrap_or_default();
        for (name, def) in &self.0 {
            if !defs.contains_key(name) {
                defs.insert(name.clone(), def.clone());
            }
        }
        attach(&mut closed, defs);
        super::canonical(closed)
    }

    /// The names that a schema refers to and neither it nor the pool has.
    pub fn missing(&self, schema: &Value) -> BTreeSet<String> {
        let own = schema.get("$defs").and_then(Value::as_object);
        let known =
            |name: &String| own.is_some_and(|own| own.contains_key(name)) || self.0.contains_key(name);
        references(schema).into_iter().filter(|name| !known(name)).collect()
    }
}

/// Takes in schemas without looking at them.
impl<N: Into<String>> FromIterator<(N, Value)> for Schemas {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(schemas: I) -> Self {
        Self(schemas.into_iter().map(|(name, schema)| (name.into(), schema)).collect())
    }
}

/// Puts those of the definitions at the root that it reaches.
pub(super) fn attach(root: &mut Value, mut defs: Map<String, Value>) {
    let mut reached = BTreeSet::new();
    let mut open: Vec<String> = references(root).into_iter().collect();
    while let Some(name) = open.pop() {
        if let Some(def) = defs.get(&name)
            && reached.insert(name)
        {
            open.extend(references(def));
        }
    }
    defs.retain(|name, _| reached.contains(name));
    if let Some(root) = root.as_object_mut()
        && !defs.is_empty()
    {
        root.insert("$defs".into(), Value::Object(defs));
    }
}

/// The name that a `$ref` of this text refers to.
pub(crate) fn name_of(reference: &str) -> Option<String> {
    let name = reference.strip_prefix(PREFIX)?;
    (!name.contains('/')).then(|| name.replace("~1", "/").replace("~0", "~"))
}

fn reference_to(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The names that a value refers to; its own `$defs` count as well.
pub(super) fn references(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    names.extend(name_of(reference));
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

fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    if names.is_empty() {
        return;
    }
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && let Some(new) = name_of(reference).and_then(|name| names.get(&name))
            {
                *reference = reference_to(new);
            }
            members.values_mut().for_each(|member| rename(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shared_types_are_kept_once_and_others_get_a_number() {
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}});
        let schema =
            json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}});
        let other = json!({
            "type": "object",
            "properties": {"t": {"$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        });
        let mut pool = Schemas::new();
        let first = pool.pool(schema.clone());
        assert_eq!(first, json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}}));
        assert_eq!(pool.pool(schema.clone()), first);
        let second = pool.pool(other.clone());
        assert_eq!(second["properties"]["t"], json!({"$ref": "#/$defs/Tree2"}));
        assert_eq!(pool.pool(other.clone()), second);
        assert_eq!(pool.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["Tree", "Tree2"]);
        assert_eq!(pool.close(&first), super::super::canonical(schema));
        assert_eq!(
            pool.close(&second)["$defs"],
            json!({"Tree2": {"type": "array", "items": {"$ref": "#/$defs/Tree2"}}})
        );
    }

    #[test]
    fn what_nobody_has_is_told() {
        let pool = Schemas::from_iter([("A", json!({}))]);
        let schema = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"$ref": "#/$defs/C"}], "$defs": {"C": {}}});
        assert_eq!(pool.missing(&schema), BTreeSet::from(["B".to_owned()]));
    }
}
