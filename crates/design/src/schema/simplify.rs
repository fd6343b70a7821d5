//! One schema written plainly, from the leaves up.
//!
//! Says the same with fewer words of JSON Schema. Only where a property is optional and [`Side::Input`] is simplified does
//! it say less: `null` is then another way to leave it out, and is not told.

use serde_json::{Map, Value, json};

/// Who writes the values that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The caller: values may be narrowed.
    Input,
    /// The service: every value must go on fitting.
    Output,
}

/// The formats that JSON Schema defines; others mean nothing to a client, or are refused by it.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// What is said about a value rather than asked of it.
pub(super) const NOTES: [&str; 8] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

/// Simplifies a schema that describes something that must be there.
pub(super) fn simplify(schema: &mut Value, side: Side) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        Value::Object(map) => {
            map.remove("$schema");
            // Older validators refuse a list of nothing.
            if map.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                map.remove("required");
            }
            children(map, side);
            constants(map);
            choices(map);
            formats(map);
            types(map);
        }
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}

/// Simplifies a schema whose value may be left out: `null` is another way to do that.
fn simplify_optional(schema: &mut Value, side: Side) {
    simplify(schema, side);
    if let (Side::Input, Value::Object(map)) = (side, schema) {
        without_null(map);
        // What is left may be plainer than it was with the null.
        choices(map);
        types(map);
    }
}

fn children(map: &mut Map<String, Value>, side: Side) {
    let required: Vec<String> = names(map, "required");
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    if required.contains(name) {
                        simplify(member, side)
                    } else {
                        simplify_optional(member, side)
                    }
                }
            }
            ("patternProperties" | "dependentSchemas" | "$defs", Value::Object(members)) => {
                members.values_mut().for_each(|member| simplify(member, side));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(members)) => {
                members.iter_mut().for_each(|member| simplify(member, side));
            }
            // A boolean is the usual way to say these two, and every client knows it.
            ("additionalProperties" | "unevaluatedProperties", value) if !value.is_boolean() => {
                simplify(value, side);
            }
            (
                "items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else" | "unevaluatedItems",
                value,
            ) => simplify(value, side),
            _ => {}
        }
    }
}

pub(super) fn names(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let names = map.get(key).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// `const` is an `enum` of one.
fn constants(map: &mut Map<String, Value>) {
    if let Some(value) = map.remove("const") {
        let fits = map.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&value));
        let values = if fits { json!([value]) } else { json!([]) };
        map.insert("enum".into(), values);
    }
}

/// A choice of fixed values is one `enum`; what is said of each goes into the description.
fn choices(map: &mut Map<String, Value>) {
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
        let twice = values.iter().enumerate().any(|(at, value)| values[..at].contains(value));
        if members.is_empty() || twice || map.contains_key("enum") || map.contains_key("type") {
            continue;
        }
        let values: Vec<Value> = values.into_iter().cloned().collect();
        let mut notes: Vec<String> =
            map.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
        let told: Vec<String> = members
            .iter()
            .filter_map(|(values, note)| Some((values, note.as_ref()?.as_str()?)))
            .map(|(values, note)| {
                format!("- {}: {note}", values.iter().map(shown).collect::<Vec<_>>().join(", "))
            })
            .collect();
        notes.extend((!told.is_empty()).then(|| told.join("\n")));
        if !notes.is_empty() {
            map.insert("description".into(), notes.join("\n\n").into());
        }
        map.remove(key);
        map.insert("enum".into(), Value::Array(values));
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}

/// `type` is one name: known from an `enum` where it is missing, and a choice where it is several.
fn types(map: &mut Map<String, Value>) {
    if let (None, Some(Value::Array(values))) = (map.get("type"), map.get("enum")) {
        let kinds: Vec<&str> = values.iter().map(kind).collect();
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
    // A keyword asks nothing of values it is not about, so each member may have them all.
    let (notes, mut asked): (Map<_, _>, Map<_, _>) =
        std::mem::take(map).into_iter().partition(|(key, _)| NOTES.contains(&key.as_str()));
    asked.remove("type");
    let member = |named: &Value| {
        let mut member = asked.clone();
        if let Some(Value::Array(values)) = member.get_mut("enum") {
            values.retain(|value| named == kind(value) || (named == "number" && kind(value) == "integer"));
            if values.is_empty() {
                return None;
            }
        }
        if named == "null" {
            member.clear();
        }
        member.insert("type".into(), named.clone());
        Some(Value::Object(member))
    };
    *map = notes;
    map.insert("anyOf".into(), kinds.iter().filter_map(member).collect());
}

/// The `type` of a value.
pub(super) fn kind(value: &Value) -> &'static str {
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

fn formats(map: &mut Map<String, Value>) {
    let known = |format: &Value| format.as_str().is_some_and(|format| FORMATS.contains(&format));
    if map.get("format").is_some_and(|format| !known(format)) {
        map.remove("format");
    }
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn without_null(map: &mut Map<String, Value>) {
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
        types(map);
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(members)) = map.get_mut(key) else { continue };
        if members.iter().all(is_null) {
            continue;
        }
        members.retain(|member| !is_null(member));
        for member in members.iter_mut().filter_map(Value::as_object_mut) {
            without_null(member);
            choices(member);
            types(member);
        }
        if let [Value::Object(only)] = members.as_mut_slice() {
            let only = std::mem::take(only);
            map.remove(key);
            merge(map, only);
        }
    }
}

/// Adds what a schema asks to another; notes that are there already stay, beside what is said of the values of a choice.
pub(super) fn merge(map: &mut Map<String, Value>, other: Map<String, Value>) {
    let clash = |(key, value): (&String, &Value)| {
        !NOTES.contains(&key.as_str()) && map.get(key).is_some_and(|known| known != value)
    };
    if other.iter().any(clash) {
        let all = map.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(members) = all {
            members.push(Value::Object(other));
        }
        return;
    }
    let values = other.get("description").and_then(Value::as_str).and_then(value_notes).map(str::to_owned);
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

/// The lines of a description that are about the values of a choice, as [`choices`] writes them.
fn value_notes(description: &str) -> Option<&str> {
    let start = if description.starts_with("- `") { 0 } else { description.find("\n- `")? + 1 };
    Some(&description[start..])
}
