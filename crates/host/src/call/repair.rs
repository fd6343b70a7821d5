//! Repair prompts for invalid arguments: the fields of the schema and an example.

use serde_json::{Map, Value, json};
use switchboard_protocol::Tool;

/// The limit of described fields.
const MAX_FIELDS: usize = 24;
/// The depth limit of an example.
const MAX_DEPTH: usize = 4;

/// Returns instructions for calling a tool, derived from its schema.
pub(crate) fn repair_prompt(tool: &Tool) -> String {
    let Ok(schema) = tool.input_schema.decode::<Value>() else {
        return format!("call {:?} with the arguments of its schema", tool.name);
    };
    let required = names(&schema, "required");
    let mut lines = vec![format!("call {:?} again with arguments like this:", tool.name)];
    lines.push(example(&schema, 0).to_string());
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        for (name, field) in fields.iter().take(MAX_FIELDS) {
            let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
            let kind = type_text(field);
            let description = field.get("description").and_then(Value::as_str).unwrap_or_default();
            let description: String = description.chars().take(120).collect();
            lines.push(format!("- {name} ({kind}, {need}) {description}").trim_end().to_owned());
        }
    }
    lines.join("\n")
}

fn names<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    let names = schema.get(key).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

fn type_text(field: &Value) -> String {
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

/// Returns an example value for a simple schema.
fn example(schema: &Value, depth: usize) -> Value {
    let constant = ["examples", "enum"].iter().find_map(|key| schema.get(key)?.as_array()?.first());
    let constant = schema.get("const").or_else(|| schema.get("default")).or(constant);
    if let Some(value) = constant {
        return value.clone();
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        // Arguments are always an object.
        _ if depth == 0 || schema.get("properties").is_some() => "object",
        _ => "string",
    };
    match kind {
        "object" if depth < MAX_DEPTH => {
            let required = names(schema, "required");
            let fields = schema.get("properties").and_then(Value::as_object);
            let wanted = fields.into_iter().flatten().filter(|(name, _)| required.contains(&name.as_str()));
            Value::Object(wanted.map(|(name, field)| (name.clone(), example(field, depth + 1))).collect())
        }
        "object" => Value::Object(Map::new()),
        "array" if depth < MAX_DEPTH => {
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
    fn the_prompt_has_an_example_and_describes_each_field() {
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
            repair_prompt(&tool),
            "call \"read\" again with arguments like this:\n\
             {\"mode\":\"text\",\"path\":\"/tmp/a\"}\n\
             - lines (integer or null, optional)\n\
             - mode (one of \"text\", \"bytes\", required)\n\
             - path (string, required) The file."
        );
    }

    #[test]
    fn recursive_and_empty_schemas_have_a_prompt() {
        let nested = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items":
            {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#"}}}}}});
        assert!(repair_prompt(&Tool::new("x", nested)).contains(r#"{"a":[{"b":"text"}]}"#));
        assert!(repair_prompt(&Tool::new("x", json!({}))).ends_with("\n{}"));
    }
}
