//! Flattens the members of nested objects to table rows with dotted paths: `filter.tags[].name`.

use serde_json::{Map, Value};

use super::type_text::{branches, code, describe_type, resolve};
use crate::schema::definition_name;

/// The maximum number of rows for one argument or result.
const MAX_ROWS: usize = 150;

/// One member of an object.
#[derive(Debug, PartialEq)]
pub(super) struct Member {
    /// The path, like `filter.tags[].name`.
    pub(super) path: String,
    /// A description of the type.
    pub(super) kind: String,
    /// Whether the member is required.
    pub(super) is_required: bool,
    pub(super) default: Option<Value>,
    pub(super) description: String,
}

/// Returns the members of all objects in a self-contained schema. `path` is the path of the value.
pub(super) fn members(schema: &Value, path: &str) -> Vec<Member> {
    let mut walker = MemberWalker { root: schema, followed: Vec::new(), rows: Vec::new() };
    walker.visit_value(schema, path, "");
    if walker.rows.len() > MAX_ROWS {
        walker.rows.truncate(MAX_ROWS);
        walker.rows.push(Member {
            path: "…".to_owned(),
            kind: String::new(),
            is_required: false,
            default: None,
            description: "There are more members: see the schema.".to_owned(),
        });
    }
    walker.rows
}

struct MemberWalker<'a> {
    root: &'a Value,
    /// The definitions being visited, and the path at which each was entered.
    followed: Vec<(String, String)>,
    rows: Vec<Member>,
}

impl<'a> MemberWalker<'a> {
    /// Adds the members below a value. `condition` names the variant of the value that has them.
    fn visit_value(&mut self, schema: &'a Value, path: &str, condition: &str) {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(definition_name);
        if self.rows.len() > MAX_ROWS || self.enclosing_path(schema).is_some() {
            return;
        }
        let depth = self.followed.len();
        self.followed.extend(name.map(|name| (name, path.to_owned())));
        let schema = resolve(schema, self.root);
        self.visit_choice(schema, path, condition);
        self.visit_object(schema, path, condition);
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.visit_value(part, path, condition);
        }
        for every in [schema.get("items"), schema.get("prefixItems")].into_iter().flatten() {
            match every {
                Value::Array(first) => {
                    for (at, item) in first.iter().enumerate() {
                        self.visit_value(item, &format!("{path}[{at}]"), condition);
                    }
                }
                every => self.visit_value(every, &format!("{path}[]"), condition),
            }
        }
        self.followed.truncate(depth);
    }

    /// Returns the path of the enclosing definition that a schema refers to, if it is recursive.
    fn enclosing_path(&self, schema: &Value) -> Option<&str> {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(definition_name)?;
        let (_, path) = self.followed.iter().find(|(known, _)| *known == name)?;
        Some(path)
    }

    fn visit_object(&mut self, schema: &'a Value, path: &str, condition: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for name in declared_order(schema, properties) {
                let is_required = requires(schema, name);
                self.visit_member(&properties[name], &join(path, name), is_required, condition);
            }
        }
        match schema.get("additionalProperties") {
            Some(every @ Value::Object(_)) => self.visit_member(every, &join(path, "*"), false, condition),
            Some(every @ Value::Bool(true)) => self.visit_member(every, &join(path, "*"), false, condition),
            _ => {}
        }
    }

    fn visit_member(&mut self, schema: &'a Value, path: &str, is_required: bool, condition: &str) {
        let repeated = self
            .enclosing_path(schema)
            .or_else(|| schema.get("items").and_then(|items| self.enclosing_path(items)));
        let mut kind = describe_type(schema, self.root);
        if let Some(first) = repeated.filter(|first| !first.is_empty()) {
            kind.push_str(&format!(" like `{first}`"));
        }
        let description = schema.get("description").or_else(|| resolve(schema, self.root).get("description"));
        let description = description.and_then(Value::as_str).unwrap_or_default().trim();
        self.rows.push(Member {
            path: path.to_owned(),
            kind,
            is_required,
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            description: match (condition, description) {
                ("", description) => description.to_owned(),
                (condition, "") => condition.to_owned(),
                (condition, description) => format!("{condition}: {description}"),
            },
        });
        self.visit_value(schema, path, condition);
    }

    /// Adds the members of each branch of a choice: the tag once, the others with the condition of their branch.
    fn visit_choice(&mut self, schema: &'a Value, path: &str, condition: &str) {
        let branches = branches(schema);
        let [first, _, ..] = branches.as_slice() else {
            branches.into_iter().for_each(|only| self.visit_value(only, path, condition));
            return;
        };
        let root = self.root;
        let tag = tag(resolve(first, root)).map(|(name, _)| name);
        let tags: Option<Vec<&Value>> =
            branches.iter().map(|branch| tag_value(resolve(branch, root), tag?)).collect();
        if let (Some(tag), Some(tags)) = (tag, &tags) {
            let values: Vec<String> = tags.iter().map(|value| code(value)).collect();
            self.rows.push(Member {
                path: join(path, tag),
                kind: format!("one of {}", values.join(", ")),
                is_required: true,
                default: None,
                description: condition.to_owned(),
            });
        }
        for (at, branch) in branches.iter().enumerate() {
            let form = match (tag, &tags) {
                (Some(tag), Some(tags)) => format!("With `{tag}` {}", code(tags[at])),
                _ => format!("Form {} of {}", at + 1, branches.len()),
            };
            let before = self.rows.len();
            self.visit_value(branch, path, &form);
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

/// Returns the tag of an object: its required member with one fixed value.
fn tag(schema: &Value) -> Option<(&str, &Value)> {
    let properties = schema.get("properties")?.as_object()?;
    let fixed =
        properties.iter().filter_map(|(name, member)| match member.get("enum")?.as_array()?.as_slice() {
            [only] if requires(schema, name) => Some((name.as_str(), only)),
            _ => None,
        });
    // The order of a map depends on the features of `serde_json`.
    fixed.min_by_key(|(name, _)| *name)
}

fn tag_value<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    tag(schema).filter(|(known, _)| *known == name).map(|(_, value)| value)
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|known| known == name))
}

/// Returns the property names: the required ones in declared order, then the others sorted by name.
fn declared_order<'a>(schema: &Value, properties: &'a Map<String, Value>) -> Vec<&'a String> {
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let rank = |name: &str| required.iter().position(|known| known == name).unwrap_or(usize::MAX);
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort_unstable_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
    names
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
