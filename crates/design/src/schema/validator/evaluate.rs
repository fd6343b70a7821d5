//! Evaluates one value: step budget, depth limit and collection of issues.
//!
//! The first evaluation collects no issues, allocates nothing and stops at the first failure, because most values are
//! valid. An invalid value is evaluated again, with a new budget, to collect the issues.

use std::collections::HashMap;

use serde_json::Value;

use super::bit_set::BitSet;
use super::compile::Validator;
use super::node::{Node, NodeId, ResourceId, UnevaluatedRules};
use super::pattern::SearchCaches;
use crate::repair::Issue;

/// The maximum nesting of evaluations: references and levels of the value. Bounds the stack.
const MAX_DEPTH: u32 = 320;
/// The maximum number of reported issues.
pub(super) const MAX_ISSUES: usize = 100;
/// The number of steps after which the results of references are memoized: longer evaluations are likely repetitive.
const MEMO_AFTER: u64 = 20_000;
/// The maximum number of memoized results.
const MAX_MEMO_ENTRIES: usize = 65_536;

/// The outcome of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ValidationOutcome {
    /// The value is valid.
    Valid,
    /// The value is invalid, with 1 to 100 issues.
    Invalid(Vec<Issue>),
    /// The evaluation exceeded the step budget. The value is not validated.
    OverBudget,
}

/// The error of an evaluation that exceeded the step budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is too complex to validate")]
pub struct OverBudget;

/// Whether a value is valid, unless the budget is exhausted.
pub(super) type EvalResult = Result<bool, OverBudget>;

/// The state of one evaluation.
pub(super) struct Evaluation<'v> {
    pub(super) validator: &'v Validator,
    remaining_steps: u64,
    depth: u32,
    /// The entered resources, outermost first; only for schemas with dynamic references.
    pub(super) scope: Vec<ResourceId>,
    /// The JSON pointer of the current value; only while issues are collected.
    pub(super) pointer: String,
    /// The collected issues. `None` stops at the first failure.
    pub(super) issues: Option<Vec<Issue>>,
    /// The nesting of choices being explained.
    pub(super) choices: u32,
    memo: HashMap<(NodeId, *const Value), bool>,
    pub(super) caches: SearchCaches,
}

impl Validator {
    /// Validates a value and returns its issues.
    pub fn validate(&self, value: &Value) -> ValidationOutcome {
        match self.is_valid(value) {
            Ok(true) => ValidationOutcome::Valid,
            Ok(false) => ValidationOutcome::Invalid(self.explain(value)),
            Err(OverBudget) => ValidationOutcome::OverBudget,
        }
    }

    /// Returns whether a value is valid. Cheaper than [`validate`](Self::validate) for invalid values.
    ///
    /// # Errors
    /// When the budget is exceeded.
    pub fn is_valid(&self, value: &Value) -> Result<bool, OverBudget> {
        Evaluation::new(self, None).eval(self.root, value, None)
    }

    /// Returns the steps of an evaluation, for tests of the budget.
    #[doc(hidden)]
    pub fn steps(&self, value: &Value) -> u64 {
        let mut evaluation = Evaluation::new(self, None);
        let _ = evaluation.eval(self.root, value, None);
        evaluation.used()
    }

    fn explain(&self, value: &Value) -> Vec<Issue> {
        let mut evaluation = Evaluation::new(self, Some(Vec::new()));
        // An exhausted budget only truncates the list.
        let _ = evaluation.eval(self.root, value, None);
        let mut issues = evaluation.issues.unwrap_or_default();
        if issues.is_empty() {
            issues.push(Issue::new("", "does not match the schema"));
        }
        issues
    }
}

impl<'v> Evaluation<'v> {
    fn new(validator: &'v Validator, issues: Option<Vec<Issue>>) -> Self {
        let scope = if validator.is_dynamic { vec![0] } else { Vec::new() };
        Self {
            validator,
            remaining_steps: validator.max_steps,
            depth: 0,
            scope,
            pointer: String::new(),
            issues,
            choices: 0,
            memo: HashMap::new(),
            caches: SearchCaches::default(),
        }
    }

    fn used(&self) -> u64 {
        self.validator.max_steps - self.remaining_steps
    }

    /// Charges steps to the budget.
    pub(super) fn charge(&mut self, steps: u64) -> Result<(), OverBudget> {
        match self.remaining_steps.checked_sub(steps) {
            Some(remaining) => {
                self.remaining_steps = remaining;
                Ok(())
            }
            None => {
                self.remaining_steps = 0;
                Err(OverBudget)
            }
        }
    }

    /// Enters a nesting level. The limit also ends references to themselves.
    pub(super) fn enter(&mut self) -> Result<(), OverBudget> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(OverBudget) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns whether the first failure ends the evaluation.
    pub(super) fn fails_fast(&self) -> bool {
        self.issues.is_none()
    }

    /// Reports an issue at the current pointer, if issues are collected. Returns `false`.
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

    /// Evaluates without collecting issues.
    pub(super) fn without_issues<T>(&mut self, eval: impl FnOnce(&mut Self) -> T) -> T {
        let issues = self.issues.take();
        let out = eval(self);
        self.issues = issues;
        out
    }

    /// Evaluates a member or an item.
    pub(super) fn child(&mut self, part: impl FnOnce() -> String, node: NodeId, value: &Value) -> EvalResult {
        if self.fails_fast() {
            return self.eval(node, value, None);
        }
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&part().replace('~', "~0").replace('/', "~1"));
        let out = self.eval(node, value, None);
        self.pointer.truncate(length);
        out
    }

    /// Evaluates a value. `evaluated` collects the indexes of its evaluated members or items.
    pub(super) fn eval(&mut self, id: NodeId, value: &Value, evaluated: Option<&mut BitSet>) -> EvalResult {
        let node = &self.validator.nodes[id as usize];
        self.charge(1)?;
        if node.never {
            return Ok(self.fail(|| Issue::new("", "is not allowed")));
        }
        if !node.types.allows(value) {
            return Ok(self.fail(|| super::messages::wrong_type(node.types, value)));
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
            Some(rest) if value.is_object() || value.is_array() => {
                self.unevaluated(node, rest, value, evaluated)
            }
            _ => self.rules(node, value, evaluated),
        };
        if is_entered {
            self.scope.pop();
        }
        self.leave();
        out
    }

    fn rules(&mut self, node: &'v Node, value: &Value, mut evaluated: Option<&mut BitSet>) -> EvalResult {
        if let Some(values) = &node.values
            && !self.is_one_of(values, value)?
        {
            return Ok(self.fail(|| super::messages::not_one_of(values, value)));
        }
        let mut is_valid = match value {
            Value::Object(members) => match &node.object {
                Some(rules) => self.object(rules, members, evaluated.as_deref_mut())?,
                None => true,
            },
            Value::Array(items) => match &node.array {
                Some(rules) => self.array(rules, items, evaluated.as_deref_mut())?,
                None => true,
            },
            Value::String(text) => match &node.text {
                Some(rules) => self.text(rules, text)?,
                None => true,
            },
            Value::Number(number) => node.number.as_ref().is_none_or(|rules| self.number(rules, number)),
            Value::Null | Value::Bool(_) => true,
        };
        for applicator in &node.applicators {
            if !is_valid && self.fails_fast() {
                return Ok(false);
            }
            is_valid &= self.apply(applicator, value, evaluated.as_deref_mut())?;
        }
        Ok(is_valid)
    }

    fn is_one_of(&mut self, values: &[Value], value: &Value) -> EvalResult {
        for known in values {
            if self.equal(known, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates a node with `unevaluatedProperties` or `unevaluatedItems`, which apply to the members that the other keywords
    /// did not evaluate.
    fn unevaluated(
        &mut self,
        node: &'v Node,
        rest: &UnevaluatedRules,
        value: &Value,
        outer: Option<&mut BitSet>,
    ) -> EvalResult {
        let (length, schema) = match value {
            Value::Object(members) => (members.len(), rest.properties),
            Value::Array(items) => (items.len(), rest.items),
            _ => (0, None),
        };
        let Some(schema) = schema else { return self.rules(node, value, outer) };
        let mut evaluated = BitSet::new(length);
        self.charge(evaluated.cost())?;
        if !self.rules(node, value, Some(&mut evaluated))? {
            return Ok(false);
        }
        let mut is_valid = true;
        match value {
            Value::Object(members) => {
                for (at, (name, member)) in members.iter().enumerate() {
                    self.charge(1)?;
                    if !evaluated.has(at) {
                        is_valid &= self.unevaluated_member(node, (name, member), schema)?;
                        if !is_valid && self.fails_fast() {
                            return Ok(false);
                        }
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.charge(1)?;
                    if !evaluated.has(at) {
                        is_valid &= self.child(|| at.to_string(), schema, item)?;
                        if !is_valid && self.fails_fast() {
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

    /// Evaluates the target of a reference. Long evaluations memoize the results, which makes recursive choices polynomial.
    pub(super) fn follow(
        &mut self,
        target: NodeId,
        value: &Value,
        evaluated: Option<&mut BitSet>,
    ) -> EvalResult {
        let is_kept = evaluated.is_none()
            && self.used() > MEMO_AFTER
            && self.fails_fast()
            && !self.validator.is_dynamic
            && (value.is_object() || value.is_array());
        if !is_kept {
            return self.eval(target, value, evaluated);
        }
        let key = (target, std::ptr::from_ref(value));
        if let Some(known) = self.memo.get(&key) {
            let known = *known;
            self.charge(2)?;
            return Ok(known);
        }
        let out = self.eval(target, value, None)?;
        if self.memo.len() < MAX_MEMO_ENTRIES {
            self.memo.insert(key, out);
        }
        Ok(out)
    }
}
