//! For Gemini, which accepts a subset of OpenAPI schemas: no references, few keywords, enumerations of strings only.

use serde_json::{Map, Value, json};

use super::{MAX_DEPTH, ProfileError};

const TEXTS: [&str; 3] = ["title", "description", "pattern"];
const COUNTS: [&str; 6] =
    ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
const FORMATS: [&str; 6] = ["enum", "date-time", "int32", "int64", "float", "double"];
/// The limit of enumeration values that are listed in the description.
const MAX_LISTED: usize = 32;

/// Reduces a schema to the keywords that Gemini accepts.
pub(super) fn reduce(schema: &Value) -> Result<Value, ProfileError> {
    reduce_at(schema, 0)
}

fn reduce_at(schema: &Value, depth: usize) -> Result<Value, ProfileError> {
    if depth > MAX_DEPTH {
        return Err(ProfileError::TooDeep);
    }
    let Value::Object(members) = schema else { return Ok(Value::Object(isolate_any_of(Map::new()))) };
    let members = merge_all_of(members);
    let mut out = Map::new();
    for (key, value) in &members {
        let is_kept = match key.as_str() {
            "default" => true,
            "minimum" | "maximum" => value.is_number(),
            key if TEXTS.contains(&key) => value.is_string(),
            key => COUNTS.contains(&key) && value.is_u64(),
        };
        if is_kept {
            out.insert(key.clone(), value.clone());
        }
    }
    set_type(&members, &mut out);
    set_enum(&members, &mut out);
    if let Some(format) = members.get("format").filter(|format| FORMATS.iter().any(|known| *format == known))
    {
        out.insert("format".into(), format.clone());
    }
    if let Some(Value::Object(properties)) = members.get("properties") {
        let properties =
            properties.iter().map(|(name, schema)| Ok((name.clone(), reduce_at(schema, depth + 1)?)));
        let properties: Map<String, Value> = properties.collect::<Result<_, ProfileError>>()?;
        set_required(&members, &properties, &mut out);
        out.insert("properties".into(), Value::Object(properties));
        out.entry("type").or_insert_with(|| json!("object"));
    }
    if out.get("type") == Some(&json!("array")) || members.contains_key("items") {
        out.insert("type".into(), json!("array"));
        out.insert("items".into(), items(&members, depth)?);
    }
    set_alternatives(&members, &mut out, depth)?;
    Ok(Value::Object(isolate_any_of(out)))
}

/// Makes `anyOf` the only keyword of its schema; every other schema needs a type.
fn isolate_any_of(mut out: Map<String, Value>) -> Map<String, Value> {
    if out.contains_key("properties") {
        out.remove("anyOf");
    }
    let Some(Value::Array(mut branches)) = out.remove("anyOf") else {
        // A schema that accepts anything becomes a string.
        out.entry("type").or_insert_with(|| json!("string"));
        return out;
    };
    for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
        for key in ["description", "nullable"] {
            if let Some(value) = out.get(key) {
                branch.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    Map::from_iter([("anyOf".to_owned(), Value::Array(branches))])
}

/// Merges the keywords of `allOf` into the schema; its own keywords win.
fn merge_all_of(members: &Map<String, Value>) -> Map<String, Value> {
    let mut out = members.clone();
    let Some(Value::Array(parts)) = out.remove("allOf") else { return out };
    for part in parts.iter().filter_map(Value::as_object) {
        for (key, value) in merge_all_of(part) {
            match (out.get_mut(&key), value) {
                (None, value) => drop(out.insert(key, value)),
                (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                    for (name, schema) in more {
                        known.entry(name).or_insert(schema);
                    }
                }
                (Some(Value::Array(known)), Value::Array(more)) if key == "required" => known.extend(more),
                (Some(_), _) => {}
            }
        }
    }
    out
}

/// Sets one type; `null` becomes `nullable`.
fn set_type(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    let is_known = |kind: &&str| ["string", "number", "integer", "boolean", "object", "array"].contains(kind);
    let kinds: Vec<&str> = match members.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.contains(&"null") || members.get("nullable") == Some(&Value::Bool(true)) {
        out.insert("nullable".into(), json!(true));
    }
    match kinds.iter().copied().filter(is_known).collect::<Vec<_>>().as_slice() {
        [] => {}
        [kind] => drop(out.insert("type".into(), json!(kind))),
        kinds => {
            let each: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind})).collect();
            out.insert("anyOf".into(), json!(each));
        }
    }
}

/// Keeps enumerations of strings; lists other values in the description.
fn set_enum(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    let values = match (members.get("enum"), members.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return,
    };
    if values.contains(&Value::Null) {
        out.insert("nullable".into(), json!(true));
    }
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if !values.is_empty() && values.iter().all(Value::is_string) {
        // Gemini rejects empty strings.
        let texts: Vec<Value> = values.into_iter().filter(|value| value != "").collect();
        out.insert("type".into(), json!("string"));
        if !texts.is_empty() {
            out.insert("enum".into(), json!(texts));
        }
    } else if !values.is_empty() && values.len() <= MAX_LISTED {
        let listed: Vec<String> = values.iter().map(ToString::to_string).collect();
        let before =
            out.get("description").and_then(Value::as_str).map(|text| format!("{text} ")).unwrap_or_default();
        out.insert("description".into(), json!(format!("{before}One of: {}.", listed.join(", "))));
    }
}

/// Drops required names that are not properties.
fn set_required(members: &Map<String, Value>, properties: &Map<String, Value>, out: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = members.get("required") else { return };
    let mut known: Vec<&str> =
        names.iter().filter_map(Value::as_str).filter(|name| properties.contains_key(*name)).collect();
    known.sort_unstable();
    known.dedup();
    if !known.is_empty() {
        out.insert("required".into(), json!(known));
    }
}

/// Returns one schema for the items of an array; `anyOf` if there are several.
fn items(members: &Map<String, Value>, depth: usize) -> Result<Value, ProfileError> {
    let several = match (members.get("items"), members.get("prefixItems")) {
        (Some(Value::Object(one)), None) => return reduce_at(&Value::Object(one.clone()), depth + 1),
        (Some(Value::Array(several)), _) | (_, Some(Value::Array(several))) => several,
        _ => return Ok(json!({"type": "string"})),
    };
    let several = several.iter().map(|item| reduce_at(item, depth + 1)).collect::<Result<Vec<_>, _>>()?;
    Ok(match several.as_slice() {
        [] => json!({"type": "string"}),
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
        several => json!({"anyOf": several}),
    })
}

/// Converts `oneOf` to `anyOf`, a `null` branch to `nullable`, and merges a single branch into the schema.
fn set_alternatives(
    members: &Map<String, Value>,
    out: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), ProfileError> {
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = members.get(key) else { continue };
        let is_null = |branch: &&Value| branch.get("type") == Some(&json!("null"));
        if branches.iter().any(|branch| is_null(&branch)) {
            out.insert("nullable".into(), json!(true));
        }
        let branches =
            branches.iter().filter(|branch| !is_null(branch)).map(|branch| reduce_at(branch, depth + 1));
        match branches.collect::<Result<Vec<_>, _>>()?.as_slice() {
            [] => {}
            [Value::Object(only)] => {
                for (key, value) in only {
                    out.entry(key).or_insert_with(|| value.clone());
                }
            }
            branches => drop(out.insert("anyOf".into(), json!(branches))),
        }
    }
    Ok(())
}
