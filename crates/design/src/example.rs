//! Example values of schemas, for documentation and repair prompts.
//!
//! Invariants: examples are deterministic. A synthesized example is valid under its schema, unless the bounded search
//! finds no valid value. An authored example is returned unchanged.

mod regex_sample;
mod string;
mod synthesize;

use serde_json::{Map, Value};

use crate::ir::{Design, ParamDef, ParamKind, PromptDef, ToolDef};
use crate::repair::{Operation, Repair};
use crate::schema::validation_issues;

/// An example value of a schema, and its origin.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// The value.
    pub value: Value,
    /// The origin of the value.
    pub origin: ExampleOrigin,
}

/// The origin of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExampleOrigin {
    /// Written by the author.
    Authored,
    /// From `examples` or `default` of the schema.
    Schema,
    /// Synthesized from the schema.
    Synthesized,
}

/// Returns an example for a self-contained schema: the authored one, else one of the schema, else a synthesized one.
///
/// A synthesized example has the required members only, the first valid branch of a choice, and numbers within bounds.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::design::{ExampleOrigin, example};
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]});
/// let made = example(&schema, None);
/// assert_eq!((made.value, made.origin), (json!({"n": 5}), ExampleOrigin::Synthesized));
/// ```
pub fn example(schema: &Value, authored: Option<&Value>) -> Example {
    if let Some(value) = authored {
        return Example { value: value.clone(), origin: ExampleOrigin::Authored };
    }
    let listed = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let own = listed.chain(schema.get("default")).find(|value| validation_issues(schema, value).is_empty());
    match own {
        Some(value) => Example { value: value.clone(), origin: ExampleOrigin::Schema },
        None => Example { value: synthesize::value(schema), origin: ExampleOrigin::Synthesized },
    }
}

impl Design {
    /// Returns example arguments of a tool.
    pub fn tool_example(&self, tool: &ToolDef) -> Example {
        example(&self.types.bundle(&tool.args.schema), tool.example.as_ref())
    }

    /// Returns how to repair invalid arguments of a tool call; `None` for an unknown tool.
    pub fn repair_tool(&self, name: &str, message: impl Into<String>) -> Option<Repair> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        let operation = Operation::CallTool(name.to_owned());
        let schema = self.types.bundle(&tool.args.schema);
        Some(Repair::new(operation, message, self.tool_example(tool).value).with_schema(schema))
    }

    /// Returns how to repair invalid arguments of a prompt; `None` for an unknown prompt.
    pub fn repair_prompt(&self, name: &str, message: impl Into<String>) -> Option<Repair> {
        let prompt = self.prompts.iter().find(|prompt| prompt.name == name)?;
        let operation = Operation::GetPrompt(name.to_owned());
        Some(Repair::new(operation, message, prompt.example().value).with_schema(prompt.schema()))
    }
}

impl PromptDef {
    /// Returns example arguments, which are all strings.
    pub fn example(&self) -> Example {
        if let Some(value) = &self.example {
            return Example { value: value.clone(), origin: ExampleOrigin::Authored };
        }
        let required = self.arguments.iter().filter(|argument| argument.required);
        let value: Map<String, Value> =
            required.map(|argument| (argument.name.clone(), argument.sample_text().into())).collect();
        Example { value: Value::Object(value), origin: ExampleOrigin::Synthesized }
    }
}

impl ParamDef {
    /// Returns a text that is valid for the parameter.
    pub fn sample_text(&self) -> String {
        match (&self.default, &self.kind) {
            (Some(Value::String(text)), _) => text.clone(),
            (Some(default @ (Value::Bool(_) | Value::Number(_))), _) => default.to_string(),
            (_, ParamKind::Boolean) => "true".into(),
            (_, ParamKind::Integer | ParamKind::Number) => "1".into(),
            (_, ParamKind::Choice { values }) => values.first().cloned().unwrap_or_default(),
            (_, ParamKind::Text | ParamKind::Any) => "text".into(),
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::random_object;
