//! Classifies the changes between two versions of a schema.
//!
//! A narrowed schema breaks callers that write its values; a widened schema breaks callers that read them. A change of an
//! unknown keyword is breaking for both.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::diff::ChangeClass;
use crate::schema::{SchemaPool, SchemaRole, definition_name};

/// The definitions of the old and the new design.
#[derive(Clone, Copy)]
pub(super) struct PoolVersions<'a> {
    pub(super) old: &'a SchemaPool,
    pub(super) new: &'a SchemaPool,
}

/// Compares two schemas and returns class and description of each change. `subject` names the value, like `argument`.
pub(super) fn diff_schemas(
    pools: PoolVersions<'_>,
    role: SchemaRole,
    subject: &'static str,
    [old, new]: [&Value; 2],
) -> Vec<(ChangeClass, String)> {
    let (old, new) = (pools.old.bundle(old), pools.new.bundle(new));
    let mut comparison = SchemaComparison {
        old: old.get("$defs").cloned().unwrap_or_default(),
        new: new.get("$defs").cloned().unwrap_or_default(),
        role,
        subject,
        path: String::new(),
        seen: BTreeSet::new(),
        changes: Vec::new(),
    };
    comparison.compare(&old, &new);
    comparison.changes
}

struct SchemaComparison {
    old: Value,
    new: Value,
    role: SchemaRole,
    subject: &'static str,
    path: String,
    /// Pairs of definitions that were compared or are being compared; ends recursion.
    seen: BTreeSet<(String, String)>,
    changes: Vec<(ChangeClass, String)>,
}

/// The keywords with their own comparison, or none. All others are compared as a whole.
const COMPARED_KEYWORDS: [&str; 27] = [
    "$ref",
    "$defs",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "title",
    "description",
    "examples",
    "default",
    "deprecated",
    "$comment",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

impl SchemaComparison {
    fn add(&mut self, class: ChangeClass, description: impl AsRef<str>) {
        let path = if self.path.is_empty() { String::new() } else { format!(" `{}`", self.path) };
        self.changes.push((class, format!("{}{path} {}", self.subject, description.as_ref())));
    }

    /// Adds a change after which fewer values are valid.
    fn add_narrowed(&mut self, description: impl AsRef<str>) {
        self.add(
            if self.role == SchemaRole::Input { ChangeClass::Breaking } else { ChangeClass::Additive },
            description,
        );
    }

    /// Adds a change after which more values are valid.
    fn add_widened(&mut self, description: impl AsRef<str>) {
        self.add(
            if self.role == SchemaRole::Input { ChangeClass::Additive } else { ChangeClass::Breaking },
            description,
        );
    }

    /// Compares the schemas of a member or an item.
    fn compare_at(&mut self, part: &str, old: &Value, new: &Value) {
        self.at(part, |comparison| comparison.compare(old, new));
    }

    /// Adds a change of a member.
    fn add_at(&mut self, member: &str, class: ChangeClass, description: &str) {
        self.at(member, |comparison| comparison.add(class, description));
    }

    /// Runs `report` with `part` appended to the path.
    fn at(&mut self, part: &str, report: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if !self.path.is_empty() && !part.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(part);
        report(self);
        self.path.truncate(length);
    }

    fn compare(&mut self, old: &Value, new: &Value) {
        let (from, to) = (referenced_name(old), referenced_name(new));
        if (from.is_some() || to.is_some())
            && !self
                .seen
                .insert((from.unwrap_or_else(|| old.to_string()), to.unwrap_or_else(|| new.to_string())))
        {
            return;
        }
        let (old, new) = (resolve(old, &self.old), resolve(new, &self.new));
        self.compare_notes(&old, &new);
        self.compare_types(&old, &new);
        self.compare_values(&old, &new);
        self.compare_bounds(&old, &new);
        self.compare_members(&old, &new);
        self.compare_items(&old, &new);
        self.compare_choices(&old, &new);
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys.into_iter().filter(|key| !COMPARED_KEYWORDS.contains(&key.as_str())) {
            match (old.get(key), new.get(key)) {
                (one, other) if one == other => {}
                (None, _) => self.add_narrowed(format!("has `{key}` now")),
                (_, None) => self.add_widened(format!("no longer has `{key}`")),
                _ => self.add(ChangeClass::Breaking, format!("has another `{key}`")),
            }
        }
    }

    fn compare_notes(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        if ["title", "description", "examples", "deprecated"].iter().any(|key| old.get(*key) != new.get(*key))
        {
            self.add(ChangeClass::Docs, "is described differently");
        }
        if old.get("default") != new.get("default") {
            self.add(ChangeClass::Additive, "has another default");
        }
    }

    fn compare_types(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let kinds = |map: &Map<String, Value>| -> Option<Vec<String>> {
            match map.get("type")? {
                Value::String(kind) => Some(vec![kind.clone()]),
                Value::Array(kinds) => {
                    Some(kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                }
                _ => None,
            }
        };
        let (old, new) = (kinds(old), kinds(new));
        let has = |kinds: &Option<Vec<String>>, kind: &String| {
            let holds = |known: &String| known == kind || (known == "number" && kind == "integer");
            kinds.as_ref().is_none_or(|kinds| kinds.iter().any(holds))
        };
        let lacking = |some: &Option<Vec<String>>, other: &Option<Vec<String>>| -> Option<String> {
            match some {
                None => other.as_ref().map(|_| "any type".to_owned()),
                Some(kinds) => {
                    let lost: Vec<&str> =
                        kinds.iter().filter(|kind| !has(other, kind)).map(String::as_str).collect();
                    (!lost.is_empty()).then(|| lost.join(" or "))
                }
            }
        };
        if let Some(lost) = lacking(&old, &new) {
            self.add_narrowed(format!("is no longer {lost}"));
        }
        if let Some(gained) = lacking(&new, &old) {
            self.add_widened(format!("may be {gained}"));
        }
    }

    fn compare_values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let fixed = |map: &Map<String, Value>| match (map.get("const"), map.get("enum")) {
            (Some(value), _) => Some(vec![value.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            (None, _) => None,
        };
        let shown =
            |values: Vec<&Value>| values.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match (fixed(old), fixed(new)) {
            (None, None) => {}
            (None, Some(values)) => {
                self.add_narrowed(format!("is one of {} now", shown(values.iter().collect())))
            }
            (Some(_), None) => self.add_widened("is no longer a choice of fixed values"),
            (Some(old), Some(new)) => {
                let lost: Vec<&Value> = old.iter().filter(|value| !new.contains(value)).collect();
                let gained: Vec<&Value> = new.iter().filter(|value| !old.contains(value)).collect();
                if !lost.is_empty() {
                    self.add_narrowed(format!("is no longer {}", shown(lost)));
                }
                if !gained.is_empty() {
                    self.add_widened(format!("may be {}", shown(gained)));
                }
            }
        }
    }

    fn compare_bounds(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let lower = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
        let upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
        for key in lower.into_iter().chain(upper) {
            let bound = |map: &Map<String, Value>| map.get(key).and_then(Value::as_f64);
            let is_tighter = match (bound(old), bound(new)) {
                (None, None) => continue,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some(old), Some(new)) if old == new => continue,
                (Some(old), Some(new)) => (new > old) == lower.contains(&key),
            };
            match new.get(key) {
                Some(bound) if is_tighter => self.add_narrowed(format!("has the tighter `{key}` {bound}")),
                Some(bound) => self.add_widened(format!("has the looser `{key}` {bound}")),
                None => self.add_widened(format!("no longer has `{key}`")),
            }
        }
    }

    fn compare_members(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let empty = Map::new();
        let properties = |map: &Map<String, Value>| map.get("properties").and_then(Value::as_object).cloned();
        let (before, after) = (properties(old).unwrap_or_default(), properties(new).unwrap_or_default());
        let required = |map: &Map<String, Value>, name: &str| {
            map.get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|known| known == name))
        };
        for (member, schema) in &before {
            let Some(now) = after.get(member) else {
                self.add_at(member, ChangeClass::Breaking, "was removed");
                continue;
            };
            let change = match (required(old, member), required(new, member), self.role) {
                (false, true, SchemaRole::Input) => Some((ChangeClass::Breaking, "is required now")),
                (false, true, SchemaRole::Output) => Some((ChangeClass::Additive, "is always present now")),
                (true, false, SchemaRole::Input) => Some((ChangeClass::Additive, "is optional now")),
                (true, false, SchemaRole::Output) => Some((ChangeClass::Breaking, "may be absent now")),
                (true, true, _) | (false, false, _) => None,
            };
            if let Some((class, description)) = change {
                self.add_at(member, class, description);
            }
            self.compare_at(member, schema, now);
        }
        for member in after.keys().filter(|member| !before.contains_key(*member)) {
            match (required(new, member), self.role) {
                (true, SchemaRole::Input) => {
                    self.add_at(member, ChangeClass::Breaking, "was added and is required")
                }
                (false, SchemaRole::Input) | (_, SchemaRole::Output) => {
                    self.add_at(member, ChangeClass::Additive, "was added")
                }
            }
        }
        let others =
            |map: &Map<String, Value>| map.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
        match (others(old), others(new)) {
            (old, new) if old == new => {}
            (Value::Bool(false), _) => self.add(ChangeClass::Additive, "accepts additional members now"),
            (_, Value::Bool(false)) => self.add_narrowed("no longer accepts additional members"),
            (old, new) => {
                let object =
                    |value: Value| if value.is_object() { value } else { Value::Object(empty.clone()) };
                self.compare_at("*", &object(old), &object(new));
            }
        }
    }

    fn compare_items(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        match (old.get("items"), new.get("items")) {
            (None, None) => {}
            (Some(old), Some(new)) => self.compare_at("[]", old, new),
            (None, Some(_)) => self.add_narrowed("has a schema for its items now"),
            (Some(_), None) => self.add_widened("no longer has a schema for its items"),
        }
        let first = |map: &Map<String, Value>| map.get("prefixItems").and_then(Value::as_array).cloned();
        match (first(old), first(new)) {
            (None, None) => {}
            (Some(old), Some(new)) if old.len() == new.len() => {
                for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                    self.compare_at(&format!("[{at}]"), old, new);
                }
            }
            _ => self.add(ChangeClass::Breaking, "has different prefix items"),
        }
    }

    fn compare_choices(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for key in ["anyOf", "oneOf", "allOf"] {
            let members = |map: &Map<String, Value>| map.get(key).and_then(Value::as_array).cloned();
            match (members(old), members(new)) {
                (None, None) => {}
                (Some(_), None) if key == "allOf" => self.add_widened("has fewer constraints"),
                (None, Some(_)) if key == "allOf" => self.add_narrowed("has more constraints"),
                (Some(_), None) => self.add_widened("is no longer a choice"),
                (None, Some(_)) => self.add_narrowed("is a choice now"),
                (Some(old), Some(new)) => self.compare_branches(key, old, new),
            }
        }
    }

    /// Compares the branches of a combination. Equal branches are skipped; the others are compared pairwise in order.
    fn compare_branches(&mut self, key: &str, mut old: Vec<Value>, mut new: Vec<Value>) {
        let same: Vec<Value> = old.iter().filter(|member| new.contains(member)).cloned().collect();
        // The text of a reference stays equal when its target changes.
        let referring = same.iter().filter(|member| referenced_name(member).is_some());
        referring.for_each(|member| self.compare(member, member));
        old.retain(|member| !same.contains(member));
        new.retain(|member| !same.contains(member));
        for (old, new) in old.iter().zip(&new) {
            self.compare(old, new);
        }
        let (lost, gained) = (old.len() > new.len(), new.len() > old.len());
        if (lost && key != "allOf") || (gained && key == "allOf") {
            self.add_narrowed(if lost { "has fewer choices" } else { "has more constraints" });
        } else if lost || gained {
            self.add_widened(if gained { "has more choices" } else { "has fewer constraints" });
        }
    }
}

fn referenced_name(schema: &Value) -> Option<String> {
    definition_name(schema.get("$ref")?.as_str()?)
}

/// Returns a schema merged with the target of its `$ref`.
fn resolve(schema: &Value, defs: &Value) -> Map<String, Value> {
    let mut map = schema.as_object().cloned().unwrap_or_default();
    // Follows chains of references up to a limit, which also ends cycles.
    for _ in 0..16 {
        let Some(Value::Object(def)) =
            referenced_name(&Value::Object(map.clone())).and_then(|name| defs.get(&name).cloned())
        else {
            break;
        };
        map.remove("$ref");
        for (key, value) in def {
            map.entry(key).or_insert(value);
        }
    }
    map
}
