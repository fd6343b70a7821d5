//! Estimates the cost of deserializing a value: counts the visits of a deserializer that tries every branch of every
//! choice without memoization, as a recursive untagged enum of `serde` does. Services reject arguments that cost too much.
//!
//! The count is memoized for each pair of schema and value, so counting is cheap even if the visits are exponential.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::compile::Validator;
use super::evaluate::OverBudget;
use super::node::{Applicator, Node, NodeId};

/// The maximum number of pairs of schema and value.
const MAX_PAIRS: u64 = 200_000;
/// The maximum nesting of references and values.
const MAX_DEPTH: u32 = 320;

impl Validator {
    /// Returns whether a choice (`anyOf`, `oneOf`) can contain itself, so that trying every branch can be exponential.
    pub fn has_recursive_choice(&self) -> bool {
        let is_choice = |node: &Node| {
            let wide = |applicator: &Applicator| matches!(applicator, Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) if nodes.len() > 1);
            node.applicators.iter().any(wide)
        };
        let reaches_itself = |start: NodeId| {
            let mut seen = HashSet::new();
            let mut pending = self.nodes[start as usize].children();
            while let Some(id) = pending.pop() {
                if id == start {
                    return true;
                }
                if seen.insert(id) {
                    pending.extend(self.nodes[id as usize].children());
                }
            }
            false
        };
        let choices = self.nodes.iter().enumerate().filter(|(_, node)| is_choice(node));
        choices.map(|(id, _)| id as NodeId).any(reaches_itself)
    }

    /// Returns the number of visits when every branch of every choice is tried.
    ///
    /// # Errors
    /// When counting itself exceeds its limits.
    pub fn naive_visits(&self, value: &Value) -> Result<u64, OverBudget> {
        let mut count = VisitCounter { validator: self, pairs: 0, depth: 0, known: HashMap::new() };
        count.visits(self.root, value)
    }
}

impl Node {
    fn children(&self) -> Vec<NodeId> {
        let mut found = Vec::new();
        for applicator in &self.applicators {
            match applicator {
                Applicator::Ref(node) | Applicator::Not(node) | Applicator::Dependent { node, .. } => {
                    found.push(*node)
                }
                Applicator::DynamicRef { initial, .. } => found.push(*initial),
                Applicator::AllOf(nodes) | Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) => {
                    found.extend(nodes)
                }
                Applicator::If { condition, then, otherwise } => found.extend([condition, then, otherwise]),
            }
        }
        if let Some(object) = &self.object {
            found.extend(object.properties.iter().map(|(_, node)| *node));
            found.extend(object.patterns.iter().map(|(_, node)| *node));
            found.extend(object.additional);
        }
        if let Some(array) = &self.array {
            found.extend(&array.prefix);
            found.extend(array.items);
            found.extend(array.contains.as_ref().map(|contains| contains.node));
        }
        found
    }
}

struct VisitCounter<'v> {
    validator: &'v Validator,
    pairs: u64,
    depth: u32,
    known: HashMap<(NodeId, *const Value), u64>,
}

impl VisitCounter<'_> {
    fn visits(&mut self, id: NodeId, value: &Value) -> Result<u64, OverBudget> {
        let node = &self.validator.nodes[id as usize];
        if node.is_leaf || !node.types.allows(value) {
            return Ok(1);
        }
        let key = (id, std::ptr::from_ref(value));
        let is_container = value.is_object() || value.is_array();
        if is_container && let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        self.pairs += 1;
        self.depth += 1;
        if self.pairs > MAX_PAIRS || self.depth > MAX_DEPTH {
            return Err(OverBudget);
        }
        let mut sum: u64 = 1;
        for applicator in &node.applicators {
            let nodes: &[NodeId] = match applicator {
                Applicator::Ref(node) | Applicator::DynamicRef { initial: node, .. } => {
                    std::slice::from_ref(node)
                }
                Applicator::AllOf(nodes) | Applicator::AnyOf(nodes) | Applicator::OneOf(nodes) => nodes,
                // Deserializers of Rust types do not evaluate these.
                Applicator::Not(_) | Applicator::If { .. } | Applicator::Dependent { .. } => &[],
            };
            for node in nodes {
                sum = sum.saturating_add(self.visits(*node, value)?);
            }
        }
        match value {
            Value::Object(members) => {
                if let Some(rules) = &node.object {
                    for (name, member) in members {
                        if let Some(node) = rules.property(name).or(rules.additional) {
                            sum = sum.saturating_add(self.visits(node, member)?);
                        }
                    }
                }
            }
            Value::Array(items) => {
                if let Some(rules) = &node.array {
                    for (at, item) in items.iter().enumerate() {
                        if let Some(node) = rules.prefix.get(at).copied().or(rules.items) {
                            sum = sum.saturating_add(self.visits(node, item)?);
                        }
                    }
                }
            }
            _ => {}
        }
        self.depth -= 1;
        if is_container {
            self.known.insert(key, sum);
        }
        Ok(sum)
    }
}
