//! Short descriptions of schemas: `whole number, 1 to 50`, `text (date-time)`, `list of object`.

use serde_json::{Map, Value};

use crate::schema::definition_name;

/// The maximum nesting of lists and choices in a description.
const MAX_LEVELS: usize = 4;

/// Describes the type and the constraints of a schema. `root` has the definitions.
pub(super) fn describe_type(schema: &Value, root: &Value) -> String {
    describe_within(schema, root, MAX_LEVELS)
}

/// Returns a value as inline code.
pub(super) fn code(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("`{text}`")
}

/// Returns the target of a `$ref`, or the schema itself.
pub(super) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut target = schema;
    // Follows chains of references up to a limit, which also ends cycles.
    for _ in 0..MAX_LEVELS {
        let name = target.get("$ref").and_then(Value::as_str).and_then(definition_name);
        match name.and_then(|name| root.get("$defs")?.get(&name)) {
            Some(def) => target = def,
            None => break,
        }
    }
    target
}

/// Returns the branches of a choice without `null`.
pub(super) fn branches(schema: &Value) -> Vec<&Value> {
    let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
    ["anyOf", "oneOf"]
        .iter()
        .filter_map(|key| schema.get(*key)?.as_array())
        .flatten()
        .filter(|branch| !is_null(branch))
        .collect()
}

fn describe_within(schema: &Value, root: &Value, levels: usize) -> String {
    let Value::Object(map) = resolve(schema, root) else { return "any value".to_owned() };
    if levels == 0 {
        return "any value".to_owned();
    }
    if let Some(Value::Array(values)) = map.get("enum") {
        let values: Vec<String> = values.iter().map(code).collect();
        return if values.len() == 1 { values.concat() } else { format!("one of {}", values.join(", ")) };
    }
    let several = ["anyOf", "oneOf"].iter().find_map(|key| map.get(*key)?.as_array());
    if let Some(branches) = several.filter(|_| !map.contains_key("properties")) {
        let mut texts: Vec<String> = Vec::new();
        for text in branches.iter().map(|branch| describe_within(branch, root, levels - 1)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        return texts.join(" or ");
    }
    let items = |items: &Value| describe_within(items, root, levels - 1);
    match map.get("type").and_then(Value::as_str) {
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => join_restrictions("whole number", [range(map), multiple(map)]),
        Some("number") => join_restrictions("number", [range(map), multiple(map)]),
        Some("string") => string(map),
        Some("null") => "null".to_owned(),
        Some("array") => {
            let one = match (map.get("prefixItems").and_then(Value::as_array), map.get("items")) {
                (Some(first), _) => first.iter().map(items).collect::<Vec<_>>().join(", then "),
                (None, Some(every)) => items(every),
                (None, None) => "any value".to_owned(),
            };
            let is_tuple = map.contains_key("prefixItems");
            let count = count(map, ["minItems", "maxItems"], "item").filter(|_| !is_tuple);
            let unique = (map.get("uniqueItems") == Some(&Value::Bool(true))).then(|| "each once".to_owned());
            join_restrictions(&format!("list of {one}"), [count, unique])
        }
        Some("object") => object(map, items),
        _ if ["properties", "allOf"].iter().any(|key| map.contains_key(*key)) => object(map, items),
        _ => "any value".to_owned(),
    }
}

fn object(map: &Map<String, Value>, describe: impl Fn(&Value) -> String) -> String {
    match map.get("additionalProperties") {
        Some(every @ Value::Object(_)) if !map.contains_key("properties") => {
            format!("object of {}", describe(every))
        }
        _ => "object".to_owned(),
    }
}

fn string(map: &Map<String, Value>) -> String {
    if map.get("contentEncoding").is_some_and(|encoding| encoding == "base64") {
        return "bytes (base64)".to_owned();
    }
    let format = map.get("format").and_then(Value::as_str);
    let kind = format.map_or_else(|| "text".to_owned(), |format| format!("text ({format})"));
    let pattern = map.get("pattern").map(|pattern| format!("matching {}", code(pattern)));
    join_restrictions(&kind, [count(map, ["minLength", "maxLength"], "character"), pattern])
}

fn join_restrictions(kind: &str, restrictions: [Option<String>; 2]) -> String {
    let restrictions = restrictions.into_iter().flatten();
    std::iter::once(kind.to_owned()).chain(restrictions).collect::<Vec<_>>().join(", ")
}

fn range(map: &Map<String, Value>) -> Option<String> {
    let bound = |key: &str, relation: &str| map.get(key).map(|bound| format!("{relation} {bound}"));
    if let (Some(min), Some(max)) = (map.get("minimum"), map.get("maximum")) {
        return Some(format!("{min} to {max}"));
    }
    let lower = bound("minimum", "at least").or_else(|| bound("exclusiveMinimum", "more than"));
    let upper = bound("maximum", "at most").or_else(|| bound("exclusiveMaximum", "less than"));
    let both: Vec<String> = lower.into_iter().chain(upper).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}

fn multiple(map: &Map<String, Value>) -> Option<String> {
    map.get("multipleOf").map(|step| format!("a multiple of {step}"))
}

fn count(map: &Map<String, Value>, keys: [&str; 2], one: &str) -> Option<String> {
    let many = |count: u64| if count == 1 { one.to_owned() } else { format!("{one}s") };
    match keys.map(|key| map.get(key).and_then(Value::as_u64)) {
        [Some(min), Some(max)] if min == max => Some(format!("{min} {}", many(min))),
        [Some(min), Some(max)] => Some(format!("{min} to {max} {}", many(max))),
        [Some(min), None] => Some(format!("at least {min} {}", many(min))),
        [None, Some(max)] => Some(format!("at most {max} {}", many(max))),
        [None, None] => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn v12_a_description_has_format_range_and_values() {
        let root = json!({"$defs": {"Page": {"type": "integer", "minimum": 1, "maximum": 50}}});
        for (schema, expected) in [
            (json!({"type": "string"}), "text"),
            (json!({"type": "string", "format": "date-time"}), "text (date-time)"),
            (json!({"type": "string", "minLength": 1}), "text, at least 1 character"),
            (
                json!({"type": "string", "maxLength": 9, "pattern": "^[a-z]+$"}),
                "text, at most 9 characters, matching `^[a-z]+$`",
            ),
            (json!({"type": "string", "contentEncoding": "base64"}), "bytes (base64)"),
            (json!({"$ref": "#/$defs/Page"}), "whole number, 1 to 50"),
            (json!({"type": "number", "exclusiveMinimum": 0}), "number, more than 0"),
            (
                json!({"type": "integer", "maximum": 9, "multipleOf": 3}),
                "whole number, at most 9, a multiple of 3",
            ),
            (json!({"type": "string", "enum": ["a", "b"]}), "one of `a`, `b`"),
            (json!({"enum": ["a"]}), "`a`"),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "text or null"),
            (
                json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
                "list of text, 2 items",
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "boolean"}], "minItems": 2}),
                "list of number, then true or false",
            ),
            (json!({"type": "object", "additionalProperties": {"type": "number"}}), "object of number"),
            (json!({"type": "object", "properties": {"a": {}}}), "object"),
            (json!({}), "any value"),
        ] {
            assert_eq!(describe_type(&schema, &root), expected, "{schema}");
        }
    }
}
