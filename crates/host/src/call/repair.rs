//! What to tell whoever wrote arguments that do not fit: the fields, and an example that would.

use serde_json::{Map, Value, json};
use switchboard_protocol::Tool;

/// Fields that are described at most.
const MOST_FIELDS: usize = 24;
/// How deep an example goes.
const MOST_DEPTH: usize = 4;

/// How to call a tool, made from its schema.
pub(crate) fn prompt(tool: &Tool) -> String {
    let Ok(schema) = tool.input_schema.decode::<Value>() else {
        return format!("call {:?} with the arguments its schema names", tool.name);
    };
    let required = names(&schema, "required");
    let mut lines = vec![format!("call {:?} again with arguments like this:", tool.name)];
    lines.push(example(&schema, 0).to_string());
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        for (name, field) in fields.iter().take(MOST_FIELDS) {
            let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
            let kind = kind(field);
            let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
            let about: String = about.chars().take(120).collect();
            lines.push(format!("- {name} ({kind}, {need}) {about}").trim_end().to_owned());
        }
    }
    lines.join("\n")
}

fn names<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    let names = schema.get(key).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

fn kind(field: &Value) -> String {
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().take(8).map(ToString::to_string).collect();
        return format!("one of {}", values.join(", "));
    }
    match field.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// A value that fits a schema, as far as the schema is simple.
fn example(schema: &Value, depth: usize) -> Value {
    let given = ["examples", "enum"].iter().find_map(|key| schema.get(key)?.as_array()?.first());
    let given = schema.get("const").or_else(|| schema.get("default")).or(given);
    if let Some(value) = given {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        // What a tool is called with is an object, said or not.
        _ if depth == 0 || schema.get("properties").is_some() => "object",
        _ => "string",
    };
    match kind {
        "object" if depth < MOST_DEPTH => {
            let required = names(schema, "required");
            let fields = schema.get("properties").and_then(Value::as_object);
            let wanted = fields.into_iter().flatten().filter(|(name, _)| required.contains(&name.as_str()));
            Value::Object(wanted.map(|(name, field)| (name.clone(), example(field, depth + 1))).collect())
        }
        "object" => Value::Object(Map::new()),
        "array" if depth < MOST_DEPTH => {
            let items = schema.get("items").filter(|items| items.is_object());
            Value::Array(items.map(|items| example(items, depth + 1)).into_iter().collect())
        }
        "array" => Value::Array(Vec::new()),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => Value::Bool(true),
        "null" => Value::Null,
        _ => json!("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_has_an_example_and_says_what_each_field_is() {
        let tool = Tool::new(
            "read",
            json!({
                "type": "object",
                "required": ["path", "mode"],
                "properties": {
                    "path": {"type": "string", "description": "The file.", "examples": ["/tmp/a"]},
                    "mode": {"enum": ["text", "bytes"]},
                    "lines": {"type": ["integer", "null"]}
                }
            }),
        );
        assert_eq!(
            prompt(&tool),
            "call \"read\" again with arguments like this:\n\
             {\"mode\":\"text\",\"path\":\"/tmp/a\"}\n\
             - lines (integer or null, optional)\n\
             - mode (one of \"text\", \"bytes\", required)\n\
             - path (string, required) The file."
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_or_says_nothing_is_no_trouble() {
        let nested = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items":
            {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#"}}}}}});
        assert!(prompt(&Tool::new("x", nested)).contains(r#"{"a":[{"b":"text"}]}"#));
        assert!(prompt(&Tool::new("x", json!({}))).ends_with("\n{}"));
    }
}
