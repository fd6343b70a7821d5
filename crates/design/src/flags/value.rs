//! From the text of a flag to the value of an argument.

use serde_json::{Number, Value};

use super::{Flag, FlagKind};
use crate::repair::Issue;
use crate::schema::misfits;

impl Flag {
    /// Reads one text: the value, or an item of it where the flag is repeated.
    ///
    /// # Errors
    /// What is wrong with it, in words for people.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let value = match &self.kind {
            FlagKind::Text | FlagKind::Bytes => Value::String(text.to_owned()),
            FlagKind::Boolean => match text {
                "true" | "yes" | "1" => Value::Bool(true),
                "false" | "no" | "0" => Value::Bool(false),
                _ => return Err("true or false is needed".to_owned()),
            },
            FlagKind::Integer => whole(text).ok_or("a whole number is needed")?,
            FlagKind::Number => whole(text).or_else(|| broken(text)).ok_or("a number is needed")?,
            FlagKind::Choice(_) => self.chosen(text)?,
            FlagKind::Json => serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?,
            FlagKind::Any => self.any(text),
        };
        match misfits(&self.item, &value) {
            issues if issues.is_empty() => Ok(value),
            issues => Err(said(&issues)),
        }
    }

    fn chosen(&self, text: &str) -> Result<Value, String> {
        let FlagKind::Choice(texts) = &self.kind else { return Ok(Value::Null) };
        let values = super::resolved(&self.item, &self.item).get("enum").and_then(Value::as_array);
        let place = texts.iter().position(|known| known == text);
        let value = place.and_then(|place| values?.get(place));
        value.cloned().ok_or_else(|| format!("one of {} is needed", texts.join(", ")))
    }

    /// What looks like JSON and fits is that; everything else is text.
    fn any(&self, text: &str) -> Value {
        let as_json = serde_json::from_str(text).ok();
        as_json
            .filter(|value| misfits(&self.item, value).is_empty())
            .unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

fn whole(text: &str) -> Option<Value> {
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

fn broken(text: &str) -> Option<Value> {
    Number::from_f64(text.parse().ok()?).map(Value::Number)
}

fn said(issues: &[Issue]) -> String {
    let line = |issue: &Issue| if issue.pointer.is_empty() { issue.reason() } else { issue.to_string() };
    issues.iter().map(line).collect::<Vec<_>>().join("; ")
}
