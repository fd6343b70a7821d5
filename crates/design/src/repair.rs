//! Repair of invalid arguments: the issues, the schema and an example, for the caller's next attempt.
//!
//! Rendered as text for a model ([`Repair::prompt`]) or as data for a program ([`Repair::recovery`]).
//! Invariant: the same repair gives the same bytes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nearest::nearest;
use switchboard_protocol::setters;

/// The maximum number of known members listed in a message about an unknown one.
const MAX_LISTED: usize = 30;
/// The prefix of messages about unknown members.
const UNKNOWN_MEMBER: &str = "is not a known property";

/// One violation of a schema, or another problem with an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    /// The JSON pointer of the value; empty for the whole document.
    pub pointer: String,
    /// The problem: `got "x"` if `expected` is set, else the complete reason.
    pub message: String,
    /// The expected value, like `a number`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Issue {
    /// Creates an issue at a JSON pointer.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), expected: None }
    }

    /// Creates an issue at a top-level member.
    pub fn for_member(name: &str, message: impl Into<String>) -> Self {
        Self::new(format!("/{}", name.replace('~', "~0").replace('/', "~1")), message)
    }

    /// Sets [`expected`](Self::expected).
    #[must_use]
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Creates an issue about a member that the schema does not define. Suggests the nearest known name.
    pub(crate) fn unknown_member(name: &str, known: &[&str]) -> Self {
        let suggestion = match nearest(name, known.iter().copied()) {
            Some(near) => format!(" (did you mean `{near}`?)"),
            None => String::new(),
        };
        let listed = &known[..known.len().min(MAX_LISTED)];
        let more = match known.len() - listed.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let known =
            if known.is_empty() { String::new() } else { format!("; known: {}{more}", listed.join(", ")) };
        Self::for_member(name, format!("{UNKNOWN_MEMBER}{suggestion}{known}"))
    }

    /// Returns whether the issue is about a member that the schema does not define.
    pub fn is_unknown_member(&self) -> bool {
        self.expected.is_none() && self.message.starts_with(UNKNOWN_MEMBER)
    }

    /// Returns the reason without the path: `must be a number; got "x"`.
    pub fn reason(&self) -> String {
        match &self.expected {
            Some(expected) => format!("must be {expected}; {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the pointer as a path, like `tags[1].name`; empty for the whole document.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for part in self.pointer.split('/').skip(1) {
            if !path.is_empty() && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
                path.push_str(&format!("[{part}]"));
            } else {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&part.replace("~1", "/").replace("~0", "~"));
            }
        }
        path
    }
}

/// Writes path and reason: `` `tags[1]` must be a string; got 1 ``.
impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            path if !path.is_empty() => write!(f, "`{path}` {}", self.reason()),
            _ if self.expected.is_some() => write!(f, "the value {}", self.reason()),
            _ => f.write_str(&self.message),
        }
    }
}

/// The operation whose arguments were invalid.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Operation {
    /// A call of this tool.
    CallTool(String),
    /// A request for this prompt.
    GetPrompt(String),
    /// A request for a prompt without a name.
    GetUnnamedPrompt,
    /// Reading this resource.
    ReadResource(String),
    /// A call of this method over the plain JSON-RPC endpoint.
    CallMethod(String),
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CallTool(name) => write!(f, "tools/call:{name}"),
            Self::GetPrompt(name) => write!(f, "prompts/get:{name}"),
            Self::GetUnnamedPrompt => f.write_str("prompts/get"),
            Self::ReadResource(name) => write!(f, "resources/read:{name}"),
            Self::CallMethod(name) => f.write_str(name),
        }
    }
}

/// The information a caller needs to correct invalid arguments.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::design::{Operation, Repair};
///
/// let repair = Repair::new(Operation::CallTool("sum".into()), "Missing required field: a", json!({"a": 1}));
/// assert!(repair.prompt().ends_with("\nExample params: {\"a\":1}"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// The operation.
    pub operation: Operation,
    /// The error message, in one sentence.
    pub message: String,
    /// Valid example arguments.
    pub example: Value,
    /// The schema of the arguments, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The individual issues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
    /// The rejected arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Value>,
}

impl Repair {
    /// Creates a repair without schema, issues and prior arguments.
    pub fn new(operation: Operation, message: impl Into<String>, example: Value) -> Self {
        Self { operation, message: message.into(), example, schema: None, issues: Vec::new(), prior: None }
    }

    /// Returns the prompt that asks a model to retry. Starts with a line feed, so that it can be appended to other text.
    pub fn prompt(&self) -> String {
        let schema = match &self.schema {
            Some(schema) => format!("Schema: {schema}\n"),
            None => String::new(),
        };
        format!(
            "\nOperation: {}\n{schema}Error: {}\nRedo the operation now with valid parameters.\n\
             Use only valid schema fields and ensure required fields and types/enums are valid.\n\
             Example params: {}",
            self.operation, self.message, self.example
        )
    }

    /// Returns the repair as data for a program.
    pub fn recovery(&self) -> Recovery {
        // Without schema and example, a retry would be a guess.
        let has_guidance = self.schema.is_some() || !self.example.is_null();
        Recovery {
            action: if has_guidance { RecoveryAction::CorrectCall } else { RecoveryAction::Replan },
            prior: self.prior.clone(),
            example: self.example.clone(),
            issues: self.issues.clone(),
        }
    }
}

setters!(Repair:
    some with_schema schema Value;
    set with_issues issues Vec<Issue>;
    some with_prior prior Value;
);

/// A [`Repair`] as data: how a program should handle invalid arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recovery {
    /// The recommended action.
    pub action: RecoveryAction,
    /// The rejected arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Value>,
    /// Valid example arguments.
    pub example: Value,
    /// The individual issues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
}

/// The recommended action after invalid arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecoveryAction {
    /// Retry the call with corrected arguments.
    CorrectCall,
    /// Choose another action: neither a schema nor an example is known.
    Replan,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn repair(operation: Operation) -> Repair {
        Repair::new(operation, "Missing required field: text", json!({"text": "I love this new feature!"}))
    }

    #[test]
    fn the_repair_prompt_of_a_tool_is_byte_exact() {
        let schema =
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let repair = repair(Operation::CallTool("analyze_sentiment".into()))
            .with_schema(crate::schema::canonicalize(schema));
        assert_eq!(
            repair.prompt(),
            "\nOperation: tools/call:analyze_sentiment\n\
             Schema: {\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"],\"type\":\"object\"}\n\
             Error: Missing required field: text\n\
             Redo the operation now with valid parameters.\n\
             Use only valid schema fields and ensure required fields and types/enums are valid.\n\
             Example params: {\"text\":\"I love this new feature!\"}"
        );
    }

    #[test]
    fn the_repair_prompt_of_a_prompt_has_no_schema() {
        let rest = "\nError: Missing required field: text\n\
             Redo the operation now with valid parameters.\n\
             Use only valid schema fields and ensure required fields and types/enums are valid.\n\
             Example params: {\"text\":\"I love this new feature!\"}";
        let named = repair(Operation::GetPrompt("code_review".into()));
        assert_eq!(named.prompt(), format!("\nOperation: prompts/get:code_review{rest}"));
        let unnamed = repair(Operation::GetUnnamedPrompt);
        assert_eq!(unnamed.prompt(), format!("\nOperation: prompts/get{rest}"));
    }

    #[test]
    fn recovery_is_the_repair_as_data() {
        let issue = Issue::for_member("a/b", "got 1").with_expected("text");
        let repair = repair(Operation::CallTool("t".into())).with_issues([issue]).with_prior(json!({}));
        assert_eq!(
            serde_json::to_value(repair.recovery()).unwrap(),
            json!({
                "action": "correct_call",
                "prior": {},
                "example": {"text": "I love this new feature!"},
                "issues": [{"pointer": "/a~1b", "message": "got 1", "expected": "text"}],
            })
        );
        let guess = Repair::new(Operation::CallTool("t".into()), "no", Value::Null);
        assert_eq!(guess.recovery().action, RecoveryAction::Replan);
    }
}
