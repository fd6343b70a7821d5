//! What a method is called with.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::{self, NotAnObject};

/// The arguments of a method: one object.
///
/// Invariant when made by [`Self::new`] or [`Self::of`]: the schema has passed [`schema::input`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ArgsDef {
    /// The JSON Schema of the object.
    pub schema: Value,
    /// The names of the arguments as declared: the keys of a schema have no order of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

impl ArgsDef {
    /// No arguments.
    pub fn none() -> Self {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        Self { schema: schema::canonical(schema), order: Vec::new() }
    }

    /// Arguments with this schema, which goes through [`schema::input`].
    ///
    /// # Errors
    /// When what it describes is not an object.
    pub fn new(schema: Value) -> Result<Self, NotAnObject> {
        Ok(Self { schema: schema::input(schema)?, order: Vec::new() })
    }

    /// Arguments with exactly this schema, as its author wrote it.
    pub fn written(schema: Value) -> Self {
        Self { schema, order: Vec::new() }
    }

    /// The arguments that `T` is read from.
    ///
    /// # Errors
    /// When `T` is not an object in JSON.
    pub fn of<T: JsonSchema>() -> Result<Self, NotAnObject> {
        Self::new(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value())
    }

    /// The same with the names in this order.
    #[must_use]
    pub fn with_order<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.order = names.into_iter().map(Into::into).collect();
        self
    }

    /// The names of the arguments: first as declared, then what the schema has besides, by name.
    pub fn names(&self) -> Vec<&str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
        let mut names: Vec<&str> = self.order.iter().map(String::as_str).filter(|name| known(name)).collect();
        let mut rest: Vec<&str> =
            properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
        rest.retain(|name| !names.contains(name));
        rest.sort_unstable();
        names.extend(rest);
        names
    }

    /// The schema of one argument.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(name)
    }

    /// Whether an argument must be given.
    pub fn requires(&self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|known| known == name))
    }
}

impl Default for ArgsDef {
    fn default() -> Self {
        Self::none()
    }
}
