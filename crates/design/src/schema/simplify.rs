//! Rewrites a schema with fewer keywords, bottom up.
//!
//! The result is equivalent, except for optional properties of [`SchemaRole::Input`], which no longer accept `null`:
//! callers omit them instead.

use serde_json::{Map, Value, json};

use super::validator::is_standard_format;

/// Whether a schema describes arguments or results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaRole {
    /// Values that callers write. Normalization may narrow them.
    Input,
    /// Values that callers read. Every value must stay valid.
    Output,
}

/// The annotation keywords, which do not constrain values.
pub(super) const ANNOTATIONS: [&str; 8] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

/// Simplifies the schema of a required value.
pub(super) fn simplify(schema: &mut Value, role: SchemaRole) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        Value::Object(map) => {
            map.remove("$schema");
            // Validators of older drafts reject an empty array.
            if map.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                map.remove("required");
            }
            simplify_subschemas(map, role);
            replace_const(map);
            merge_enum_branches(map);
            remove_unknown_format(map);
            simplify_type(map);
        }
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}

/// Simplifies the schema of an optional value: in arguments, `null` is removed.
fn simplify_optional(schema: &mut Value, role: SchemaRole) {
    simplify(schema, role);
    if let (SchemaRole::Input, Value::Object(map)) = (role, schema) {
        remove_null(map);
        // Without `null`, further simplification may be possible.
        merge_enum_branches(map);
        simplify_type(map);
    }
}

fn simplify_subschemas(map: &mut Map<String, Value>, role: SchemaRole) {
    let required: Vec<String> = string_list(map, "required");
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    if required.contains(name) {
                        simplify(member, role)
                    } else {
                        simplify_optional(member, role)
                    }
                }
            }
            ("patternProperties" | "dependentSchemas" | "$defs", Value::Object(members)) => {
                members.values_mut().for_each(|member| simplify(member, role));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(members)) => {
                members.iter_mut().for_each(|member| simplify(member, role));
            }
            // Every client supports booleans for these two keywords.
            ("additionalProperties" | "unevaluatedProperties", value) if !value.is_boolean() => {
                simplify(value, role);
            }
            (
                "items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else" | "unevaluatedItems",
                value,
            ) => simplify(value, role),
            _ => {}
        }
    }
}

/// Returns the strings in an array, such as `required`.
pub(super) fn string_list(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let names = map.get(key).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Replaces `const` with an `enum` of one value.
fn replace_const(map: &mut Map<String, Value>) {
    if let Some(value) = map.remove("const") {
        let fits = map.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&value));
        let values = if fits { json!([value]) } else { json!([]) };
        map.insert("enum".into(), values);
    }
}

/// Merges a choice of fixed values to one `enum`. Descriptions of the values move to the description.
fn merge_enum_branches(map: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        let fixed = |member: &Value| {
            let member = member.as_object()?;
            let plain = |key: &String| {
                matches!(key.as_str(), "enum" | "type" | "title" | "description" | "deprecated")
            };
            let values = member.get("enum")?.as_array()?.clone();
            member.keys().all(plain).then(|| (values, member.get("description").cloned()))
        };
        let Some(members) = map.get(key).and_then(Value::as_array) else { continue };
        let Some(members) = members.iter().map(fixed).collect::<Option<Vec<_>>>() else { continue };
        let values: Vec<&Value> = members.iter().flat_map(|(values, _)| values).collect();
        let has_duplicates = values.iter().enumerate().any(|(at, value)| values[..at].contains(value));
        if members.is_empty() || has_duplicates || map.contains_key("enum") || map.contains_key("type") {
            continue;
        }
        let values: Vec<Value> = values.into_iter().cloned().collect();
        let mut annotations: Vec<String> =
            map.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
        let value_lines: Vec<String> = members
            .iter()
            .filter_map(|(values, note)| Some((values, note.as_ref()?.as_str()?)))
            .map(|(values, note)| {
                format!("- {}: {note}", values.iter().map(value_text).collect::<Vec<_>>().join(", "))
            })
            .collect();
        annotations.extend((!value_lines.is_empty()).then(|| value_lines.join("\n")));
        if !annotations.is_empty() {
            map.insert("description".into(), annotations.join("\n\n").into());
        }
        map.remove(key);
        map.insert("enum".into(), Value::Array(values));
    }
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}

/// Makes `type` a single name: infers it from `enum` if absent, and converts a `type` array to `anyOf`.
fn simplify_type(map: &mut Map<String, Value>) {
    if let (None, Some(Value::Array(values))) = (map.get("type"), map.get("enum")) {
        let kinds: Vec<&str> = values.iter().map(type_name).collect();
        if let [first, rest @ ..] = kinds.as_slice()
            && rest.iter().all(|kind| kind == first)
        {
            map.insert("type".into(), (*first).into());
        }
    }
    let Some(Value::Array(kinds)) = map.get("type") else { return };
    let kinds = kinds.clone();
    if let [kind] = kinds.as_slice() {
        map.insert("type".into(), kind.clone());
        return;
    }
    // A keyword does not constrain values of other types, so every branch can have all keywords.
    let (annotations, mut constraints): (Map<_, _>, Map<_, _>) =
        std::mem::take(map).into_iter().partition(|(key, _)| ANNOTATIONS.contains(&key.as_str()));
    constraints.remove("type");
    let member = |name: &Value| {
        let mut member = constraints.clone();
        if let Some(Value::Array(values)) = member.get_mut("enum") {
            values.retain(|value| {
                name == type_name(value) || (name == "number" && type_name(value) == "integer")
            });
            if values.is_empty() {
                return None;
            }
        }
        if name == "null" {
            member.clear();
        }
        member.insert("type".into(), name.clone());
        Some(Value::Object(member))
    };
    *map = annotations;
    map.insert("anyOf".into(), kinds.iter().filter_map(member).collect());
}

/// Returns the JSON Schema type of a value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Removes a `format` that JSON Schema does not define.
fn remove_unknown_format(map: &mut Map<String, Value>) {
    let known = |format: &Value| format.as_str().is_some_and(is_standard_format);
    if map.get("format").is_some_and(|format| !known(format)) {
        map.remove("format");
    }
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// Removes `null` from the values, the default and the branches of a schema.
fn remove_null(map: &mut Map<String, Value>) {
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
        simplify_type(map);
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(members)) = map.get_mut(key) else { continue };
        if members.iter().all(is_null) {
            continue;
        }
        members.retain(|member| !is_null(member));
        for member in members.iter_mut().filter_map(Value::as_object_mut) {
            remove_null(member);
            merge_enum_branches(member);
            simplify_type(member);
        }
        if let [Value::Object(only)] = members.as_mut_slice() {
            let only = std::mem::take(only);
            map.remove(key);
            merge(map, only);
        }
    }
}

/// Merges another schema into `map`, as `allOf` if keywords conflict. Existing annotations win, but lines about enum values
/// are appended to the description.
pub(super) fn merge(map: &mut Map<String, Value>, other: Map<String, Value>) {
    let conflicts = |(key, value): (&String, &Value)| {
        !ANNOTATIONS.contains(&key.as_str()) && map.get(key).is_some_and(|known| known != value)
    };
    if other.iter().any(conflicts) {
        let all = map.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(members) = all {
            members.push(Value::Object(other));
        }
        return;
    }
    let values = other.get("description").and_then(Value::as_str).and_then(value_lines_of).map(str::to_owned);
    if let (Some(values), Some(Value::String(own))) = (values, map.get_mut("description"))
        && !own.contains(&values)
    {
        own.push_str("\n\n");
        own.push_str(&values);
    }
    for (key, value) in other {
        map.entry(key).or_insert(value);
    }
}

/// Returns the lines about enum values in a description, as [`merge_enum_branches`] writes them.
fn value_lines_of(description: &str) -> Option<&str> {
    let start = if description.starts_with("- `") { 0 } else { description.find("\n- `")? + 1 };
    Some(&description[start..])
}
