//! The arguments of a method.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::{self, NotAnObjectError};

/// The arguments of a method, as the schema of one JSON object.
///
/// [`Self::new`] and [`Self::from_type`] normalize the schema with [`schema::normalize_input`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ArgsDef {
    /// The JSON Schema of the arguments object.
    pub schema: Value,
    /// The names of the arguments in order of declaration, which the keys of a JSON object do not keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

impl ArgsDef {
    /// Returns the schema of a method without arguments.
    pub fn none() -> Self {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        Self { schema: schema::canonicalize(schema), order: Vec::new() }
    }

    /// Normalizes a schema with [`schema::normalize_input`].
    ///
    /// # Errors
    /// When the schema does not describe an object.
    pub fn new(schema: Value) -> Result<Self, NotAnObjectError> {
        Ok(Self { schema: schema::normalize_input(schema)?, order: Vec::new() })
    }

    /// Uses a schema as it is, without normalizing it.
    pub fn verbatim(schema: Value) -> Self {
        Self { schema, order: Vec::new() }
    }

    /// Derives the schema from the type that deserializes the arguments.
    ///
    /// # Errors
    /// When `T` is not deserialized from a JSON object.
    pub fn from_type<T: JsonSchema>() -> Result<Self, NotAnObjectError> {
        Self::new(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value())
    }

    /// Sets [`order`](Self::order).
    #[must_use]
    pub fn with_order<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.order = names.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the names of the arguments: those in [`order`](Self::order) first, then the others sorted by name.
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

    /// Returns the schema of one argument.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(name)
    }

    /// Returns whether an argument is required.
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
