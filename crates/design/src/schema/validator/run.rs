//! Evaluates one value: the budget, the depth, and where issues go.
//!
//! A value is first evaluated without collecting anything, which allocates nothing and stops at the first failure; most
//! values are valid. Only an invalid one is evaluated again, with its own budget, to find out what is wrong with it.

use std::collections::HashMap;

use serde_json::Value;

use super::bits::Bits;
use super::compile::Validator;
use super::node::{Node, NodeId, ResourceId, Unevaluated};
use super::pattern::Caches;
use crate::repair::Issue;

/// Nested evaluations of one value: in-place references, and levels of the value. Keeps the stack small.
const MAX_DEPTH: u32 = 320;
/// Issues that are reported; the rest is found when those are fixed.
pub(super) const MAX_ISSUES: usize = 100;
/// After this many steps the results of references are remembered: whatever takes longer is likely to repeat itself.
const MEMO_AFTER: u64 = 20_000;
/// Results of references that are remembered.
const MAX_MEMO: usize = 65_536;

/// What validation found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ValidationOutcome {
    /// The value is valid.
    Valid,
    /// The value is invalid: at least one issue, and at most 100.
    Invalid(Vec<Issue>),
    /// The schema asks for more work on this value than the budget allows. The value is not validated.
    OverBudget,
}

/// The schema asks for more work on this value than the budget allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is too complex to validate")]
pub struct OverBudget;

/// Whether a value is valid, unless the budget ran out.
pub(super) type Checked = Result<bool, OverBudget>;

/// One evaluation of a value.
pub(super) struct Run<'v> {
    pub(super) validator: &'v Validator,
    left: u64,
    depth: u32,
    /// Resources that were entered, outermost first; only kept for schemas with dynamic references.
    pub(super) scope: Vec<ResourceId>,
    /// Where the value is, as a JSON pointer; only kept while issues are collected.
    pub(super) pointer: String,
    /// `None` stops at the first failure.
    pub(super) issues: Option<Vec<Issue>>,
    /// Choices within choices that are being explained.
    pub(super) choices: u32,
    memo: HashMap<(NodeId, *const Value), bool>,
    pub(super) caches: Caches,
}

impl Validator {
    /// Validates a value and reports what is wrong with it.
    pub fn validate(&self, value: &Value) -> ValidationOutcome {
        match self.is_valid(value) {
            Ok(true) => ValidationOutcome::Valid,
            Ok(false) => ValidationOutcome::Invalid(self.explain(value)),
            Err(OverBudget) => ValidationOutcome::OverBudget,
        }
    }

    /// Whether a value is valid. Cheaper than [`validate`](Self::validate) for invalid values.
    ///
    /// # Errors
    /// When the budget is exceeded.
    pub fn is_valid(&self, value: &Value) -> Result<bool, OverBudget> {
        Run::new(self, None).eval(self.root, value, None)
    }

    /// The steps that evaluating a value takes, for tests of the budget.
    #[doc(hidden)]
    pub fn steps(&self, value: &Value) -> u64 {
        let mut run = Run::new(self, None);
        let _ = run.eval(self.root, value, None);
        run.used()
    }

    fn explain(&self, value: &Value) -> Vec<Issue> {
        let mut run = Run::new(self, Some(Vec::new()));
        // A budget that runs out here only cuts the list short.
        let _ = run.eval(self.root, value, None);
        let mut issues = run.issues.unwrap_or_default();
        if issues.is_empty() {
            issues.push(Issue::new("", "does not match the schema"));
        }
        issues
    }
}

impl<'v> Run<'v> {
    fn new(validator: &'v Validator, issues: Option<Vec<Issue>>) -> Self {
        let scope = if validator.is_dynamic { vec![0] } else { Vec::new() };
        Self {
            validator,
            left: validator.max_steps,
            depth: 0,
            scope,
            pointer: String::new(),
            issues,
            choices: 0,
            memo: HashMap::new(),
            caches: Caches::default(),
        }
    }

    fn used(&self) -> u64 {
        self.validator.max_steps - self.left
    }

    /// Charges the budget.
    pub(super) fn take(&mut self, steps: u64) -> Result<(), OverBudget> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(OverBudget)
            }
        }
    }

    /// One level deeper. A reference that only leads back to itself ends here too.
    pub(super) fn enter(&mut self) -> Result<(), OverBudget> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(OverBudget) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Whether the first failure ends the evaluation.
    pub(super) fn stops_early(&self) -> bool {
        self.issues.is_none()
    }

    /// Reports a failure at the current place, if issues are collected.
    pub(super) fn fail(&mut self, issue: impl FnOnce() -> Issue) -> bool {
        if let Some(issues) = &mut self.issues
            && issues.len() < MAX_ISSUES
        {
            let mut issue = issue();
            issue.pointer.insert_str(0, &self.pointer);
            issues.push(issue);
        }
        false
    }

    /// Evaluates without reporting.
    pub(super) fn quietly<T>(&mut self, eval: impl FnOnce(&mut Self) -> T) -> T {
        let issues = self.issues.take();
        let out = eval(self);
        self.issues = issues;
        out
    }

    /// Evaluates a member or an item.
    pub(super) fn child(&mut self, part: impl FnOnce() -> String, node: NodeId, value: &Value) -> Checked {
        if self.stops_early() {
            return self.eval(node, value, None);
        }
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&part().replace('~', "~0").replace('/', "~1"));
        let out = self.eval(node, value, None);
        self.pointer.truncate(length);
        out
    }

    /// Evaluates a value; `marks` collects its members or items that were evaluated.
    pub(super) fn eval(&mut self, id: NodeId, value: &Value, marks: Option<&mut Bits>) -> Checked {
        let node = &self.validator.nodes[id as usize];
        self.take(1)?;
        if node.never {
            return Ok(self.fail(|| Issue::new("", "is not allowed")));
        }
        if !node.types.allows(value) {
            return Ok(self.fail(|| super::wording::wrong_type(node.types, value)));
        }
        if node.is_leaf {
            return Ok(true);
        }
        self.enter()?;
        let is_entered = self.validator.is_dynamic && self.scope.last() != Some(&node.resource);
        if is_entered {
            self.scope.push(node.resource);
        }
        let out = match &node.unevaluated {
            Some(rest) if value.is_object() || value.is_array() => self.unevaluated(node, rest, value, marks),
            _ => self.rules(node, value, marks),
        };
        if is_entered {
            self.scope.pop();
        }
        self.leave();
        out
    }

    fn rules(&mut self, node: &'v Node, value: &Value, mut marks: Option<&mut Bits>) -> Checked {
        if let Some(values) = &node.values
            && !self.is_one_of(values, value)?
        {
            return Ok(self.fail(|| super::wording::not_one_of(values, value)));
        }
        let mut is_valid = match value {
            Value::Object(members) => match &node.object {
                Some(rules) => self.object(rules, members, marks.as_deref_mut())?,
                None => true,
            },
            Value::Array(items) => match &node.array {
                Some(rules) => self.array(rules, items, marks.as_deref_mut())?,
                None => true,
            },
            Value::String(text) => match &node.text {
                Some(rules) => self.text(rules, text)?,
                None => true,
            },
            Value::Number(number) => node.number.as_ref().is_none_or(|rules| self.number(rules, number)),
            Value::Null | Value::Bool(_) => true,
        };
        for applied in &node.applied {
            if !is_valid && self.stops_early() {
                return Ok(false);
            }
            is_valid &= self.apply(applied, value, marks.as_deref_mut())?;
        }
        Ok(is_valid)
    }

    fn is_one_of(&mut self, values: &[Value], value: &Value) -> Checked {
        for known in values {
            if self.equal(known, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A node with `unevaluatedProperties` or `unevaluatedItems`, which see what the other keywords left.
    fn unevaluated(
        &mut self,
        node: &'v Node,
        rest: &Unevaluated,
        value: &Value,
        outer: Option<&mut Bits>,
    ) -> Checked {
        let (length, schema) = match value {
            Value::Object(members) => (members.len(), rest.properties),
            Value::Array(items) => (items.len(), rest.items),
            _ => (0, None),
        };
        let Some(schema) = schema else { return self.rules(node, value, outer) };
        let mut marks = Bits::new(length);
        self.take(marks.cost())?;
        if !self.rules(node, value, Some(&mut marks))? {
            return Ok(false);
        }
        let mut is_valid = true;
        match value {
            Value::Object(members) => {
                for (at, (name, member)) in members.iter().enumerate() {
                    self.take(1)?;
                    if !marks.has(at) {
                        is_valid &= self.unevaluated_member(node, (name, member), schema)?;
                        if !is_valid && self.stops_early() {
                            return Ok(false);
                        }
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.take(1)?;
                    if !marks.has(at) {
                        is_valid &= self.child(|| at.to_string(), schema, item)?;
                        if !is_valid && self.stops_early() {
                            return Ok(false);
                        }
                    }
                }
            }
            _ => {}
        }
        if let Some(outer) = outer {
            outer.set_all();
        }
        Ok(is_valid)
    }

    /// Evaluates the target of a reference. What was found before is not looked for again once evaluation takes long:
    /// that makes choices within recursive choices polynomial.
    pub(super) fn follow(&mut self, target: NodeId, value: &Value, marks: Option<&mut Bits>) -> Checked {
        let is_kept = marks.is_none()
            && self.used() > MEMO_AFTER
            && self.stops_early()
            && !self.validator.is_dynamic
            && (value.is_object() || value.is_array());
        if !is_kept {
            return self.eval(target, value, marks);
        }
        let key = (target, std::ptr::from_ref(value));
        if let Some(known) = self.memo.get(&key) {
            let known = *known;
            self.take(2)?;
            return Ok(known);
        }
        let out = self.eval(target, value, None)?;
        if self.memo.len() < MAX_MEMO {
            self.memo.insert(key, out);
        }
        Ok(out)
    }
}
