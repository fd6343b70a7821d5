//! What to tell whoever sent arguments that do not fit, so that the next try does.
//!
//! Two renderings of one value: text for a model ([`Repair::prompt`]) and data for a program ([`Repair::recovery`]).
//! Invariant: the same repair is the same text, byte for byte.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nearest::nearest;
use crate::setter::setters;

/// Names of members that are listed beside one that is unknown.
const MAX_LISTED: usize = 30;

/// One thing that is wrong with arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    /// Where, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong there: `got "x"` where `expected` says what must be there, else the whole reason.
    pub message: String,
    /// What must be there, like `a number`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}

impl Issue {
    /// Something is wrong at a JSON pointer.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), expected: None }
    }

    /// Something is wrong with the member of this name.
    pub fn at(name: &str, message: impl Into<String>) -> Self {
        Self::new(format!("/{}", name.replace('~', "~0").replace('/', "~1")), message)
    }

    /// The same, with what would fit.
    #[must_use]
    pub fn expecting(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }
}

/// How the message of an issue about an unknown member begins.
const UNKNOWN_MEMBER: &str = "is not a known property";

impl Issue {
    /// A member that the schema does not name, with the name that was probably meant and all that are known.
    pub(crate) fn unknown_member(name: &str, known: &[&str]) -> Self {
        let meant = match nearest(name, known.iter().copied()) {
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
        Self::at(name, format!("{UNKNOWN_MEMBER}{meant}{known}"))
    }

    /// Whether the issue is a member that the schema does not name, such as a misspelled one.
    pub fn is_unknown_member(&self) -> bool {
        self.expected.is_none() && self.message.starts_with(UNKNOWN_MEMBER)
    }

    /// What is wrong, without the place: `must be a number; got "x"`.
    pub fn reason(&self) -> String {
        match &self.expected {
            Some(expected) => format!("must be {expected}; {}", self.message),
            None => self.message.clone(),
        }
    }

    /// The place as people write it, like `tags[1].name`; empty for the whole.
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

/// `` `tags[1]` must be a string; got 1 ``
impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            path if !path.is_empty() => write!(f, "`{path}` {}", self.reason()),
            _ if self.expected.is_some() => write!(f, "the value {}", self.reason()),
            _ => f.write_str(&self.message),
        }
    }
}

/// What was being done when arguments did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Operation {
    /// A tool was called.
    CallTool(String),
    /// A prompt was asked for.
    GetPrompt(String),
    /// A prompt was asked for without its name.
    GetUnnamedPrompt,
    /// A resource was read.
    ReadResource(String),
    /// A method was called over the plain endpoint.
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

/// Everything needed to try again.
///
/// ```
/// use serde_json::json;
/// use switchboard::design::{Operation, Repair};
///
/// let repair = Repair::new(Operation::CallTool("sum".into()), "Missing required field: a", json!({"a": 1}));
/// assert!(repair.prompt().ends_with("\nExample params: {\"a\":1}"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// What was being done.
    pub operation: Operation,
    /// What was wrong, in one sentence.
    pub message: String,
    /// Arguments that fit.
    pub example: Value,
    /// The schema that arguments must fit, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What was wrong, one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
    /// The arguments that did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Value>,
}

impl Repair {
    /// What was being done, what was wrong, and arguments that fit.
    pub fn new(operation: Operation, message: impl Into<String>, example: Value) -> Self {
        Self { operation, message: message.into(), example, schema: None, issues: Vec::new(), prior: None }
    }

    /// The text that tells a model to try again. It begins with a new line, to be put after what was said before.
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

    /// The same as data.
    pub fn recovery(&self) -> Recovery {
        // Without a hint of what fits, another try would be a guess.
        let fits = self.schema.is_some() || !self.example.is_null();
        Recovery {
            action: if fits { RecoveryAction::CorrectCall } else { RecoveryAction::Replan },
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

/// What to do about arguments that did not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recovery {
    /// What to do.
    pub action: RecoveryAction,
    /// The arguments that did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Value>,
    /// Arguments that fit.
    pub example: Value,
    /// What was wrong, one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
}

/// What to do about arguments that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecoveryAction {
    /// Make the same call with other arguments.
    CorrectCall,
    /// Do something else: nothing is known of what would fit.
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
    fn the_prompt_of_a_tool_is_byte_exact() {
        let schema =
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let repair = repair(Operation::CallTool("analyze_sentiment".into()))
            .with_schema(crate::schema::canonical(schema));
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
    fn the_prompt_of_a_prompt_has_no_schema() {
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
    fn recovery_is_the_same_as_data() {
        let issue = Issue::at("a/b", "got 1").expecting("text");
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
