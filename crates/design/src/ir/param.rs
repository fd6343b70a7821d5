//! A parameter that travels as text: in a URI, in a query, as an argument of a prompt.
//!
//! Only what is flat can: a scalar, a choice, or a list of those.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ArgsDef;
use crate::setter::setters;

/// One parameter that travels as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ParamDef {
    /// Its name.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its text is read as.
    #[serde(flatten)]
    pub kind: ParamKind,
    /// Whether it is a list, given by repeating it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Whether it must be given. A required list that is not given is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// What it is when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// What the text of a parameter is read as.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
#[non_exhaustive]
pub enum ParamKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text, whatever it looks like: `007` stays `007`.
    #[default]
    Text,
    /// One of these texts.
    Choice {
        /// The texts.
        values: Vec<String>,
    },
    /// Untyped: a boolean, a whole number, a number or text, whichever it looks like; repeated, a list.
    Any,
}

/// A parameter that cannot travel as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{name}` is neither a scalar, a choice, nor a list of those")]
pub struct NotFlat {
    /// Which one.
    pub name: String,
}

impl ParamDef {
    /// An optional parameter of this kind.
    pub fn new(name: impl Into<String>, kind: ParamKind) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            kind,
            repeated: false,
            required: false,
            default: None,
        }
    }

    /// The parameters that these arguments are, in order of declaration.
    ///
    /// # Errors
    /// Names the first argument that cannot travel as text.
    pub fn all(args: &ArgsDef) -> Result<Vec<Self>, NotFlat> {
        let read = |name: &str| {
            let schema = args.property(name).unwrap_or(&Value::Bool(true));
            let mut param = Self::read(name, schema)?;
            param.required = args.requires(name);
            Ok(param)
        };
        args.names().into_iter().map(read).collect()
    }

    fn read(name: &str, schema: &Value) -> Result<Self, NotFlat> {
        let not_flat = || NotFlat { name: name.to_owned() };
        let repeated = schema.get("type").is_some_and(|kind| kind == "array");
        let one = if repeated { schema.get("items").unwrap_or(&Value::Bool(true)) } else { schema };
        let mut param = Self::new(name, ParamKind::read(one).ok_or_else(not_flat)?);
        param.repeated = repeated;
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        (param.title, param.description) = (text("title"), text("description"));
        param.default = schema.get("default").cloned();
        Ok(param)
    }
}

impl ParamKind {
    /// What a flat schema asks for; nothing when it is not flat.
    fn read(schema: &Value) -> Option<Self> {
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

    /// What was expected, for people.
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
