//! Parameters that are transmitted as text: variables of a URI and arguments of a prompt.
//!
//! Their values are scalars, choices, or lists of those.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ArgsDef;
use switchboard_protocol::setters;

/// A parameter that is transmitted as text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ParamDef {
    /// The name.
    pub name: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The type that its text is parsed as.
    #[serde(flatten)]
    pub kind: ParamKind,
    /// Whether it is a list; the parameter is repeated for each item.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Whether it is required. An absent required list is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The value of an absent parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// The type that the text of a parameter is parsed as.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
#[non_exhaustive]
pub enum ParamKind {
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A string, taken literally: `007` stays `"007"`.
    #[default]
    Text,
    /// One of a fixed set of strings.
    Choice {
        /// The strings.
        values: Vec<String>,
    },
    /// Untyped: a boolean, an integer, a number or a string, inferred from the text. A repeated parameter is a list.
    Any,
}

/// The error for a parameter that cannot be transmitted as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{name}` is not a scalar, a choice, or a list of those")]
pub struct NestedParamError {
    /// The name of the parameter.
    pub name: String,
}

impl ParamDef {
    /// Creates an optional parameter.
    pub fn new(name: impl Into<String>, kind: ParamKind) -> Self {
        Self { name: name.into(), kind, ..Self::default() }
    }

    /// Converts arguments to parameters, in order of declaration.
    ///
    /// # Errors
    /// Names the first argument that cannot be transmitted as text.
    pub fn from_args(args: &ArgsDef) -> Result<Vec<Self>, NestedParamError> {
        let read = |name: &str| {
            let schema = args.property(name).unwrap_or(&Value::Bool(true));
            let mut param = Self::from_schema(name, schema)?;
            param.required = args.requires(name);
            Ok(param)
        };
        args.names().into_iter().map(read).collect()
    }

    fn from_schema(name: &str, schema: &Value) -> Result<Self, NestedParamError> {
        let nested = || NestedParamError { name: name.to_owned() };
        let repeated = schema.get("type").is_some_and(|kind| kind == "array");
        let item = if repeated { schema.get("items").unwrap_or(&Value::Bool(true)) } else { schema };
        let mut param = Self::new(name, ParamKind::from_schema(item).ok_or_else(nested)?);
        param.repeated = repeated;
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        (param.title, param.description) = (text("title"), text("description"));
        param.default = schema.get("default").cloned();
        Ok(param)
    }
}

impl ParamKind {
    /// Returns the type that a schema describes; `None` if its values cannot be transmitted as text.
    fn from_schema(schema: &Value) -> Option<Self> {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
            if let Some(values) = texts {
                return Some(Self::Choice { values });
            }
        }
        match schema.get("type") {
            Some(Value::String(kind)) => match kind.as_str() {
                "boolean" => Some(Self::Boolean),
                "integer" => Some(Self::Integer),
                "number" => Some(Self::Number),
                "string" => Some(Self::Text),
                _ => None,
            },
            Some(_) => None,
            None => ["$ref", "anyOf", "oneOf", "allOf", "properties", "items", "not"]
                .iter()
                .all(|key| schema.get(key).is_none())
                .then_some(Self::Any),
        }
    }

    /// Describes the expected value, for messages: `a whole number`.
    pub fn expected(&self) -> String {
        match self {
            Self::Boolean => "true or false".into(),
            Self::Integer => "a whole number".into(),
            Self::Number => "a number".into(),
            Self::Text => "text".into(),
            Self::Choice { values } => format!("one of {}", values.join(", ")),
            Self::Any => "a value".into(),
        }
    }
}

setters!(ParamDef:
    some with_title title String;
    some with_description description String;
    set with_repeated repeated bool;
    set with_required required bool;
    some with_default default Value;
);
