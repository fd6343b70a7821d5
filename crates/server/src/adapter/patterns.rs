//! What `pattern` and `format` of a schema ask for. Without the feature `validate` nothing of it is looked at.

use serde_json::Value;
use switchboard_design::Issue;

/// The patterns and formats of one schema.
pub(crate) struct Patterns {
    #[cfg(feature = "validate")]
    validator: Option<jsonschema::Validator>,
}

impl Patterns {
    /// Those that a schema has.
    #[cfg(feature = "validate")]
    pub(crate) fn of(schema: &Value) -> Self {
        let validator = has_any(schema).then(|| {
            jsonschema::options()
                .with_draft(jsonschema::Draft::Draft202012)
                .should_validate_formats(true)
                .build(schema)
        });
        let validator = validator.and_then(|built| {
            built
                .inspect_err(
                    |error| tracing::error!(%error, "a schema cannot be checked; its patterns are not"),
                )
                .ok()
        });
        Self { validator }
    }

    /// Those that a schema has.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn of(_: &Value) -> Self {
        Self {}
    }

    /// Whether there is nothing to look at.
    pub(crate) fn is_empty(&self) -> bool {
        #[cfg(feature = "validate")]
        return self.validator.is_none();
        #[cfg(not(feature = "validate"))]
        true
    }

    /// Adds what does not fit.
    #[cfg(feature = "validate")]
    pub(crate) fn add(&self, value: &Value, issues: &mut Vec<Issue>) {
        use jsonschema::error::ValidationErrorKind::{Format, Pattern};
        let Some(validator) = &self.validator else { return };
        for error in validator.iter_errors(value) {
            if issues.len() >= MOST_ISSUES {
                return;
            }
            let expected = match error.kind() {
                Pattern { pattern } => format!("text that matches {pattern}"),
                Format { format } => format!("the format {format}"),
                // The rest was found before, and is told better there.
                _ => continue,
            };
            issues.push(Issue::new(error.instance_path().as_str(), "does not fit").expecting(expected));
        }
    }

    /// Adds what does not fit.
    #[cfg(not(feature = "validate"))]
    pub(crate) fn add(&self, _: &Value, _: &mut Vec<Issue>) {}
}

/// So many are told; nobody reads more.
#[cfg(feature = "validate")]
const MOST_ISSUES: usize = 100;

#[cfg(feature = "validate")]
fn has_any(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(word, value)| {
            let is_said = matches!(word.as_str(), "pattern" | "format") && value.is_string();
            let is_schema = !matches!(word.as_str(), "examples" | "default" | "const" | "enum");
            is_said || (is_schema && has_any(value))
        }),
        Value::Array(items) => items.iter().any(has_any),
        _ => false,
    }
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() { "Patterns(none)" } else { "Patterns" })
    }
}

#[cfg(all(test, feature = "validate"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_and_formats_are_looked_at_and_the_rest_is_left_to_others() {
        let schema = json!({
            "type": "object",
            "properties": {
                "code": {"type": "string", "pattern": "^[a-z]+$"},
                "mail": {"type": "string", "format": "email"},
                "size": {"type": "integer"},
            },
        });
        let mut issues = Vec::new();
        Patterns::of(&schema).add(&json!({"code": "A1", "mail": "none", "size": "x"}), &mut issues);
        let mut told: Vec<String> = issues.iter().map(ToString::to_string).collect();
        told.sort();
        assert_eq!(
            told,
            [
                "/code: does not fit (expected text that matches ^[a-z]+$)",
                "/mail: does not fit (expected the format email)"
            ]
        );
        assert!(Patterns::of(&json!({"type": "object", "examples": [{"pattern": "x"}]})).is_empty());
    }
}
