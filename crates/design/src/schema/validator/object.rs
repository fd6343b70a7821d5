//! Keywords for objects.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::bit_set::BitSet;
use super::compile::Validator;
use super::evaluate::{EvalResult, Evaluation, OverBudget};
use super::node::{Applicator, Node, NodeId, ObjectRules, REJECT_ALL};
use crate::nearest::MAX_COMPARED;
use crate::repair::Issue;

/// The steps to charge for comparing an unknown name with a known one.
const COMPARISON: u64 = 20;

impl<'v> Evaluation<'v> {
    pub(super) fn object(
        &mut self,
        rules: &ObjectRules,
        members: &Map<String, Value>,
        mut evaluated: Option<&mut BitSet>,
    ) -> EvalResult {
        let mut is_valid = self.count(members.len() as u64, rules.min, rules.max, "property", "in size");
        for name in &rules.required {
            self.charge(1)?;
            if !members.contains_key(&**name) {
                is_valid = self.fail(|| Issue::for_member(name, "is required"));
            }
            if !is_valid && self.fails_fast() {
                return Ok(false);
            }
        }
        for (name, others) in &rules.dependent_required {
            self.charge(1)?;
            if members.contains_key(&**name) {
                for other in others {
                    self.charge(1)?;
                    if !members.contains_key(&**other) {
                        is_valid =
                            self.fail(|| Issue::for_member(other, format!("is required beside `{name}`")));
                    }
                }
            }
        }
        if (!is_valid && self.fails_fast()) || !rules.visits_members() {
            return Ok(is_valid);
        }
        for (at, (name, member)) in members.iter().enumerate() {
            let (is_evaluated, is_member_valid) = self.member(rules, name, member)?;
            is_valid &= is_member_valid;
            if !is_valid && self.fails_fast() {
                return Ok(false);
            }
            if is_evaluated && let Some(evaluated) = evaluated.as_deref_mut() {
                evaluated.set(at);
            }
        }
        Ok(is_valid)
    }

    /// Returns whether a member was evaluated, and whether it is valid.
    fn member(
        &mut self,
        rules: &ObjectRules,
        name: &str,
        member: &Value,
    ) -> Result<(bool, bool), OverBudget> {
        self.charge(1 + name.len() as u64 / 64)?;
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
            if !is_valid && self.fails_fast() {
                return Ok((true, false));
            }
            // With an unchecked pattern it is unknown whether the member is additional, so it counts as evaluated.
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
            if !self.without_issues(|evaluation| evaluation.eval(names, &text, None))? {
                is_valid = self.invalid_name(name);
            }
        }
        Ok((is_evaluated, is_valid))
    }

    fn property(&mut self, rules: &ObjectRules, name: &str, node: NodeId, member: &Value) -> EvalResult {
        if node == REJECT_ALL && !self.fails_fast() {
            let known: Vec<&str> = rules.properties.iter().map(|(name, _)| &**name).collect();
            return self.unknown_member(name, &known);
        }
        self.child(|| name.to_owned(), node, member)
    }

    /// Evaluates a member that only `unevaluatedProperties` applies to.
    pub(super) fn unevaluated_member(
        &mut self,
        node: &'v Node,
        (name, member): (&str, &Value),
        schema: NodeId,
    ) -> EvalResult {
        if schema == REJECT_ALL && !self.fails_fast() {
            let known: Vec<&str> = known_members(self.validator, node).into_iter().collect();
            return self.unknown_member(name, &known);
        }
        self.child(|| name.to_owned(), schema, member)
    }

    fn unknown_member(&mut self, name: &str, known: &[&str]) -> EvalResult {
        self.charge(COMPARISON * known.len().min(MAX_COMPARED) as u64)?;
        Ok(self.fail(|| Issue::unknown_member(name, known)))
    }
}

/// Returns the member names of a schema and of the schemas it applies in place.
fn known_members<'v>(validator: &'v Validator, node: &'v Node) -> BTreeSet<&'v str> {
    let mut names = BTreeSet::new();
    let mut pending = vec![node];
    let mut seen = HashSet::new();
    while let Some(node) = pending.pop() {
        names.extend(node.object.iter().flat_map(|rules| &rules.properties).map(|(name, _)| &**name));
        for applicator in &node.applicators {
            let nodes: &[NodeId] = match applicator {
                Applicator::Ref(node) => std::slice::from_ref(node),
                Applicator::AllOf(nodes) | Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) => nodes,
                _ => &[],
            };
            let new = nodes.iter().filter(|id| seen.len() < MAX_COMPARED && seen.insert(**id));
            pending.extend(new.map(|id| &validator.nodes[*id as usize]));
        }
    }
    names
}
