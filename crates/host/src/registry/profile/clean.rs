//! For providers that validate JSON Schema: only known keywords, of the right type, in the syntax of the current draft.
//!
//! Malformed keywords are dropped, which only makes a schema accept more; the server still validates arguments.

use serde_json::{Map, Value, json};

use super::{
    AdaptedSchema, MAX_DEPTH, MAX_NODES, NodeBudget, Profile, ProfileError, SCHEMA_MAPS, reference, shorten,
};

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
const SCHEMAS: [&str; 8] =
    ["items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const COUNTS: [&str; 6] =
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTS: [&str; 4] = ["title", "description", "pattern", "format"];

/// Cleans a schema with a flattened root; its references refer to the original.
pub(super) fn clean(flat: &Value, original: &Value, profile: Profile) -> Result<AdaptedSchema, ProfileError> {
    let mut cleaner = Cleaner { original, profile, budget: NodeBudget(MAX_NODES), notes: Vec::new() };
    let schema = cleaner.schema(flat, 0)?;
    Ok(AdaptedSchema { schema, notes: cleaner.notes })
}

struct Cleaner<'a> {
    original: &'a Value,
    profile: Profile,
    budget: NodeBudget,
    notes: Vec<String>,
}

impl Cleaner<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value, ProfileError> {
        self.budget.spend()?;
        if depth > MAX_DEPTH {
            return Err(ProfileError::TooDeep);
        }
        let Value::Object(members) = schema else {
            // Not every provider accepts boolean schemas: `true` accepts anything, `false` nothing.
            return Ok(if *schema == Value::Bool(false) { json!({"not": {}}) } else { json!({}) });
        };
        if let Some(Value::String(target)) = members.get("$ref") {
            return self.reference(target, members, depth);
        }
        let mut out = Map::new();
        for (key, value) in members {
            if let Some(value) = self.keyword(key, value, depth)? {
                out.insert(key.clone(), value);
            }
        }
        convert_draft_4_bounds(members, &mut out);
        self.names(&mut out)?;
        if self.profile == Profile::OpenAi
            && out.get("type") == Some(&json!("array"))
            && !out.contains_key("items")
        {
            out.insert("items".into(), json!({}));
        }
        Ok(Value::Object(out))
    }

    /// Keeps references to the root and to definitions; inlines the targets of others.
    fn reference(
        &mut self,
        target: &str,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Result<Value, ProfileError> {
        let stays = target == "#" || target.starts_with("#/$defs/") || target.starts_with("#/definitions/");
        let mut out = match reference::lookup(self.original, target) {
            Some(_) if stays => json!({"$ref": target}),
            Some(found) => {
                let inlined = reference::inline_at(self.original, found, &mut self.budget)?;
                self.schema(&inlined, depth + 1)?
            }
            None if target.starts_with('#') => {
                return Err(ProfileError::Dangling { reference: shorten(target) });
            }
            // An external reference is not fetched, so anything is accepted.
            None => json!({}),
        };
        if let Some(description) = members.get("description").filter(|description| description.is_string()) {
            out["description"] = description.clone();
        }
        Ok(out)
    }

    fn keyword(&mut self, key: &str, value: &Value, depth: usize) -> Result<Option<Value>, ProfileError> {
        let kept = |fits: bool| Ok(fits.then(|| value.clone()));
        match key {
            "type" => Ok(types(value)),
            key if SCHEMA_MAPS.contains(&key) => {
                let Value::Object(schemas) = value else { return Ok(None) };
                let cleaned =
                    schemas.iter().map(|(name, schema)| Ok((name.clone(), self.schema(schema, depth + 1)?)));
                Ok(Some(Value::Object(cleaned.collect::<Result<_, _>>()?)))
            }
            // Older drafts: one schema per position.
            "items" if value.is_array() => {
                Ok(self.list(value, depth)?.map(|items| json!({"anyOf": items})).or(Some(json!({}))))
            }
            key if SCHEMAS.contains(&key) => match value {
                Value::Bool(_) if key == "additionalProperties" => kept(true),
                Value::Object(_) | Value::Bool(_) => Ok(Some(self.schema(value, depth + 1)?)),
                _ => Ok(None),
            },
            key if LISTS.contains(&key) => self.list(value, depth),
            "required" => Ok(value.as_array().map(|names| {
                let mut unique: Vec<&Value> = Vec::new();
                for name in names.iter().filter(|name| name.is_string()) {
                    if !unique.contains(&name) {
                        unique.push(name);
                    }
                }
                json!(unique)
            })),
            "enum" => kept(value.as_array().is_some_and(|values| !values.is_empty())),
            "const" | "default" => kept(true),
            "examples" => kept(value.is_array()),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => kept(value.is_boolean()),
            key if COUNTS.contains(&key) => kept(value.is_u64()),
            "multipleOf" => kept(value.as_f64().is_some_and(|number| number > 0.0)),
            key if NUMBERS.contains(&key) => kept(value.is_number()),
            key if TEXTS.contains(&key) => kept(value.is_string()),
            _ => Ok(None),
        }
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, ProfileError> {
        match value.as_array() {
            Some(items) if !items.is_empty() => {
                let items = items.iter().map(|item| self.schema(item, depth + 1));
                Ok(Some(Value::Array(items.collect::<Result<_, _>>()?)))
            }
            _ => Ok(None),
        }
    }

    /// Removes properties whose names Anthropic does not accept.
    fn names(&mut self, out: &mut Map<String, Value>) -> Result<(), ProfileError> {
        if self.profile != Profile::Anthropic {
            return Ok(());
        }
        let required: Vec<String> = out
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        let Some(Value::Object(properties)) = out.get_mut("properties") else { return Ok(()) };
        let odd: Vec<String> = properties.keys().filter(|name| !is_plain(name)).cloned().collect();
        for name in odd {
            if required.contains(&name) {
                return Err(ProfileError::PropertyName { name: shorten(&name) });
            }
            properties.remove(&name);
            self.notes.push(format!("The optional argument `{}` is not available here.", shorten(&name)));
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// Normalizes types, including type names of programming languages.
fn types(value: &Value) -> Option<Value> {
    let known = |word: &str| match word {
        "int" | "long" => Some("integer"),
        "float" | "double" => Some("number"),
        "str" | "text" => Some("string"),
        "bool" => Some("boolean"),
        "dict" | "map" => Some("object"),
        "list" | "tuple" => Some("array"),
        word => TYPES.into_iter().find(|kind| *kind == word),
    };
    match value {
        Value::String(word) => known(word).map(|kind| json!(kind)),
        Value::Array(words) => {
            let mut kinds: Vec<&str> = words.iter().filter_map(Value::as_str).filter_map(known).collect();
            kinds.dedup();
            match kinds.as_slice() {
                [] => None,
                [kind] => Some(json!(kind)),
                kinds => Some(json!(kinds)),
            }
        }
        _ => None,
    }
}

/// Converts `exclusiveMinimum: true` beside a minimum (draft 4) to its current form.
fn convert_draft_4_bounds(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if members.get(flag) == Some(&Value::Bool(true))
            && let Some(value) = out.remove(bound)
        {
            out.insert(flag.into(), value);
        }
    }
}
