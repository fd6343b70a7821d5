//! Arguments that fit, to show to whoever must write some.
//!
//! Invariant: deterministic, and what is made here fits its schema by [`misfits`](crate::schema::misfits), unless no
//! value does or it takes more than a look to find one. What an author wrote is shown as it is.

mod make;
mod pattern;
mod text;

use serde_json::{Map, Value};

use crate::ir::{Design, ParamDef, ParamKind, PromptDef, ToolDef};
use crate::repair::{Operation, Repair};
use crate::schema::misfits;

/// A value that fits a schema, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Example {
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: ExampleOrigin,
}

/// Where an example comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExampleOrigin {
    /// The author wrote it.
    Authored,
    /// The schema has it.
    Schema,
    /// It was made from the schema.
    Synthesised,
}

/// A value that fits a schema which stands on its own: as authored, else the schema's own, else made.
///
/// What is made has what is required and nothing else, the first of a choice, and numbers within bounds.
///
/// ```
/// use serde_json::json;
/// use switchboard::design::{ExampleOrigin, example};
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]});
/// let made = example(&schema, None);
/// assert_eq!((made.value, made.origin), (json!({"n": 5}), ExampleOrigin::Synthesised));
/// ```
pub fn example(schema: &Value, authored: Option<&Value>) -> Example {
    if let Some(value) = authored {
        return Example { value: value.clone(), origin: ExampleOrigin::Authored };
    }
    let listed = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let own = listed.chain(schema.get("default")).find(|value| misfits(schema, value).is_empty());
    match own {
        Some(value) => Example { value: value.clone(), origin: ExampleOrigin::Schema },
        None => Example { value: make::value(schema), origin: ExampleOrigin::Synthesised },
    }
}

impl Design {
    /// Arguments that fit a tool.
    pub fn tool_example(&self, tool: &ToolDef) -> Example {
        example(&self.types.close(&tool.args.schema), tool.example.as_ref())
    }

    /// How to repair a call of a tool whose arguments do not fit; nothing when there is no such tool.
    pub fn repair_tool(&self, name: &str, message: impl Into<String>) -> Option<Repair> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        let operation = Operation::CallTool(name.to_owned());
        let schema = self.types.close(&tool.args.schema);
        Some(Repair::new(operation, message, self.tool_example(tool).value).with_schema(schema))
    }

    /// How to repair a request for a prompt whose arguments do not fit; nothing when there is no such prompt.
    pub fn repair_prompt(&self, name: &str, message: impl Into<String>) -> Option<Repair> {
        let prompt = self.prompts.iter().find(|prompt| prompt.name == name)?;
        let operation = Operation::GetPrompt(name.to_owned());
        Some(Repair::new(operation, message, prompt.example().value).with_schema(prompt.schema()))
    }
}

impl PromptDef {
    /// Arguments that fit: all are texts.
    pub fn example(&self) -> Example {
        if let Some(value) = &self.example {
            return Example { value: value.clone(), origin: ExampleOrigin::Authored };
        }
        let required = self.arguments.iter().filter(|argument| argument.required);
        let value: Map<String, Value> =
            required.map(|argument| (argument.name.clone(), argument.sample().into())).collect();
        Example { value: Value::Object(value), origin: ExampleOrigin::Synthesised }
    }
}

impl ParamDef {
    /// A text that the parameter can be read from.
    pub fn sample(&self) -> String {
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
