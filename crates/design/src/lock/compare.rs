//! What a change of a schema means to those who use it.
//!
//! A schema that takes less breaks those who write its values; one that takes more breaks those who read them. A word that
//! is not known here counts as both.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::diff::Class;
use crate::schema::{Schemas, referred_name};

/// Whose values a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// The caller writes them.
    In,
    /// The caller reads them.
    Out,
}

/// Two versions of the shared types.
#[derive(Clone, Copy)]
pub(super) struct Pools<'a> {
    pub(super) old: &'a Schemas,
    pub(super) new: &'a Schemas,
}

/// Compares two schemas; each change is a class and a line. `subject` is what they describe, like `argument`.
pub(super) fn compare(
    pools: Pools<'_>,
    flow: Flow,
    subject: &'static str,
    [old, new]: [&Value; 2],
) -> Vec<(Class, String)> {
    let (old, new) = (pools.old.close(old), pools.new.close(new));
    let mut comparison = Comparison {
        old: old.get("$defs").cloned().unwrap_or_default(),
        new: new.get("$defs").cloned().unwrap_or_default(),
        flow,
        subject,
        path: String::new(),
        seen: BTreeSet::new(),
        changes: Vec::new(),
    };
    comparison.schema(&old, &new);
    comparison.changes
}

struct Comparison {
    old: Value,
    new: Value,
    flow: Flow,
    subject: &'static str,
    path: String,
    /// Pairs of types that are being compared or have been.
    seen: BTreeSet<(String, String)>,
    changes: Vec<(Class, String)>,
}

/// Words that are told apart from others, or not at all.
const HANDLED: [&str; 27] = [
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

impl Comparison {
    fn add(&mut self, class: Class, what: impl AsRef<str>) {
        let path = if self.path.is_empty() { String::new() } else { format!(" `{}`", self.path) };
        self.changes.push((class, format!("{}{path} {}", self.subject, what.as_ref())));
    }

    fn narrowed(&mut self, what: impl AsRef<str>) {
        self.add(if self.flow == Flow::In { Class::Breaking } else { Class::Additive }, what);
    }

    fn widened(&mut self, what: impl AsRef<str>) {
        self.add(if self.flow == Flow::In { Class::Additive } else { Class::Breaking }, what);
    }

    fn inside(&mut self, part: &str, old: &Value, new: &Value) {
        let length = self.path.len();
        if !self.path.is_empty() && !part.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(part);
        self.schema(old, new);
        self.path.truncate(length);
    }

    fn schema(&mut self, old: &Value, new: &Value) {
        let (from, to) = (name(old), name(new));
        if (from.is_some() || to.is_some())
            && !self
                .seen
                .insert((from.unwrap_or_else(|| old.to_string()), to.unwrap_or_else(|| new.to_string())))
        {
            return;
        }
        let (old, new) = (whole(old, &self.old), whole(new, &self.new));
        self.notes(&old, &new);
        self.types(&old, &new);
        self.values(&old, &new);
        self.bounds(&old, &new);
        self.members(&old, &new);
        self.items(&old, &new);
        self.choices(&old, &new);
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys.into_iter().filter(|key| !HANDLED.contains(&key.as_str())) {
            match (old.get(key), new.get(key)) {
                (one, other) if one == other => {}
                (None, _) => self.narrowed(format!("has `{key}` now")),
                (_, None) => self.widened(format!("has no `{key}` any more")),
                _ => self.add(Class::Breaking, format!("has another `{key}`")),
            }
        }
    }

    fn notes(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        if ["title", "description", "examples", "deprecated"].iter().any(|key| old.get(*key) != new.get(*key))
        {
            self.add(Class::Docs, "is described differently");
        }
        if old.get("default") != new.get("default") {
            self.add(Class::Additive, "has another default");
        }
    }

    fn types(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
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
            self.narrowed(format!("is no longer {lost}"));
        }
        if let Some(gained) = lacking(&new, &old) {
            self.widened(format!("may be {gained}"));
        }
    }

    fn values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
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
                self.narrowed(format!("is one of {} now", shown(values.iter().collect())))
            }
            (Some(_), None) => self.widened("is no longer a choice of fixed values"),
            (Some(old), Some(new)) => {
                let lost: Vec<&Value> = old.iter().filter(|value| !new.contains(value)).collect();
                let gained: Vec<&Value> = new.iter().filter(|value| !old.contains(value)).collect();
                if !lost.is_empty() {
                    self.narrowed(format!("is no longer {}", shown(lost)));
                }
                if !gained.is_empty() {
                    self.widened(format!("may be {}", shown(gained)));
                }
            }
        }
    }

    fn bounds(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let lower = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
        let upper = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
        for key in lower.into_iter().chain(upper) {
            let bound = |map: &Map<String, Value>| map.get(key).and_then(Value::as_f64);
            let tighter = match (bound(old), bound(new)) {
                (None, None) => continue,
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some(old), Some(new)) if old == new => continue,
                (Some(old), Some(new)) => (new > old) == lower.contains(&key),
            };
            let now = new.get(key).map_or_else(|| "nothing".to_owned(), ToString::to_string);
            if tighter {
                self.narrowed(format!("has the tighter `{key}` {now}"));
            } else {
                self.widened(format!("has the looser `{key}` {now}"));
            }
        }
    }

    fn members(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
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
                self.part(member, Class::Breaking, "was removed");
                continue;
            };
            match (required(old, member), required(new, member), self.flow) {
                (false, true, Flow::In) => self.part(member, Class::Breaking, "is required now"),
                (false, true, Flow::Out) => self.part(member, Class::Additive, "is always there now"),
                (true, false, Flow::In) => self.part(member, Class::Additive, "is optional now"),
                (true, false, Flow::Out) => self.part(member, Class::Breaking, "may be missing now"),
                (true, true, _) | (false, false, _) => {}
            }
            self.inside(member, schema, now);
        }
        for member in after.keys().filter(|member| !before.contains_key(*member)) {
            match (required(new, member), self.flow) {
                (true, Flow::In) => self.part(member, Class::Breaking, "was added and is required"),
                (false, Flow::In) | (_, Flow::Out) => self.part(member, Class::Additive, "was added"),
            }
        }
        let others =
            |map: &Map<String, Value>| map.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
        match (others(old), others(new)) {
            (old, new) if old == new => {}
            (Value::Bool(false), _) => self.add(Class::Additive, "takes other members now"),
            (_, Value::Bool(false)) => self.narrowed("takes no other members any more"),
            (old, new) => {
                let object =
                    |value: Value| if value.is_object() { value } else { Value::Object(empty.clone()) };
                self.inside("*", &object(old), &object(new));
            }
        }
    }

    fn part(&mut self, member: &str, class: Class, what: &str) {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(member);
        self.add(class, what);
        self.path.truncate(length);
    }

    fn items(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        match (old.get("items"), new.get("items")) {
            (None, None) => {}
            (Some(old), Some(new)) => self.inside("[]", old, new),
            (None, Some(_)) => self.narrowed("says what its items are now"),
            (Some(_), None) => self.widened("says no longer what its items are"),
        }
        let first = |map: &Map<String, Value>| map.get("prefixItems").and_then(Value::as_array).cloned();
        match (first(old), first(new)) {
            (None, None) => {}
            (Some(old), Some(new)) if old.len() == new.len() => {
                for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                    self.inside(&format!("[{at}]"), old, new);
                }
            }
            _ => self.add(Class::Breaking, "has other first items"),
        }
    }

    fn choices(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for key in ["anyOf", "oneOf", "allOf"] {
            let members = |map: &Map<String, Value>| map.get(key).and_then(Value::as_array).cloned();
            match (members(old), members(new)) {
                (None, None) => {}
                (Some(_), None) if key == "allOf" => self.widened("asks less than before"),
                (None, Some(_)) if key == "allOf" => self.narrowed("asks more than before"),
                (Some(_), None) => self.widened("is no longer a choice"),
                (None, Some(_)) => self.narrowed("is a choice now"),
                (Some(old), Some(new)) => self.paired(key, old, new),
            }
        }
    }

    /// Members that are the same are left out; of the rest, as many as there are are compared in order.
    fn paired(&mut self, key: &str, mut old: Vec<Value>, mut new: Vec<Value>) {
        let same: Vec<Value> = old.iter().filter(|member| new.contains(member)).cloned().collect();
        // A reference stays the same text while its type changes.
        let referring = same.iter().filter(|member| name(member).is_some());
        referring.for_each(|member| self.schema(member, member));
        old.retain(|member| !same.contains(member));
        new.retain(|member| !same.contains(member));
        for (old, new) in old.iter().zip(&new) {
            self.schema(old, new);
        }
        let (lost, gained) = (old.len() > new.len(), new.len() > old.len());
        if (lost && key != "allOf") || (gained && key == "allOf") {
            self.narrowed(if lost { "has fewer choices" } else { "asks more than before" });
        } else if lost || gained {
            self.widened(if gained { "has more choices" } else { "asks less than before" });
        }
    }
}

fn name(schema: &Value) -> Option<String> {
    referred_name(schema.get("$ref")?.as_str()?)
}

/// A schema, with what it refers to.
fn whole(schema: &Value, defs: &Value) -> Map<String, Value> {
    let mut map = schema.as_object().cloned().unwrap_or_default();
    // A type that only refers to another is followed a few times; one that refers to itself says nothing.
    for _ in 0..16 {
        let Some(Value::Object(def)) =
            name(&Value::Object(map.clone())).and_then(|name| defs.get(&name).cloned())
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
