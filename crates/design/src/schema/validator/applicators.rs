//! In-place applicators: keywords that apply subschemas to the same value (references, combinations, conditions).

use serde_json::{Map, Value};

use super::bit_set::BitSet;
use super::evaluate::{EvalResult, Evaluation, MAX_ISSUES, OverBudget};
use super::messages::expected;
use super::node::{Applicator, NodeId};
use crate::repair::Issue;

/// The maximum nesting of choices that are explained by their nearest branch.
const MAX_EXPLAINED: u32 = 3;

impl Evaluation<'_> {
    pub(super) fn apply(
        &mut self,
        applicator: &Applicator,
        value: &Value,
        evaluated: Option<&mut BitSet>,
    ) -> EvalResult {
        match applicator {
            Applicator::Ref(target) => self.follow(*target, value, evaluated),
            Applicator::DynamicRef { initial, anchor } => {
                self.charge(1 + self.scope.len() as u64 / 8)?;
                let dynamic = &self.validator.dynamic;
                let outermost = self.scope.iter().find_map(|resource| dynamic.get(&(*resource, *anchor)));
                let target = outermost.copied().unwrap_or(*initial);
                self.eval(target, value, evaluated)
            }
            Applicator::AllOf(nodes) => self.all_of(nodes, value, evaluated),
            Applicator::AnyOf(nodes) => self.any_of(nodes, value, evaluated),
            Applicator::OneOf(nodes) => self.one_of(nodes, value, evaluated),
            Applicator::Not(node) => {
                if self.without_issues(|evaluation| evaluation.eval(*node, value, None))? {
                    return Ok(self.fail(|| Issue::new("", "matches a schema that it must not match")));
                }
                Ok(true)
            }
            Applicator::If { condition, then, otherwise } => {
                let mut evaluated = evaluated;
                let holds = self.without_issues(|evaluation| {
                    evaluation.branch(*condition, value, evaluated.as_deref_mut())
                })?;
                self.eval(if holds { *then } else { *otherwise }, value, evaluated)
            }
            Applicator::Dependent { name, node } => match value {
                Value::Object(members) if members.contains_key(&**name) => self.eval(*node, value, evaluated),
                _ => Ok(true),
            },
        }
    }

    fn all_of(&mut self, nodes: &[NodeId], value: &Value, mut evaluated: Option<&mut BitSet>) -> EvalResult {
        let mut is_valid = true;
        for node in nodes {
            is_valid &= self.eval(*node, value, evaluated.as_deref_mut())?;
            if !is_valid && self.fails_fast() {
                return Ok(false);
            }
        }
        Ok(is_valid)
    }

    /// Evaluates a branch that may fail. Its evaluated members count only if it is valid.
    fn branch(&mut self, node: NodeId, value: &Value, evaluated: Option<&mut BitSet>) -> EvalResult {
        let Some(evaluated) = evaluated else { return self.eval(node, value, None) };
        let mut own = evaluated.sibling();
        self.charge(own.cost())?;
        let is_valid = self.eval(node, value, Some(&mut own))?;
        if is_valid {
            evaluated.merge(&own);
        }
        Ok(is_valid)
    }

    fn any_of(&mut self, nodes: &[NodeId], value: &Value, mut evaluated: Option<&mut BitSet>) -> EvalResult {
        let mut is_valid = false;
        for node in nodes {
            is_valid |=
                self.without_issues(|evaluation| evaluation.branch(*node, value, evaluated.as_deref_mut()))?;
            if is_valid && evaluated.is_none() {
                return Ok(true);
            }
        }
        if !is_valid {
            self.explain_nearest(nodes, value)?;
        }
        Ok(is_valid)
    }

    fn one_of(&mut self, nodes: &[NodeId], value: &Value, mut evaluated: Option<&mut BitSet>) -> EvalResult {
        let mut valid = 0;
        for node in nodes {
            if self.without_issues(|evaluation| evaluation.branch(*node, value, evaluated.as_deref_mut()))? {
                valid += 1;
            }
            if valid > 1 && self.fails_fast() {
                return Ok(false);
            }
        }
        match valid {
            0 => self.explain_nearest(nodes, value)?,
            1 => return Ok(true),
            more => {
                _ = self
                    .fail(|| expected("valid under exactly one of the schemas", format!("matches {more}")))
            }
        }
        Ok(false)
    }

    /// Returns the branch that a tagged object selects: the only one whose tags match.
    fn tagged<'n>(&self, nodes: &'n [NodeId], value: &Value) -> Option<&'n NodeId> {
        let Value::Object(members) = value else { return None };
        let mut tagged = nodes.iter().filter(|node| self.has_tags(**node, members));
        tagged.next().filter(|_| tagged.next().is_none())
    }

    /// Returns whether an object has the constants that a branch requires, or its only member.
    fn has_tags(&self, branch: NodeId, members: &Map<String, Value>) -> bool {
        let nodes = &self.validator.nodes;
        let mut node = &nodes[branch as usize];
        if let (None, [Applicator::Ref(target)]) = (&node.object, &node.applicators[..]) {
            node = &nodes[*target as usize];
        }
        let Some(rules) = &node.object else { return false };
        let mut is_tagged = false;
        for name in &rules.required {
            let values = rules.property(name).and_then(|node| nodes[node as usize].values.as_deref());
            if let Some([tag]) = values {
                is_tagged = true;
                if members.get(&**name) != Some(tag) {
                    return false;
                }
            }
        }
        let is_only = matches!((&rules.required[..], &rules.properties[..]), ([name], [_]) if members.contains_key(&**name));
        is_tagged || is_only
    }

    /// Reports the issues of the intended branch: the one with a matching tag, else the one with the fewest issues.
    fn explain_nearest(&mut self, nodes: &[NodeId], value: &Value) -> Result<(), OverBudget> {
        if self.fails_fast() {
            return Ok(());
        }
        if self.choices >= MAX_EXPLAINED || nodes.is_empty() {
            self.fail(|| Issue::new("", "does not match any of the schemas"));
            return Ok(());
        }
        self.charge(nodes.len() as u64)?;
        let nodes = self.tagged(nodes, value).map_or(nodes, std::slice::from_ref);
        self.choices += 1;
        let own = self.issues.take();
        let mut nearest: Option<Vec<Issue>> = None;
        let mut types: Vec<String> = Vec::new();
        for node in nodes {
            self.issues = Some(Vec::new());
            let outcome = self.eval(*node, value, None);
            let issues = self.issues.take().unwrap_or_default();
            if let Err(OverBudget) = outcome {
                self.issues = own;
                return Err(OverBudget);
            }
            if let [issue] = &issues[..]
                && is_wrong_type(&issues, &self.pointer)
                && let Some(text) = &issue.expected
                && !types.contains(text)
            {
                types.push(text.clone());
            }
            let rank = |issues: &[Issue]| (is_wrong_type(issues, &self.pointer), issues.len());
            if !issues.is_empty() && nearest.as_ref().is_none_or(|found| rank(&issues) < rank(found)) {
                nearest = Some(issues);
            }
        }
        self.choices -= 1;
        self.issues = own;
        let mut nearest = nearest.unwrap_or_default();
        if is_wrong_type(&nearest, &self.pointer) && types.len() > 1 {
            nearest[0].expected = Some(types.join(" or "));
        }
        if let Some(issues) = &mut self.issues {
            issues.extend(nearest);
            issues.truncate(MAX_ISSUES);
        }
        Ok(())
    }
}

/// Returns whether the only issue is the type of the value itself. Issues within a branch of the right type are more
/// specific.
fn is_wrong_type(issues: &[Issue], pointer: &str) -> bool {
    matches!(issues, [issue] if issue.pointer == pointer && issue.message.starts_with("got "))
}
