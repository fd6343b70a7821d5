//! Whether a value fits a schema, and every place where it does not.
//!
//! Knows the words that say what shape a value has. Does not know `pattern`, `format`, `propertyNames`, `if`, and the
//! `unevaluated` and `dependent` words: what only those refuse fits here. For more, use a whole validator.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::defs::name_of;
use super::simplify::{kind, names};
use crate::repair::Issue;

/// Schemas that refer to each other deeper than this are not followed.
const MOST_DEPTH: usize = 64;

/// So many places are told; what is wrong beyond them is found when those are right.
const MOST_ISSUES: usize = 100;

/// After so many looks, what is left does not fit: choices within choices could take for ever.
const MOST_LOOKS: usize = 50_000;

/// Every place where a value does not fit a schema that stands on its own, with what would.
///
/// Empty when it fits, as far as the words go that are known here: what `pattern` or `format` would refuse is not found.
pub fn misfits(schema: &Value, value: &Value) -> Vec<Issue> {
    let defs = schema.get("$defs").and_then(Value::as_object);
    let looks = Cell::new(0);
    let mut found = Fit { defs, pointer: String::new(), issues: Vec::new(), depth: 0, looks: &looks };
    found.look(schema, value);
    found.issues
}

struct Fit<'a> {
    defs: Option<&'a Map<String, Value>>,
    pointer: String,
    issues: Vec<Issue>,
    depth: usize,
    looks: &'a Cell<usize>,
}

impl<'a> Fit<'a> {
    fn add(&mut self, message: impl Into<String>, expected: impl Into<String>) {
        self.tell(Issue::new(self.pointer.clone(), message).expecting(expected));
    }

    /// Nobody reads more than so many, and each takes room in the answer.
    fn tell(&mut self, issue: Issue) {
        if self.issues.len() < MOST_ISSUES {
            self.issues.push(issue);
        }
    }

    fn look(&mut self, schema: &'a Value, value: &Value) {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return self.add("is not allowed", "nothing"),
            _ => return,
        };
        if self.depth >= MOST_DEPTH {
            return;
        }
        if self.looks.replace(self.looks.get() + 1) > MOST_LOOKS {
            return self.add("is too intricate to be looked at", "something simpler");
        }
        self.depth += 1;
        if let Some(name) = map.get("$ref").and_then(Value::as_str).and_then(name_of)
            && let Some(def) = self.defs.and_then(|defs| defs.get(&name))
        {
            self.look(def, value);
        }
        // What has the wrong type has nothing else that could be wrong.
        if self.fixed(map, value) {
            match value {
                Value::Object(members) => self.object(map, members),
                Value::Array(items) => self.array(map, items),
                Value::String(text) => self.text(map, text),
                Value::Number(number) => self.number(map, number),
                Value::Null | Value::Bool(_) => {}
            }
            self.combinations(map, value);
        }
        self.depth -= 1;
    }

    /// Types and fixed values. Tells whether they are right.
    fn fixed(&mut self, map: &Map<String, Value>, value: &Value) -> bool {
        let kinds: Vec<&str> = match map.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
            self.add(format!("is {}", shown(value)), kinds.join(" or "));
            return false;
        }
        let values = match (map.get("const"), map.get("enum")) {
            (Some(value), _) => std::slice::from_ref(value),
            (None, Some(Value::Array(values))) => values,
            (None, _) => return true,
        };
        if values.iter().any(|known| same(known, value)) {
            return true;
        }
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.add(format!("is {}", shown(value)), format!("one of {}", values.join(", ")));
        false
    }

    fn inside(&mut self, part: &str, schema: &'a Value, value: &Value) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
        self.look(schema, value);
        self.pointer.truncate(length);
    }

    fn object(&mut self, map: &'a Map<String, Value>, members: &Map<String, Value>) {
        let properties = map.get("properties").and_then(Value::as_object);
        for name in names(map, "required").into_iter().filter(|name| !members.contains_key(name)) {
            let expected =
                properties.and_then(|properties| properties.get(&name)).and_then(|p| p.get("type"));
            let expected = expected.and_then(Value::as_str).unwrap_or("a value").to_owned();
            let at = format!("{}{}", self.pointer, Issue::at(&name, "").pointer);
            self.tell(Issue::new(at, "is missing").expecting(expected));
        }
        let others = map.get("additionalProperties").filter(|_| !map.contains_key("patternProperties"));
        // By name, whatever order the map has.
        let mut members: Vec<(&String, &Value)> = members.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        for (name, member) in &members {
            let own = properties.and_then(|properties| properties.get(*name));
            if let Some(schema) = own.or(others) {
                if *schema == Value::Bool(false) {
                    let mut known: Vec<&str> =
                        properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                    known.sort_unstable();
                    let at = format!("{}{}", self.pointer, Issue::at(name, "").pointer);
                    let expected = if known.is_empty() { "nothing".into() } else { known.join(", ") };
                    self.tell(Issue::new(at, "is not a known member").expecting(expected));
                } else {
                    self.inside(name, schema, member);
                }
            }
        }
        self.count(map, members.len(), ["minProperties", "maxProperties"], "members");
    }

    fn array(&mut self, map: &'a Map<String, Value>, items: &[Value]) {
        let first = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(at).or(map.get("items")) {
                self.inside(&at.to_string(), schema, item);
            }
        }
        self.count(map, items.len(), ["minItems", "maxItems"], "items");
        if map.get("uniqueItems") == Some(&Value::Bool(true)) && has_twins(items) {
            self.add("has an item twice", "different items");
        }
        if let Some(wanted) = map.get("contains") {
            let least = map.get("minContains").and_then(Value::as_u64).unwrap_or(1);
            let found = items.iter().filter(|item| self.fits(wanted, item)).count() as u64;
            if found < least {
                self.add("lacks an item that it must contain", "such an item");
            }
        }
    }

    fn text(&mut self, map: &Map<String, Value>, text: &str) {
        self.count(map, text.chars().count(), ["minLength", "maxLength"], "characters");
    }

    fn count(&mut self, map: &Map<String, Value>, count: usize, [least, most]: [&str; 2], what: &str) {
        let bound = |key: &str| map.get(key).and_then(Value::as_f64);
        let count = count as f64;
        if let Some(least) = bound(least).filter(|least| count < *least) {
            self.add(format!("has {count} {what}"), format!("at least {least}"));
        }
        if let Some(most) = bound(most).filter(|most| count > *most) {
            self.add(format!("has {count} {what}"), format!("at most {most}"));
        }
    }

    fn number(&mut self, map: &Map<String, Value>, number: &Number) {
        let rules: [Bound; 4] = [
            ("minimum", "at least", Ordering::is_ge),
            ("maximum", "at most", Ordering::is_le),
            ("exclusiveMinimum", "more than", Ordering::is_gt),
            ("exclusiveMaximum", "less than", Ordering::is_lt),
        ];
        for (key, words, holds) in rules {
            if let Some(Value::Number(bound)) = map.get(key)
                && !compare(number, bound).is_some_and(holds)
            {
                self.add(format!("is {number}"), format!("{words} {bound}"));
            }
        }
        if let Some(Value::Number(step)) = map.get("multipleOf")
            && !is_multiple(number, step)
        {
            self.add(format!("is {number}"), format!("a multiple of {step}"));
        }
    }

    fn combinations(&mut self, map: &'a Map<String, Value>, value: &Value) {
        for schema in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.look(schema, value);
        }
        for (key, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(Value::Array(schemas)) = map.get(key) else { continue };
            let found: Vec<Vec<Issue>> = schemas.iter().map(|schema| self.issues_of(schema, value)).collect();
            let fitting = found.iter().filter(|issues| issues.is_empty()).count();
            if fitting > most {
                self.add(format!("fits {fitting} of the choices"), "exactly one");
            } else if fitting == 0 {
                // Why the choice that comes nearest does not fit.
                match found.into_iter().min_by_key(Vec::len) {
                    Some(issues) => self.issues.extend(issues),
                    None => self.add("has nothing to choose from", "a choice"),
                }
            }
        }
        if map.get("not").is_some_and(|schema| self.fits(schema, value)) {
            self.add("is just what it may not be", "something else");
        }
    }

    fn fits(&self, schema: &'a Value, value: &Value) -> bool {
        self.issues_of(schema, value).is_empty()
    }

    fn issues_of(&self, schema: &'a Value, value: &Value) -> Vec<Issue> {
        let (defs, pointer, depth, looks) = (self.defs, self.pointer.clone(), self.depth, self.looks);
        let mut inner = Self { defs, pointer, issues: Vec::new(), depth, looks };
        inner.look(schema, value);
        inner.issues
    }
}

/// A word that bounds a number, how it is told, and when it holds.
type Bound = (&'static str, &'static str, fn(Ordering) -> bool);

/// Whether a value is of a `type`. A number without a fraction is an integer, however it is written.
fn is_of(named: &str, value: &Value) -> bool {
    match (named, value) {
        ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => kind(value) == named,
    }
}

/// Equal, with numbers by value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    let whole = |number: &Number| number.as_i128();
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    match (number.as_i128(), step.as_i128(), number.as_f64(), step.as_f64()) {
        (_, Some(0), ..) => true,
        (Some(number), Some(step), ..) => number % step == 0,
        (_, _, Some(number), Some(step)) => {
            let times = number / step;
            (times - times.round()).abs() < 1e-9
        }
        _ => true,
    }
}

/// Scalars as they are; of the rest, what they are.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(_) => "an array".into(),
        Value::String(text) if text.chars().count() > 40 => "a long text".into(),
        scalar => scalar.to_string(),
    }
}

/// Whether two items are the same. In one pass, by how they are written: 1 and 1.0 are one number.
fn has_twins(items: &[Value]) -> bool {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Number(number) => match number.as_f64().filter(|whole| whole.fract() == 0.0) {
                Some(whole) if number.is_f64() => out.push_str(&format!("{whole:.0}")),
                _ => out.push_str(&number.to_string()),
            },
            Value::Array(items) => {
                out.push('[');
                items.iter().for_each(|item| {
                    write(item, out);
                    out.push(',');
                });
                out.push(']');
            }
            Value::Object(members) => {
                // Their order says nothing.
                let mut names: Vec<&String> = members.keys().collect();
                names.sort_unstable();
                out.push('{');
                for name in names {
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push(':');
                    write(&members[name], out);
                    out.push(',');
                }
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut seen = HashSet::with_capacity(items.len());
    !items.iter().all(|item| {
        let mut text = String::new();
        write(item, &mut text);
        seen.insert(text)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(schema: Value, value: Value) -> Vec<String> {
        misfits(&schema, &value).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_misfit_is_told_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "how": {"type": "string", "enum": ["fast", "slow"]},
                "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "maxItems": 2},
            },
            "required": ["text", "id"],
            "additionalProperties": false,
            "$defs": {"Tag": {"type": "string"}},
        });
        assert_eq!(
            lines(
                schema.clone(),
                json!({"text": "", "limit": 51, "how": "left", "tags": ["a", 1, "c"], "x/y": 0})
            ),
            [
                "/id: is missing (expected a value)",
                "/how: is \"left\" (expected one of \"fast\", \"slow\")",
                "/limit: is 51 (expected at most 50)",
                "/tags/1: is 1 (expected string)",
                "/tags: has 3 items (expected at most 2)",
                "/text: has 0 characters (expected at least 1)",
                "/x~1y: is not a known member (expected how, limit, tags, text)",
            ]
        );
        assert_eq!(lines(schema.clone(), json!([])), ["is an array (expected object)"]);
        assert_eq!(
            lines(schema, json!({"text": "a", "id": null, "limit": 3.0}))[..],
            ["/id: is not a known member (expected how, limit, tags, text)"]
        );
    }

    #[test]
    fn a_choice_is_explained_by_what_comes_nearest() {
        let schema = json!({"anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ]});
        assert_eq!(lines(schema.clone(), json!({"a": true})), ["/a: is true (expected integer)"]);
        assert_eq!(lines(schema, json!({"a": "x", "b": 1})), [""; 0]);
        let one = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
        assert_eq!(lines(one.clone(), json!(1)), ["fits 2 of the choices (expected exactly one)"]);
        assert_eq!(lines(one, json!(1.5)), [""; 0]);
        assert_eq!(lines(json!({"not": {}}), json!(1)).len(), 1);
    }

    #[test]
    fn choices_within_choices_end() {
        let all = |name: &str| {
            let args = json!({"type": "array", "items": {"$ref": "#/$defs/E"}});
            json!({"type": "object", "properties": {"args": args}, "required": [name]})
        };
        let schema =
            json!({"$ref": "#/$defs/E", "$defs": {"E": {"anyOf": [all("and"), all("or"), all("not")]}}});
        let value = (0..30).fold(json!({}), |inner, _| json!({"args": [inner]}));
        assert!(!lines(schema, value).is_empty());
    }

    #[test]
    fn a_schema_that_is_only_a_reference_to_itself_ends() {
        let schema = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        assert_eq!(lines(schema, json!(1)), [""; 0]);
    }

    #[test]
    fn twins_are_found_in_one_pass_however_they_are_written() {
        let unique = json!({"type": "array", "uniqueItems": true});
        for twins in [json!([1, 1.0]), json!([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]), json!([[1], [1.0]])] {
            assert_eq!(lines(unique.clone(), twins).len(), 1);
        }
        assert_eq!(lines(unique.clone(), json!([1, "1", 1.5, [1], {"a": 1}, null])), [""; 0]);
        // As many as a message may hold: comparing each with each would take minutes.
        let many: Vec<u32> = (0..200_000).collect();
        assert_eq!(lines(unique, json!(many)), [""; 0]);
    }

    #[test]
    fn so_many_issues_are_told_and_no_more() {
        let schema = json!({"type": "array", "items": {"type": "integer"}});
        assert_eq!(lines(schema, json!(vec![""; 10_000])).len(), MOST_ISSUES);
    }
}
