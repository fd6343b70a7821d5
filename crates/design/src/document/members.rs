//! The members of nested objects as rows of a table, with dotted names: `filter.tags[].name`.

use serde_json::{Map, Value};

use super::words::{branches, code, resolved, words};
use crate::schema::referred_name;

/// Rows for one argument or result; the schema has the rest.
const MAX_ROWS: usize = 150;

/// One member of an object.
#[derive(Debug, PartialEq)]
pub(super) struct Member {
    /// Its place, like `filter.tags[].name`.
    pub(super) path: String,
    /// Its type in words.
    pub(super) kind: String,
    /// Whether the object has it always.
    pub(super) is_required: bool,
    pub(super) default: Option<Value>,
    pub(super) description: String,
}

/// All members of the objects that a schema describes, which stands on its own. `path` is where the value is.
pub(super) fn members(schema: &Value, path: &str) -> Vec<Member> {
    let mut walk = Walk { root: schema, followed: Vec::new(), rows: Vec::new() };
    walk.value(schema, path, "");
    if walk.rows.len() > MAX_ROWS {
        walk.rows.truncate(MAX_ROWS);
        walk.rows.push(Member {
            path: "…".to_owned(),
            kind: String::new(),
            is_required: false,
            default: None,
            description: "There are more members: see the schema.".to_owned(),
        });
    }
    walk.rows
}

struct Walk<'a> {
    root: &'a Value,
    /// The definitions that the walk is in, and where each began.
    followed: Vec<(String, String)>,
    rows: Vec<Member>,
}

impl<'a> Walk<'a> {
    /// Adds what is below a value. `when` says of which form of the value.
    fn value(&mut self, schema: &'a Value, path: &str, when: &str) {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(referred_name);
        if self.rows.len() > MAX_ROWS || self.repeats(schema).is_some() {
            return;
        }
        let depth = self.followed.len();
        self.followed.extend(name.map(|name| (name, path.to_owned())));
        let schema = resolved(schema, self.root);
        self.choice(schema, path, when);
        self.object(schema, path, when);
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.value(part, path, when);
        }
        for every in [schema.get("items"), schema.get("prefixItems")].into_iter().flatten() {
            match every {
                Value::Array(first) => {
                    for (at, item) in first.iter().enumerate() {
                        self.value(item, &format!("{path}[{at}]"), when);
                    }
                }
                every => self.value(every, &format!("{path}[]"), when),
            }
        }
        self.followed.truncate(depth);
    }

    /// Where a definition that the walk is in began, when a schema refers to it.
    fn repeats(&self, schema: &Value) -> Option<&str> {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(referred_name)?;
        let (_, path) = self.followed.iter().find(|(known, _)| *known == name)?;
        Some(path)
    }

    fn object(&mut self, schema: &'a Value, path: &str, when: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for name in in_order(schema, properties) {
                let is_required = requires(schema, name);
                self.member(&properties[name], &join(path, name), is_required, when);
            }
        }
        match schema.get("additionalProperties") {
            Some(every @ Value::Object(_)) => self.member(every, &join(path, "*"), false, when),
            Some(every @ Value::Bool(true)) => self.member(every, &join(path, "*"), false, when),
            _ => {}
        }
    }

    fn member(&mut self, schema: &'a Value, path: &str, is_required: bool, when: &str) {
        let repeated =
            self.repeats(schema).or_else(|| schema.get("items").and_then(|items| self.repeats(items)));
        let mut kind = words(schema, self.root);
        if let Some(first) = repeated.filter(|first| !first.is_empty()) {
            kind.push_str(&format!(" like `{first}`"));
        }
        let about = schema.get("description").or_else(|| resolved(schema, self.root).get("description"));
        let about = about.and_then(Value::as_str).unwrap_or_default().trim();
        self.rows.push(Member {
            path: path.to_owned(),
            kind,
            is_required,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            description: match (when, about) {
                ("", about) => about.to_owned(),
                (when, "") => when.to_owned(),
                (when, about) => format!("{when}: {about}"),
            },
        });
        self.value(schema, path, when);
    }

    /// Adds the members of each branch of a choice: the tag once, and the rest with the branch they belong to.
    fn choice(&mut self, schema: &'a Value, path: &str, when: &str) {
        let branches = branches(schema);
        let [first, _, ..] = branches.as_slice() else {
            branches.into_iter().for_each(|only| self.value(only, path, when));
            return;
        };
        let root = self.root;
        let tag = tag(resolved(first, root)).map(|(name, _)| name);
        let tags: Option<Vec<&Value>> =
            branches.iter().map(|branch| tag_named(resolved(branch, root), tag?)).collect();
        if let (Some(tag), Some(tags)) = (tag, &tags) {
            let values: Vec<String> = tags.iter().map(|value| code(value)).collect();
            self.rows.push(Member {
                path: join(path, tag),
                kind: format!("one of {}", values.join(", ")),
                is_required: true,
                default: None,
                description: when.to_owned(),
            });
        }
        for (at, branch) in branches.iter().enumerate() {
            let form = match (tag, &tags) {
                (Some(tag), Some(tags)) => format!("With `{tag}` {}", code(tags[at])),
                _ => format!("Form {} of {}", at + 1, branches.len()),
            };
            let before = self.rows.len();
            self.value(branch, path, &form);
            if let (Some(tag), Some(_)) = (tag, &tags) {
                let tag = join(path, tag);
                let mut at = 0;
                self.rows.retain(|row| {
                    at += 1;
                    at <= before || row.path != tag
                });
            }
        }
    }
}

/// The required member of an object that has one fixed value.
fn tag(schema: &Value) -> Option<(&str, &Value)> {
    let properties = schema.get("properties")?.as_object()?;
    let fixed =
        properties.iter().filter_map(|(name, member)| match member.get("enum")?.as_array()?.as_slice() {
            [only] if requires(schema, name) => Some((name.as_str(), only)),
            _ => None,
        });
    // Maps have another order when `serde_json` keeps that of insertion.
    fixed.min_by_key(|(name, _)| *name)
}

fn tag_named<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    tag(schema).filter(|(known, _)| *known == name).map(|(_, value)| value)
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|known| known == name))
}

/// The names of properties: first what is required, as declared, then the rest by name.
fn in_order<'a>(schema: &Value, properties: &'a Map<String, Value>) -> Vec<&'a String> {
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let place = |name: &str| required.iter().position(|known| known == name).unwrap_or(usize::MAX);
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort_unstable_by(|one, other| place(one).cmp(&place(other)).then_with(|| one.cmp(other)));
    names
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
