//! Whether arguments and results fit what a tool says of them. Compiled at most once for each tool, when it is first
//! called, and not at all where the schema could cost more than the call.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use switchboard_protocol::{Raw, Tool};

use crate::call::flat::Flat;
use crate::call::guard;

/// The largest value that is checked.
const MOST_BYTES: usize = 1024 * 1024;
/// What is said of one value, at most: problems, and characters of each.
const MOST_PROBLEMS: usize = 5;
const MOST_SAID: usize = 200;
/// What a pattern may take when it is compiled.
const PATTERN_BYTES: usize = 256 * 1024;

/// Whether values are checked against schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Arguments before a call, structured results after it.
    #[default]
    On,
    /// Neither.
    Off,
}

/// What is compiled for one tool.
#[derive(Default)]
pub(crate) struct Checks {
    input: OnceLock<Check>,
    output: OnceLock<Check>,
}

/// One schema.
enum Check {
    /// Takes anything, or is not compiled.
    Anything,
    /// Like most: what fits is seen at a glance, and only what may not is looked at closely.
    Flat {
        flat: Flat,
        schema: Value,
        full: OnceLock<Option<Validator>>,
    },
    Compiled(Box<Validator>),
}

impl Checks {
    /// Whether arguments fit; what does not, when they do not.
    pub(crate) fn arguments(&self, tool: &Tool, arguments: &Raw) -> Result<(), String> {
        self.input.get_or_init(|| Check::new(&tool.name, &tool.input_schema)).check(arguments)
    }

    /// Whether a structured result fits; what does not, when it does not.
    pub(crate) fn output(&self, tool: &Tool, structured: &Raw) -> Result<(), String> {
        let Some(schema) = &tool.output_schema else { return Ok(()) };
        self.output.get_or_init(|| Check::new(&tool.name, schema)).check(structured)
    }
}

impl Check {
    fn new(tool: &str, schema: &Raw) -> Self {
        match Self::compile(schema) {
            Ok(check) => check,
            Err(reason) => {
                tracing::warn!(tool, reason, "a schema is not checked");
                Self::Anything
            }
        }
    }

    fn compile(schema: &Raw) -> Result<Self, String> {
        guard::check_text(schema.as_str()).map_err(|reason| reason.to_string())?;
        let schema: Value = schema.decode().map_err(|error| error.to_string())?;
        if takes_any_object(&schema) {
            return Ok(Self::Anything);
        }
        guard::check(&schema).map_err(|reason| reason.to_string())?;
        match Flat::new(&schema) {
            Some(flat) => Ok(Self::Flat { flat, schema, full: OnceLock::new() }),
            None => validator(&schema).map(|compiled| Self::Compiled(Box::new(compiled))),
        }
    }

    fn check(&self, value: &Raw) -> Result<(), String> {
        match self {
            Self::Anything => Ok(()),
            Self::Flat { flat, .. } if flat.fits(value) => Ok(()),
            Self::Flat { schema, full, .. } => match full.get_or_init(|| validator(schema).ok()) {
                Some(validator) => problems(validator, value),
                None => Ok(()),
            },
            Self::Compiled(validator) => problems(validator, value),
        }
    }
}

fn validator(schema: &Value) -> Result<Validator, String> {
    // Patterns that never take longer than the text they look at.
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).map_err(|error| error.to_string())
}

/// What does not fit, if anything does not.
fn problems(validator: &Validator, value: &Raw) -> Result<(), String> {
    if value.len() > MOST_BYTES {
        return Ok(());
    }
    let value: Value = value.decode().map_err(|error| error.to_string())?;
    if validator.is_valid(&value) {
        return Ok(());
    }
    let problems: Vec<String> = validator
        .iter_errors(&value)
        .take(MOST_PROBLEMS)
        .map(|error| {
            let said: String = error.to_string().chars().take(MOST_SAID).collect();
            match error.instance_path().to_string() {
                path if path.is_empty() => said,
                path => format!("{path}: {said}"),
            }
        })
        .collect();
    Err(problems.join("; "))
}

/// Whether a schema says nothing but that it is an object, as many do.
fn takes_any_object(schema: &Value) -> bool {
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

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checks")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fits(schema: Value, arguments: Value) -> Result<(), String> {
        Checks::default().arguments(&Tool::new("t", schema), &arguments.into())
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "lines": {"type": "integer", "minimum": 1}}});
        assert_eq!(fits(schema.clone(), json!({"path": "/a", "lines": 3})), Ok(()));
        let problem = fits(schema, json!({"lines": 0})).unwrap_err();
        assert!(problem.contains("path") && problem.contains("/lines"), "{problem}");
    }

    #[test]
    fn what_cannot_be_compiled_is_not_checked() {
        let cases = [
            json!({"$ref": "#"}),
            json!({"type": "object", "properties": {"a": {"pattern": "(?=lookahead)"}}}),
            json!({"type": "nonsense"}),
            json!({"$ref": "https://example.com/schema"}),
        ];
        for schema in cases {
            assert_eq!(fits(schema.clone(), json!({"a": 1})), Ok(()), "{schema}");
        }
    }

    #[test]
    fn a_plain_object_costs_nothing() {
        assert!(takes_any_object(&json!({"type": "object", "properties": {}})));
        assert!(!takes_any_object(&json!({"type": "object", "additionalProperties": false})));
        assert!(!takes_any_object(&json!({"type": "string"})));
    }
}
