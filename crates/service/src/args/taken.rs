//! What a method takes, gathered argument by argument.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use switchboard_design::ArgsDef;

use super::Argument;
use super::given::absent;

/// What a method takes, being gathered in order of declaration.
#[derive(Debug)]
pub struct Args {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    order: Vec<&'static str>,
    like: Option<Schema>,
    headers: Vec<(&'static str, &'static str)>,
}

impl Args {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            generator: SchemaSettings::draft2020_12().into_generator(),
            properties: Map::new(),
            required: Vec::new(),
            order: Vec::new(),
            like: None,
            headers: Vec::new(),
        }
    }

    /// And this; an empty description says nothing.
    #[must_use]
    pub fn arg<T: Argument>(mut self, name: &'static str, description: &str) -> Self {
        let schema = self.schema::<T>();
        self.insert(name, description, schema, absent::<T>().is_none());
        self
    }

    /// And this, which takes a default when it is not given.
    #[must_use]
    pub fn arg_or<T: Argument>(mut self, name: &'static str, description: &str, default: Value) -> Self {
        let mut schema = self.schema::<T>();
        if !default.is_null() {
            schema.insert("default".into(), default);
        }
        self.insert(name, description, schema, false);
        self
    }

    /// The next argument has the schema of the one field of a struct, whose attributes say more about it.
    #[must_use]
    pub fn like(mut self, whole: fn(&mut SchemaGenerator) -> Schema) -> Self {
        let whole = whole(&mut self.generator).to_value();
        let properties = whole.get("properties").and_then(Value::as_object);
        let field = properties.and_then(|properties| properties.values().next());
        self.like = field.cloned().and_then(|field| field.try_into().ok());
        self
    }

    /// The argument of this name is repeated in a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, header: &'static str) -> Self {
        self.headers.push((name, header));
        self
    }

    fn schema<T: JsonSchema>(&mut self) -> Schema {
        self.like.take().unwrap_or_else(|| self.generator.subschema_for::<T>())
    }

    fn insert(&mut self, name: &'static str, description: &str, mut schema: Schema, required: bool) {
        if !description.is_empty() {
            schema.insert("description".into(), description.into());
        }
        self.properties.insert(name.into(), schema.to_value());
        self.order.push(name);
        if required {
            self.required.push(name);
        }
    }

    /// For the design.
    pub(crate) fn into_def(mut self) -> ArgsDef {
        let definitions = self.generator.take_definitions(true);
        let mut schema =
            json!({"type": "object", "properties": self.properties, "additionalProperties": false});
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        let mut def = ArgsDef::new(schema).unwrap_or_default().with_order(self.order);
        for (name, header) in self.headers {
            if let Some(property) = def.schema["properties"].get_mut(name) {
                property["x-mcp-header"] = header.into();
            }
        }
        def
    }
}

impl Default for Args {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Place {
        name: String,
        within: Option<Box<Place>>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Most {
        #[schemars(range(min = 1))]
        most: Option<u32>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct ByHand {
        /// The text.
        text: String,
        #[schemars(range(min = 1))]
        most: Option<u32>,
        place: Place,
    }

    #[test]
    fn the_schema_is_the_one_that_a_derived_struct_has() {
        let args = Args::new()
            .arg::<String>("text", "The text.")
            .like(Most::json_schema)
            .arg::<Option<u32>>("most", "")
            .arg::<Place>("place", "");
        let by_hand = ArgsDef::from_type::<ByHand>().unwrap().with_order(["text", "most", "place"]);
        assert_eq!(args.into_def(), by_hand);
    }

    #[test]
    fn a_header_and_a_default_are_said() {
        let args = Args::new().arg_or::<String>("region", "", json!("eu")).header("region", "Region");
        let def = args.into_def();
        let property = def.property("region").unwrap();
        assert_eq!(property["x-mcp-header"], "Region");
        assert_eq!(property["default"], "eu");
        assert!(!def.requires("region"));
    }
}
