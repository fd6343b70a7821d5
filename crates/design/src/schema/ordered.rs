//! The text of a schema with its properties in the order in which they were declared.
//!
//! Objects of `serde_json` are sorted by name unless a feature that others may not want is on, so the order is kept beside
//! the schema: by name for the arguments of a method, and for what is nested by `required`, which is a list.

use serde_json::{Map, Value};

/// What stands at a place of a schema.
#[derive(Clone, Copy)]
enum Place {
    Schema,
    /// Schemas by name.
    Named,
    /// Data: nothing in it is a schema.
    Data,
}

/// The text of a schema; `order` has the names of its own properties.
pub(crate) fn ordered_text(schema: &Value, order: &[String]) -> String {
    let mut out = String::new();
    write(schema, Place::Schema, order, &mut out);
    out
}

fn write(value: &Value, place: Place, order: &[String], out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, place, &[], out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            write_members(members, names, out, |name, member, out| match place {
                Place::Data => write(member, Place::Data, &[], out),
                Place::Named => write(member, Place::Schema, &[], out),
                Place::Schema if name == "properties" => properties(members, member, order, out),
                Place::Schema => write(member, below(name), &[], out),
            });
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn properties(schema: &Map<String, Value>, properties: &Value, order: &[String], out: &mut String) {
    let Value::Object(members) = properties else { return write(properties, Place::Data, &[], out) };
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let place = |name: &String| {
        let declared = order.iter().position(|known| known == name);
        let required = required.iter().position(|known| known.as_str() == Some(name));
        (declared.unwrap_or(usize::MAX), required.unwrap_or(usize::MAX))
    };
    let mut names: Vec<&String> = members.keys().collect();
    names.sort_unstable_by(|one, other| place(one).cmp(&place(other)).then_with(|| one.cmp(other)));
    write_members(members, names, out, |_, member, out| write(member, Place::Schema, &[], out));
}

fn write_members(
    members: &Map<String, Value>,
    names: Vec<&String>,
    out: &mut String,
    mut write: impl FnMut(&str, &Value, &mut String),
) {
    out.push('{');
    for (at, name) in names.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        write(name, &members[name], out);
    }
    out.push('}');
}

fn below(keyword: &str) -> Place {
    match keyword {
        "$defs" | "dependentSchemas" | "patternProperties" => Place::Named,
        "additionalProperties"
        | "allOf"
        | "anyOf"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "oneOf"
        | "prefixItems"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Place::Schema,
        _ => Place::Data,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn v12_properties_come_in_the_order_in_which_they_were_declared() {
        let inner =
            json!({"type": "object", "required": ["z", "a"], "properties": {"a": {}, "m": {}, "z": {}}});
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": inner, "properties": {"properties": {}}},
            "examples": [{"properties": {"b": 1, "a": 2}}],
        });
        let order = ["b", "properties", "a"].map(str::to_owned);
        let text = ordered_text(&schema, &order);
        assert_eq!(
            text,
            r#"{"examples":[{"properties":{"a":2,"b":1}}],"properties":{"b":{"properties":{"z":{},"a":{},"m":{}},"#.to_owned()
                + r#""required":["z","a"],"type":"object"},"properties":{"properties":{}},"a":{"type":"string"}},"type":"object"}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
    }
}
