//! Serializes a schema with its properties in order of declaration.
//!
//! `serde_json` sorts objects by name unless a feature is enabled. The order of the arguments is therefore passed in;
//! nested properties are in the order of `required`, which is an array.

use serde_json::{Map, Value};

use super::validator::{KeywordContent, keyword_content};

/// Returns the JSON text of a schema. `order` is the order of its top-level properties.
pub(crate) fn declared_order_text(schema: &Value, order: &[String]) -> String {
    let mut out = String::new();
    write(schema, KeywordContent::Schema, order, &mut out);
    out
}

fn write(value: &Value, content: KeywordContent, order: &[String], out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, content, &[], out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            write_members(members, names, out, |name, member, out| match content {
                KeywordContent::Data => write(member, KeywordContent::Data, &[], out),
                KeywordContent::SchemaMap => write(member, KeywordContent::Schema, &[], out),
                _ if name == "properties" => write_properties(members, member, order, out),
                KeywordContent::Schema | KeywordContent::SchemaArray => {
                    write(member, keyword_content(name), &[], out)
                }
            });
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn write_properties(schema: &Map<String, Value>, properties: &Value, order: &[String], out: &mut String) {
    let Value::Object(members) = properties else { return write(properties, KeywordContent::Data, &[], out) };
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let rank = |name: &String| {
        let declared = order.iter().position(|known| known == name);
        let required = required.iter().position(|known| known.as_str() == Some(name));
        (declared.unwrap_or(usize::MAX), required.unwrap_or(usize::MAX))
    };
    let mut names: Vec<&String> = members.keys().collect();
    names.sort_unstable_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.cmp(other)));
    write_members(members, names, out, |_, member, out| write(member, KeywordContent::Schema, &[], out));
}

fn write_members(
    members: &Map<String, Value>,
    names: Vec<&String>,
    out: &mut String,
    mut write: impl FnMut(&str, &Value, &mut String),
) {
    out.push('{');
    for (index, name) in names.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        write(name, &members[name], out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn v12_properties_are_in_order_of_declaration() {
        let inner =
            json!({"type": "object", "required": ["z", "a"], "properties": {"a": {}, "m": {}, "z": {}}});
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": inner, "properties": {"properties": {}}},
            "examples": [{"properties": {"b": 1, "a": 2}}],
        });
        let order = ["b", "properties", "a"].map(str::to_owned);
        let text = declared_order_text(&schema, &order);
        assert_eq!(
            text,
            r#"{"examples":[{"properties":{"a":2,"b":1}}],"properties":{"b":{"properties":{"z":{},"a":{},"m":{}},"#.to_owned()
                + r#""required":["z","a"],"type":"object"},"properties":{"properties":{}},"a":{"type":"string"}},"type":"object"}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
    }
}
