//! Keywords for objects.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::bits::Bits;
use super::compile::Validator;
use super::node::{Applied, NOTHING, Node, NodeId, ObjectRules};
use super::run::{Checked, OverBudget, Run};
use crate::nearest::MAX_COMPARED;
use crate::repair::Issue;

/// Steps that comparing an unknown name with a known one costs.
const COMPARISON: u64 = 20;

impl<'v> Run<'v> {
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
            let is_absent = self.validator.skips_nulls
                && member.is_null()
                && !rules.required.iter().any(|known| **known == *name);
            is_valid &= is_absent || self.property(rules, name, node, member)?;
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
            let known: Vec<&str> = rules.properties.iter().map(|(name, _)| &**name).collect();
            return self.unknown_member(name, &known);
        }
        self.child(|| name.to_owned(), node, member)
    }

    /// A member that no keyword of a node with `unevaluatedProperties` has evaluated.
    pub(super) fn unevaluated_member(
        &mut self,
        node: &'v Node,
        (name, member): (&str, &Value),
        schema: NodeId,
    ) -> Checked {
        if schema == NOTHING && !self.stops_early() {
            let known: Vec<&str> = known_members(self.validator, node).into_iter().collect();
            return self.unknown_member(name, &known);
        }
        self.child(|| name.to_owned(), schema, member)
    }

    fn unknown_member(&mut self, name: &str, known: &[&str]) -> Checked {
        self.take(COMPARISON * known.len().min(MAX_COMPARED) as u64)?;
        Ok(self.fail(|| Issue::unknown_member(name, known)))
    }
}

/// The names that a schema and those it applies in place have for members.
fn known_members<'v>(validator: &'v Validator, node: &'v Node) -> BTreeSet<&'v str> {
    let mut names = BTreeSet::new();
    let mut left = vec![node];
    let mut seen = HashSet::new();
    while let Some(node) = left.pop() {
        names.extend(node.object.iter().flat_map(|rules| &rules.properties).map(|(name, _)| &**name));
        for applied in &node.applied {
            let nodes: &[NodeId] = match applied {
                Applied::Ref(node) => std::slice::from_ref(node),
                Applied::AllOf(nodes) | Applied::AnyOf(nodes) | Applied::OneOf(nodes) => nodes,
                _ => &[],
            };
            let new = nodes.iter().filter(|id| seen.len() < MAX_COMPARED && seen.insert(**id));
            left.extend(new.map(|id| &validator.nodes[*id as usize]));
        }
    }
    names
}
