//! A typed view of the JSON Schema of a tool's arguments, for forms and help texts.
//!
//! Decodes the top level only; the schema of each property stays JSON text. Not a validator.

use switchboard_json::{DecodeError, FromRaw, OrderedMap, Raw};

use crate::wire::wire;

/// The top level of the JSON Schema of a tool's arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputSchema {
    /// The properties, in the order they are written.
    pub properties: Vec<InputProperty>,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputProperty {
    /// The name.
    pub name: String,
    /// The types, like `string` or `string | null`; empty if the schema has none.
    pub types: String,
    /// A description of its purpose.
    pub description: Option<String>,
    /// Whether it is required.
    pub required: bool,
    /// The whole schema.
    pub schema: Raw,
}

/// The decoded members of a schema.
struct TopLevelSchema {
    properties: OrderedMap<Raw>,
    required: Vec<String>,
}

wire!(read TopLevelSchema: or_default properties "properties"; or_default required "required";);

impl InputSchema {
    /// Decodes the top level of a schema.
    ///
    /// # Errors
    /// When the schema, its `properties` or its `required` have the wrong type.
    pub fn read(schema: &Raw) -> Result<Self, DecodeError> {
        let TopLevelSchema { properties, required } = TopLevelSchema::from_raw(schema)?;
        let required: std::collections::HashSet<String> = required.into_iter().collect();
        let read = |(name, schema): (String, Raw)| {
            // A schema may also be `true` or `false`, which has no types.
            let fields: OrderedMap<Raw> = FromRaw::from_raw(&schema).unwrap_or_default();
            InputProperty {
                types: fields.get("type").map(types_text).unwrap_or_default(),
                description: fields.get("description").and_then(|text| String::from_raw(text).ok()),
                required: required.contains(&name),
                name,
                schema,
            }
        };
        Ok(Self { properties: properties.into_iter().map(read).collect() })
    }

    /// Returns the property with this name.
    pub fn property(&self, name: &str) -> Option<&InputProperty> {
        self.properties.iter().find(|property| property.name == name)
    }
}

fn types_text(types: &Raw) -> String {
    let one = String::from_raw(types);
    one.or_else(|_| Vec::<String>::from_raw(types).map(|many| many.join(" | "))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_come_in_order_with_their_types() {
        let schema = Raw::parse(
            r#"{"type":"object","required":["to"],"properties":{
                "to":{"type":"string","description":"Whom"},"n":{"type":["integer","null"]},"any":true}}"#,
        );
        let read = InputSchema::read(&schema.unwrap()).unwrap();
        let rows: Vec<_> = read.properties.iter().map(|p| (&*p.name, &*p.types, p.required)).collect();
        assert_eq!(rows, [("to", "string", true), ("n", "integer | null", false), ("any", "", false)]);
        assert_eq!(read.property("to").unwrap().description.as_deref(), Some("Whom"));
        assert_eq!(read.property("any").unwrap().schema.as_str(), "true");
    }

    #[test]
    fn an_invalid_schema_is_an_error_with_its_path() {
        let schema = Raw::parse(r#"{"type":"object","required":"to"}"#).unwrap();
        assert_eq!(InputSchema::read(&schema).unwrap_err().path(), "required");
    }
}
