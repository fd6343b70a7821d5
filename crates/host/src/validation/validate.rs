//! Validates arguments and results. Schemas are compiled once per tool, on its first call.
//!
//! Schemas come from servers, which are not trusted. The validator has a step budget, so validating takes some tens of
//! milliseconds at most, on the task that makes the call: a cancellation waits no longer than that. Whatever exceeds a
//! limit is not validated, with a warning; the call continues.

use std::fmt;
use std::sync::OnceLock;

use serde_json::Value;
use switchboard_design::schema::{PatternBudget, ValidationOutcome, Validator, ValidatorOptions};
use switchboard_protocol::{Raw, Tool};

use crate::validation::decoded_size;
use crate::validation::flat_schema::FlatSchema;

/// The largest schema that is compiled, and the largest value that is validated.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
const MAX_VALUE_BYTES: usize = 1024 * 1024;
/// The limit of reported problems of a value, and of characters of each.
const MAX_PROBLEMS: usize = 5;
const MAX_PROBLEM_CHARS: usize = 200;

/// Whether arguments and results are validated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Validates arguments before a call and structured results after it.
    #[default]
    On,
    /// Validates neither.
    Off,
}

/// The compiled schemas of one tool.
#[derive(Default)]
pub(crate) struct ToolValidators {
    /// The pattern budget, shared by all tools of a server.
    patterns: PatternBudget,
    input: OnceLock<SchemaCheck>,
    output: OnceLock<SchemaCheck>,
}

/// A compiled schema.
enum SchemaCheck {
    /// Accepts anything, or could not be compiled.
    Anything,
    /// A flat schema: most valid values are recognized from their text; the validator is compiled for the others.
    Flat {
        flat: FlatSchema,
        schema: Value,
        full: OnceLock<Option<Box<Validator>>>,
    },
    Compiled(Box<Validator>),
}

impl ToolValidators {
    /// Creates validators that compile on demand, within this pattern budget.
    pub(crate) fn new(patterns: PatternBudget) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// Validates arguments.
    pub(crate) fn arguments(&self, tool: &Tool, arguments: &Raw) -> Result<(), String> {
        let check = self.input.get_or_init(|| self.compile(&tool.name, &tool.input_schema));
        self.check(check, &tool.name, arguments)
    }

    /// Validates a structured result.
    pub(crate) fn output(&self, tool: &Tool, structured: &Raw) -> Result<(), String> {
        let Some(schema) = &tool.output_schema else { return Ok(()) };
        let check = self.output.get_or_init(|| self.compile(&tool.name, schema));
        self.check(check, &tool.name, structured)
    }

    fn compile(&self, tool: &str, schema: &Raw) -> SchemaCheck {
        match self.try_compile(tool, schema) {
            Ok(check) => check,
            Err(reason) => {
                tracing::warn!(tool, reason, "schema not compiled: values are not validated");
                SchemaCheck::Anything
            }
        }
    }

    fn try_compile(&self, tool: &str, schema: &Raw) -> Result<SchemaCheck, String> {
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(format!("it is larger than {} KiB", MAX_SCHEMA_BYTES / 1024));
        }
        decoded_size::check_schema(schema.as_str()).map_err(|reason| reason.to_string())?;
        let schema: Value = schema.decode().map_err(|error| error.to_string())?;
        if accepts_any_object(&schema) {
            return Ok(SchemaCheck::Anything);
        }
        match FlatSchema::new(&schema) {
            Some(flat) => Ok(SchemaCheck::Flat { flat, schema, full: OnceLock::new() }),
            None => self.validator(tool, &schema).map(|compiled| SchemaCheck::Compiled(Box::new(compiled))),
        }
    }

    fn validator(&self, tool: &str, schema: &Value) -> Result<Validator, String> {
        let options = ValidatorOptions::new().pattern_budget(self.patterns.clone());
        let validator = Validator::with_options(schema, &options).map_err(|error| error.to_string())?;
        for part in validator.unchecked() {
            tracing::warn!(tool, part, "part of a schema is not checked");
        }
        Ok(validator)
    }

    fn check(&self, check: &SchemaCheck, tool: &str, value: &Raw) -> Result<(), String> {
        match check {
            SchemaCheck::Anything => Ok(()),
            SchemaCheck::Flat { flat, .. } if flat.accepts(value) => Ok(()),
            SchemaCheck::Flat { schema, full, .. } => {
                match full.get_or_init(|| self.validator(tool, schema).ok().map(Box::new)) {
                    Some(validator) => run_validator(validator, tool, value),
                    None => Ok(()),
                }
            }
            SchemaCheck::Compiled(validator) => run_validator(validator, tool, value),
        }
    }
}

/// Runs the validator; the error lists the problems.
fn run_validator(validator: &Validator, tool: &str, value: &Raw) -> Result<(), String> {
    if value.len() > MAX_VALUE_BYTES {
        tracing::warn!(tool, bytes = value.len(), "value not validated: it is too large");
        return Ok(());
    }
    if let Err(reason) = decoded_size::check_value(value.as_str()) {
        tracing::warn!(tool, %reason, "value not validated");
        return Ok(());
    }
    let value: Value = value.decode().map_err(|error| error.to_string())?;
    match validator.validate(&value) {
        ValidationOutcome::Valid => Ok(()),
        ValidationOutcome::OverBudget => {
            tracing::warn!(tool, "value not validated: the schema asks for too many steps");
            Ok(())
        }
        ValidationOutcome::Invalid(issues) => {
            let line = |issue: &switchboard_design::Issue| -> String {
                issue.to_string().chars().take(MAX_PROBLEM_CHARS).collect()
            };
            Err(issues.iter().take(MAX_PROBLEMS).map(line).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Returns whether a schema accepts every object.
fn accepts_any_object(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return false };
    members.iter().all(|(key, value)| match key.as_str() {
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(true),
        "$schema" | "title" | "description" => true,
        _ => false,
    })
}

impl fmt::Debug for ToolValidators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolValidators")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn validate(schema: Value, arguments: Value) -> Result<(), String> {
        ToolValidators::default().arguments(&Tool::new("t", schema), &arguments.into())
    }

    #[test]
    fn problems_have_a_path() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "lines": {"type": "integer", "minimum": 1}}});
        assert_eq!(validate(schema.clone(), json!({"path": "/a", "lines": 3})), Ok(()));
        let problem = validate(schema, json!({"lines": 0})).unwrap_err();
        assert_eq!(problem, "`path` is required; `lines` must be at least 1; got 0");
    }

    #[test]
    fn a_schema_that_cannot_be_compiled_is_not_checked() {
        let cases = [
            json!({"$ref": "#"}),
            json!({"type": "object", "properties": {"a": {"pattern": "(?=lookahead)"}}}),
            json!({"type": "nonsense"}),
            json!({"$ref": "https://example.com/schema"}),
        ];
        for schema in cases {
            assert_eq!(validate(schema.clone(), json!({"a": 1})), Ok(()), "{schema}");
        }
    }

    #[test]
    fn s1_a_recursive_schema_with_a_nested_result_is_bounded() {
        let branch = json!({"properties": {"a": {"$ref": "#/$defs/N"}}, "required": ["x"]});
        let schema = json!({"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [branch, branch, branch]}}});
        let tool = Tool::new("t", json!({"type": "object"})).with_output_schema(schema);
        let nested = format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        // Valid or not, it is decided or given up, and does not take all memory.
        let _ = ToolValidators::default().output(&tool, &Raw::parse(nested).unwrap());
    }

    #[test]
    fn s1_a_value_beyond_the_budget_is_not_validated_and_the_call_continues() {
        // A few lines of schema, and every level evaluates the one below it up to twenty times.
        let mut definitions = serde_json::Map::new();
        definitions.insert("N0".to_owned(), json!({"const": 0}));
        for level in 1..=12 {
            let below = json!({"not": {"$ref": format!("#/$defs/N{}", level - 1)}});
            definitions.insert(format!("N{level}"), json!({"allOf": vec![below; 20]}));
        }
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/N12"}}, "$defs": definitions});
        assert_eq!(validate(schema, json!({"a": 1})), Ok(()));
        assert_eq!(validate(json!({"$ref": "#"}), json!({"a": 1})), Ok(()));
    }

    #[test]
    fn s1_the_tools_of_a_server_share_one_budget_for_patterns() {
        let patterns = PatternBudget::default();
        let schema = |at: usize| json!({"properties": {"a": {"pattern": format!("^\\p{{L}}{{{at}}}$")}}});
        let tools: Vec<(ToolValidators, Tool)> =
            (1..100).map(|at| (ToolValidators::new(patterns.clone()), Tool::new("t", schema(at)))).collect();
        let arguments = Raw::from(json!({"a": "12"}));
        let checked =
            tools.iter().filter(|(checks, tool)| checks.arguments(tool, &arguments).is_err()).count();
        assert!(checked > 0 && checked < 60, "{checked} of 99 patterns are checked");
    }

    #[test]
    fn a_plain_object_schema_is_not_compiled() {
        assert!(accepts_any_object(&json!({"type": "object", "properties": {}})));
        assert!(!accepts_any_object(&json!({"type": "object", "additionalProperties": false})));
        assert!(!accepts_any_object(&json!({"type": "string"})));
    }
}
