//! Keywords that apply schemas to the same value: references, combinations and conditions.

use serde_json::{Map, Value};

use super::bits::Bits;
use super::node::{Applied, NodeId};
use super::run::{Checked, MAX_ISSUES, OverBudget, Run};
use super::wording::expected;
use crate::repair::Issue;

/// Choices within choices that are explained branch by branch.
const MAX_EXPLAINED: u32 = 3;

impl Run<'_> {
    pub(super) fn apply(&mut self, applied: &Applied, value: &Value, marks: Option<&mut Bits>) -> Checked {
        match applied {
            Applied::Ref(target) => self.follow(*target, value, marks),
            Applied::DynamicRef { initial, anchor } => {
                self.take(1 + self.scope.len() as u64 / 8)?;
                let dynamic = &self.validator.dynamic;
                let outermost = self.scope.iter().find_map(|resource| dynamic.get(&(*resource, *anchor)));
                let target = outermost.copied().unwrap_or(*initial);
                self.eval(target, value, marks)
            }
            Applied::AllOf(nodes) => self.all_of(nodes, value, marks),
            Applied::AnyOf(nodes) => self.any_of(nodes, value, marks),
            Applied::OneOf(nodes) => self.one_of(nodes, value, marks),
            Applied::Not(node) => {
                if self.quietly(|run| run.eval(*node, value, None))? {
                    return Ok(self.fail(|| Issue::new("", "matches a schema that it must not match")));
                }
                Ok(true)
            }
            Applied::If { condition, then, otherwise } => {
                let mut marks = marks;
                let holds = self.quietly(|run| run.branch(*condition, value, marks.as_deref_mut()))?;
                self.eval(if holds { *then } else { *otherwise }, value, marks)
            }
            Applied::Dependent { name, node } => match value {
                Value::Object(members) if members.contains_key(&**name) => self.eval(*node, value, marks),
                _ => Ok(true),
            },
        }
    }

    fn all_of(&mut self, nodes: &[NodeId], value: &Value, mut marks: Option<&mut Bits>) -> Checked {
        let mut is_valid = true;
        for node in nodes {
            is_valid &= self.eval(*node, value, marks.as_deref_mut())?;
            if !is_valid && self.stops_early() {
                return Ok(false);
            }
        }
        Ok(is_valid)
    }

    /// Evaluates a schema that may fail: only then its marks count.
    fn branch(&mut self, node: NodeId, value: &Value, marks: Option<&mut Bits>) -> Checked {
        let Some(marks) = marks else { return self.eval(node, value, None) };
        let mut own = marks.sibling();
        self.take(own.cost())?;
        let is_valid = self.eval(node, value, Some(&mut own))?;
        if is_valid {
            marks.merge(&own);
        }
        Ok(is_valid)
    }

    fn any_of(&mut self, nodes: &[NodeId], value: &Value, mut marks: Option<&mut Bits>) -> Checked {
        let mut is_valid = false;
        for node in nodes {
            is_valid |= self.quietly(|run| run.branch(*node, value, marks.as_deref_mut()))?;
            if is_valid && marks.is_none() {
                return Ok(true);
            }
        }
        if !is_valid {
            self.explain_nearest(nodes, value)?;
        }
        Ok(is_valid)
    }

    fn one_of(&mut self, nodes: &[NodeId], value: &Value, mut marks: Option<&mut Bits>) -> Checked {
        let mut valid = 0;
        for node in nodes {
            if self.quietly(|run| run.branch(*node, value, marks.as_deref_mut()))? {
                valid += 1;
            }
            if valid > 1 && self.stops_early() {
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

    /// The branch that a tagged object names: the only one whose tags it has.
    fn tagged<'n>(&self, nodes: &'n [NodeId], value: &Value) -> Option<&'n NodeId> {
        let Value::Object(members) = value else { return None };
        let mut tagged = nodes.iter().filter(|node| self.has_tags(**node, members));
        tagged.next().filter(|_| tagged.next().is_none())
    }

    /// Whether an object has the constants that a branch requires, or its only member.
    fn has_tags(&self, branch: NodeId, members: &Map<String, Value>) -> bool {
        let nodes = &self.validator.nodes;
        let mut node = &nodes[branch as usize];
        if let (None, [Applied::Ref(target)]) = (&node.object, &node.applied[..]) {
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

    /// Reports why the branch that is meant does not match: the one whose tag the value has, else that with the fewest
    /// issues.
    fn explain_nearest(&mut self, nodes: &[NodeId], value: &Value) -> Result<(), OverBudget> {
        if self.stops_early() {
            return Ok(());
        }
        if self.choices >= MAX_EXPLAINED || nodes.is_empty() {
            self.fail(|| Issue::new("", "does not match any of the schemas"));
            return Ok(());
        }
        self.take(nodes.len() as u64)?;
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
                && let Some(words) = &issue.expected
                && !types.contains(words)
            {
                types.push(words.clone());
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

/// Whether the value as a whole has another type, which says less than what is wrong within a branch of its type.
fn is_wrong_type(issues: &[Issue], pointer: &str) -> bool {
    matches!(issues, [issue] if issue.pointer == pointer && issue.message.starts_with("got "))
}
