//! Parses the text of a flag to the value of an argument.

use serde_json::Value;

use super::{Flag, FlagKind};
use crate::repair::Issue;
use crate::schema::validation_issues;
use crate::uri::{parse_integer, parse_number};

impl Flag {
    /// Parses one occurrence of the flag: the value, or one item of a repeated flag.
    ///
    /// # Errors
    /// Returns a message for users.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match &self.kind {
            FlagKind::Text | FlagKind::Bytes => Value::String(text.to_owned()),
            FlagKind::Boolean => match text {
                "true" | "yes" | "1" => Value::Bool(true),
                "false" | "no" | "0" => Value::Bool(false),
                _ => return Err("true or false is needed".to_owned()),
            },
            FlagKind::Integer => parse_integer(text).ok_or("a whole number is needed")?,
            FlagKind::Number => {
                parse_integer(text).or_else(|| parse_number(text)).ok_or("a number is needed")?
            }
            FlagKind::Choice(_) => self.parse_choice(text)?,
            FlagKind::Json => serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?,
            FlagKind::Any => self.parse_any(text),
        };
        match validation_issues(&self.item, &value) {
            issues if issues.is_empty() => Ok(value),
            issues => Err(join_issues(&issues)),
        }
    }

    fn parse_choice(&self, text: &str) -> Result<Value, String> {
        let FlagKind::Choice(texts) = &self.kind else { return Ok(Value::Null) };
        let values = super::resolve(&self.item, &self.item).get("enum").and_then(Value::as_array);
        let index = texts.iter().position(|known| known == text);
        let value = index.and_then(|index| values?.get(index));
        value.cloned().ok_or_else(|| format!("one of {} is needed", texts.join(", ")))
    }

    /// Parses JSON that is valid under the schema; everything else is a string.
    fn parse_any(&self, text: &str) -> Value {
        let as_json = serde_json::from_str(text).ok();
        as_json
            .filter(|value| validation_issues(&self.item, value).is_empty())
            .unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

fn join_issues(issues: &[Issue]) -> String {
    let line = |issue: &Issue| if issue.pointer.is_empty() { issue.reason() } else { issue.to_string() };
    issues.iter().map(line).collect::<Vec<_>>().join("; ")
}
