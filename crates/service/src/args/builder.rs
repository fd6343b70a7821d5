//! Builds the schema of a method's arguments, one argument at a time.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use switchboard_design::ArgsDef;

use super::Argument;
use super::reader::absent_value;

/// Builder for the [`ArgsDef`] of a method. Arguments are added in declaration order.
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct ArgsBuilder {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    order: Vec<&'static str>,
    next_schema: Option<Schema>,
    headers: Vec<(&'static str, &'static str)>,
}

impl ArgsBuilder {
    /// Creates a builder without arguments.
    pub fn new() -> Self {
        Self {
            generator: SchemaSettings::draft2020_12().into_generator(),
            properties: Map::new(),
            required: Vec::new(),
            order: Vec::new(),
            next_schema: None,
            headers: Vec::new(),
        }
    }

    /// Adds an argument. An empty description is omitted.
    pub fn arg<T: Argument>(mut self, name: &'static str, description: &str) -> Self {
        let schema = self.schema::<T>();
        self.insert(name, description, schema, absent_value::<T>().is_none());
        self
    }

    /// Adds an argument that has a default when absent.
    pub fn arg_or<T: Argument>(mut self, name: &'static str, description: &str, default: Value) -> Self {
        let mut schema = self.schema::<T>();
        if !default.is_null() {
            schema.insert("default".into(), default);
        }
        self.insert(name, description, schema, false);
        self
    }

    /// Uses the schema of the only field of a struct for the next argument, so that schema attributes of the
    /// parameter apply.
    pub fn schema_of_field(mut self, whole: fn(&mut SchemaGenerator) -> Schema) -> Self {
        let whole = whole(&mut self.generator).to_value();
        let properties = whole.get("properties").and_then(Value::as_object);
        let field = properties.and_then(|properties| properties.values().next());
        self.next_schema = field.cloned().and_then(|field| field.try_into().ok());
        self
    }

    /// Mirrors an argument in an HTTP header.
    pub fn header(mut self, name: &'static str, header: &'static str) -> Self {
        self.headers.push((name, header));
        self
    }

    fn schema<T: JsonSchema>(&mut self) -> Schema {
        self.next_schema.take().unwrap_or_else(|| self.generator.subschema_for::<T>())
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

    /// Builds the definition for the design.
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

impl Default for ArgsBuilder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "used for its schema only")]
    struct Location {
        name: String,
        within: Option<Box<Location>>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "used for its schema only")]
    struct MaxArg {
        #[schemars(range(min = 1))]
        max: Option<u32>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "used for its schema only")]
    struct DerivedArgs {
        /// The text.
        text: String,
        #[schemars(range(min = 1))]
        max: Option<u32>,
        location: Location,
    }

    #[test]
    fn the_schema_equals_that_of_a_derived_struct() {
        let args = ArgsBuilder::new()
            .arg::<String>("text", "The text.")
            .schema_of_field(MaxArg::json_schema)
            .arg::<Option<u32>>("max", "")
            .arg::<Location>("location", "");
        let derived = ArgsDef::from_type::<DerivedArgs>().unwrap().with_order(["text", "max", "location"]);
        assert_eq!(args.into_def(), derived);
    }

    #[test]
    fn headers_and_defaults_are_in_the_schema() {
        let args = ArgsBuilder::new().arg_or::<String>("region", "", json!("eu")).header("region", "Region");
        let def = args.into_def();
        let property = def.property("region").unwrap();
        assert_eq!(property["x-mcp-header"], "Region");
        assert_eq!(property["default"], "eu");
        assert!(!def.requires("region"));
    }
}
