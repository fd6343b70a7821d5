//! Keywords for objects.

use serde_json::{Map, Value};

use super::bits::Bits;
use super::node::{NOTHING, NodeId, ObjectRules};
use super::run::{Checked, OverBudget, Run};
use crate::repair::Issue;

/// Names of properties that are listed beside one that is unknown.
const MAX_LISTED: usize = 30;

impl Run<'_> {
    pub(super) fn object(
        &mut self,
        rules: &ObjectRules,
        members: &Map<String, Value>,
        mut marks: Option<&mut Bits>,
    ) -> Checked {
        let mut is_valid = self.count(members.len() as u64, rules.min, rules.max, "property", "in size");
        for name in &rules.required {
            self.take(1)?;
            if !members.contains_key(&**name) {
                is_valid = self.fail(|| Issue::at(name, "is required"));
            }
            if !is_valid && self.stops_early() {
                return Ok(false);
            }
        }
        for (name, others) in &rules.dependent_required {
            self.take(1)?;
            if members.contains_key(&**name) {
                for other in others {
                    self.take(1)?;
                    if !members.contains_key(&**other) {
                        is_valid = self.fail(|| Issue::at(other, format!("is required beside `{name}`")));
                    }
                }
            }
        }
        if (!is_valid && self.stops_early()) || !rules.visits_members() {
            return Ok(is_valid);
        }
        for (at, (name, member)) in members.iter().enumerate() {
            let (is_evaluated, is_member_valid) = self.member(rules, name, member)?;
            is_valid &= is_member_valid;
            if !is_valid && self.stops_early() {
                return Ok(false);
            }
            if is_evaluated && let Some(marks) = marks.as_deref_mut() {
                marks.set(at);
            }
        }
        Ok(is_valid)
    }

    /// Whether a member was evaluated, and whether it is valid.
    fn member(
        &mut self,
        rules: &ObjectRules,
        name: &str,
        member: &Value,
    ) -> Result<(bool, bool), OverBudget> {
        self.take(1 + name.len() as u64 / 64)?;
        let mut is_valid = true;
        let mut is_evaluated = false;
        if let Some(node) = rules.property(name) {
            is_evaluated = true;
            is_valid &= self.property(rules, name, node, member)?;
        }
        for (pattern, node) in &rules.patterns {
            if !is_valid && self.stops_early() {
                return Ok((true, false));
            }
            // What cannot be matched leaves open whether the member is additional: it counts as evaluated.
            if pattern.is_none() {
                is_evaluated = true;
            } else if self.matches(*pattern, name)? {
                is_evaluated = true;
                is_valid &= self.property(rules, name, *node, member)?;
            }
        }
        if !is_evaluated && let Some(node) = rules.additional {
            is_evaluated = true;
            is_valid &= self.property(rules, name, node, member)?;
        }
        if let Some(names) = rules.names {
            let text = Value::String(name.to_owned());
            if !self.quietly(|run| run.eval(names, &text, None))? {
                is_valid = self.invalid_name(name);
            }
        }
        Ok((is_evaluated, is_valid))
    }

    fn property(&mut self, rules: &ObjectRules, name: &str, node: NodeId, member: &Value) -> Checked {
        if node == NOTHING && !self.stops_early() {
            return Ok(self.fail(|| unknown(rules, name)));
        }
        self.child(|| name.to_owned(), node, member)
    }
}

fn unknown(rules: &ObjectRules, name: &str) -> Issue {
    let known: Vec<&str> = rules.properties.iter().map(|(name, _)| &**name).collect();
    match known.len() {
        0 => Issue::at(name, "is not a known property"),
        1..=MAX_LISTED => Issue::at(name, format!("is not a known property; known: {}", known.join(", "))),
        more => {
            let listed = known[..MAX_LISTED].join(", ");
            Issue::at(
                name,
                format!("is not a known property; known: {listed} and {} more", more - MAX_LISTED),
            )
        }
    }
}
