//! What a line of a talk says of a message: equal in every value, but for what it leaves open.
//!
//! `"<any>"` is any value, `"<id:name>"` is the same value wherever it stands, and a member `"...": true` lets an
//! object have members the line does not name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The values that were bound to names so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bound(BTreeMap<String, Value>);

fn name_in(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix("<id:")?.strip_suffix('>')
}

impl Bound {
    /// Compares a message with a line, binding names on the way. The error says where they part.
    pub(crate) fn compare(&mut self, line: &Value, got: &Value) -> Result<(), String> {
        let mut trial = self.clone();
        trial.at("$", line, got)?;
        *self = trial;
        Ok(())
    }

    fn at(&mut self, path: &str, line: &Value, got: &Value) -> Result<(), String> {
        if line.as_str() == Some("<any>") {
            return Ok(());
        }
        if let Some(name) = name_in(line) {
            let bound = self.0.entry(name.to_owned()).or_insert_with(|| got.clone());
            let expected = bound.clone();
            return same(path, &expected, got);
        }
        match (line, got) {
            (Value::Object(line), Value::Object(got)) => self.members(path, line, got),
            (Value::Array(line), Value::Array(got)) if line.len() == got.len() => {
                let mut pairs = line.iter().zip(got).enumerate();
                pairs.try_for_each(|(index, (line, got))| self.at(&format!("{path}[{index}]"), line, got))
            }
            (line, got) => same(path, line, got),
        }
    }

    fn members(
        &mut self,
        path: &str,
        line: &Map<String, Value>,
        got: &Map<String, Value>,
    ) -> Result<(), String> {
        for (key, value) in line.iter().filter(|(key, _)| *key != "...") {
            let found = got.get(key).ok_or_else(|| format!("{path}.{key}: missing; expected {value}"))?;
            self.at(&format!("{path}.{key}"), value, found)?;
        }
        let mut more = got.keys().filter(|key| !line.contains_key(*key));
        match more.next() {
            Some(key) if !line.contains_key("...") => {
                Err(format!("{path}.{key}: not expected: {}", got[key]))
            }
            _ => Ok(()),
        }
    }

    /// A line as it is sent: bound names become their values.
    pub(crate) fn fill(&self, line: &Value) -> Result<Value, String> {
        if let Some(name) = name_in(line) {
            return self.0.get(name).cloned().ok_or_else(|| format!("nothing is bound to {name:?} yet"));
        }
        Ok(match line {
            Value::Array(items) => {
                items.iter().map(|item| self.fill(item)).collect::<Result<Vec<_>, _>>()?.into()
            }
            Value::Object(members) => {
                let filled = members.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, String>>()?)
            }
            other => other.clone(),
        })
    }
}

fn same(path: &str, expected: &Value, got: &Value) -> Result<(), String> {
    // 1 and 1.0 are one number in JSON.
    let numbers = expected.as_f64().zip(got.as_f64());
    if expected == got || numbers.is_some_and(|(expected, got)| expected == got) {
        return Ok(());
    }
    Err(format!("{path}: expected {expected}, got {got}"))
}
