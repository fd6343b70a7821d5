//! Value patterns: equal in every value, except for what a pattern leaves open.
//!
//! `"<any>"` is any value, `"<id:name>"` is the same value in every place, and a member `"...": true` lets an object have
//! members that the pattern does not name. `•••` in a string is a masked secret: any text; alone, any value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::difference::{Difference, member_path};
use crate::masking::MASK;

/// The pattern that matches every value.
pub const ANY: &str = "<any>";
/// The member that lets an object have more members.
const MORE: &str = "...";
/// More differences than these are not collected.
const MAX_DIFFERENCES: usize = 1000;

/// The values that patterns have bound to names.
#[derive(Debug, Clone, Default)]
pub struct PatternBindings(BTreeMap<String, Value>);

/// Returns the name in `<id:name>`.
fn bound_name(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix("<id:")?.strip_suffix('>')
}

/// Returns whether a value has a pattern in it.
pub(crate) fn has_pattern(value: &Value) -> bool {
    match value {
        Value::String(text) => text == ANY || bound_name(value).is_some(),
        Value::Array(items) => items.iter().any(has_pattern),
        Value::Object(members) => members.iter().any(|(key, value)| key == MORE || has_pattern(value)),
        _ => false,
    }
}

impl PatternBindings {
    /// Compares a value with a pattern. Binds names only if the value matches.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare(&mut self, pattern: &Value, actual: &Value) -> Result<(), Difference> {
        match self.differences(pattern, actual).into_iter().next() {
            None => Ok(()),
            Some(difference) => Err(difference),
        }
    }

    /// Returns all differences between a value and a pattern, at most a thousand. Binds names only if nothing differs.
    pub fn differences(&mut self, pattern: &Value, actual: &Value) -> Vec<Difference> {
        let mut trial = Comparison { bindings: self.clone(), differences: Vec::new() };
        trial.compare("$", pattern, actual);
        if trial.differences.is_empty() {
            *self = trial.bindings;
        }
        trial.differences
    }

    /// Returns the value bound to a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Replaces names by the values bound to them.
    ///
    /// # Errors
    /// Returns a name to which nothing is bound.
    pub fn fill(&self, pattern: &Value) -> Result<Value, UnboundName> {
        if let Some(name) = bound_name(pattern) {
            return self.0.get(name).cloned().ok_or_else(|| UnboundName(name.to_owned()));
        }
        Ok(match pattern {
            Value::Array(items) => {
                items.iter().map(|item| self.fill(item)).collect::<Result<Vec<_>, _>>()?.into()
            }
            Value::Object(members) => {
                let filled = members.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, UnboundName>>()?)
            }
            other => other.clone(),
        })
    }
}

/// A name to which nothing is bound yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing is bound to {0:?} yet")]
pub struct UnboundName(pub String);

/// One comparison under way.
struct Comparison {
    bindings: PatternBindings,
    differences: Vec<Difference>,
}

impl Comparison {
    fn report(&mut self, difference: Difference) {
        if self.differences.len() < MAX_DIFFERENCES {
            self.differences.push(difference);
        }
    }

    fn compare(&mut self, path: &str, pattern: &Value, actual: &Value) {
        let is_open = |text: &str| {
            text == ANY || text == MASK || actual.as_str().is_some_and(|actual| matches_masked(text, actual))
        };
        if pattern.as_str().is_some_and(is_open) {
            return;
        }
        if let Some(name) = bound_name(pattern) {
            let expected = self.bindings.0.entry(name.to_owned()).or_insert_with(|| actual.clone());
            if !is_same(expected, actual) {
                let difference = Difference::changed(path, expected, actual);
                self.report(difference);
            }
            return;
        }
        match (pattern, actual) {
            (Value::Object(pattern), Value::Object(actual)) => self.compare_members(path, pattern, actual),
            (Value::Array(pattern), Value::Array(actual)) => self.compare_items(path, pattern, actual),
            (pattern, actual) if is_same(pattern, actual) => {}
            (pattern, actual) => self.report(Difference::changed(path, pattern, actual)),
        }
    }

    fn compare_items(&mut self, path: &str, pattern: &[Value], actual: &[Value]) {
        for (index, (pattern, actual)) in pattern.iter().zip(actual).enumerate() {
            self.compare(&format!("{path}[{index}]"), pattern, actual);
        }
        for (index, missing) in pattern.iter().enumerate().skip(actual.len()) {
            self.report(Difference::missing(format!("{path}[{index}]"), missing));
        }
        for (index, more) in actual.iter().enumerate().skip(pattern.len()) {
            self.report(Difference::unexpected(format!("{path}[{index}]"), more));
        }
    }

    fn compare_members(&mut self, path: &str, pattern: &Map<String, Value>, actual: &Map<String, Value>) {
        for (key, value) in pattern.iter().filter(|(key, _)| *key != MORE) {
            let path = member_path(path, key);
            match actual.get(key) {
                Some(found) => self.compare(&path, value, found),
                None => self.report(Difference::missing(path, value)),
            }
        }
        if pattern.contains_key(MORE) {
            return;
        }
        for (key, more) in actual.iter().filter(|(key, _)| !pattern.contains_key(*key)) {
            self.report(Difference::unexpected(member_path(path, key), more));
        }
    }
}

/// 1 and 1.0 are one number in JSON; integers are compared exactly.
fn is_same(expected: &Value, actual: &Value) -> bool {
    let is_float = expected.is_f64() || actual.is_f64();
    expected == actual || is_float && expected.as_f64().is_some_and(|number| actual.as_f64() == Some(number))
}

/// Returns whether a text is what a masked text was: the parts between the masks, in order.
fn matches_masked(masked: &str, actual: &str) -> bool {
    let Some((first, rest)) = masked.split_once(MASK) else { return false };
    let (middle, last) = rest.rsplit_once(MASK).unwrap_or(("", rest));
    let Some(mut hidden) = actual.strip_prefix(first).and_then(|actual| actual.strip_suffix(last)) else {
        return false;
    };
    middle.split(MASK).all(|part| match hidden.find(part) {
        Some(at) => {
            hidden = &hidden[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(pattern: &Value, actual: &Value) -> Vec<String> {
        PatternBindings::default().differences(pattern, actual).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn open_places_match_and_everything_else_is_compared() {
        let pattern =
            json!({"id": "<id:a>", "list": "<any>", "more": {"x": 1, "...": true}, "same": "<id:a>"});
        let actual = json!({"id": 7, "list": [1], "more": {"x": 1.0, "y": 2}, "same": 7});
        assert!(shown(&pattern, &actual).is_empty());
        let actual = json!({"id": 7, "more": {"x": 2}, "same": 8, "z.z": null});
        let differences = [
            "$.list: missing; expected \"<any>\"",
            "$.more.x: expected 1, got 2",
            "$.same: expected 7, got 8",
            "$[\"z.z\"]: not expected: null",
        ];
        assert_eq!(shown(&pattern, &actual), differences);
        assert_eq!(shown(&json!([1, 2]), &json!([1])), ["$[1]: missing; expected 2"]);
    }

    #[test]
    fn names_are_bound_only_by_values_that_match() {
        let mut bindings = PatternBindings::default();
        assert!(bindings.compare(&json!(["<id:a>", 1]), &json!([7, 2])).is_err());
        assert_eq!(bindings.fill(&json!({"x": ["<id:a>"]})), Err(UnboundName("a".into())));
        assert!(bindings.compare(&json!(["<id:a>", 1]), &json!([7, 1])).is_ok());
        assert_eq!(bindings.fill(&json!({"x": ["<id:a>"]})), Ok(json!({"x": [7]})));
    }

    #[test]
    fn masked_text_matches_what_it_hides() {
        for (masked, actual, matches) in [
            ("Bearer •••", "Bearer abc", true),
            ("a ••• b ••• c", "a 1 b 2 b c", true),
            ("a ••• b", "a b", false),
            ("a••••••b", "ab", true),
            ("plain", "plain ", false),
        ] {
            assert_eq!(shown(&json!(masked), &json!(actual)).is_empty(), matches, "{masked} {actual}");
        }
        assert!(shown(&json!({"token": MASK}), &json!({"token": {"any": 1}})).is_empty());
    }

    #[test]
    fn integers_beyond_the_precision_of_floats_are_compared_exactly() {
        assert!(!shown(&json!(9_007_199_254_740_993u64), &json!(9_007_199_254_740_992u64)).is_empty());
        assert!(shown(&json!(1), &json!(1.0)).is_empty());
    }
}
