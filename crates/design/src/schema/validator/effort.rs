//! How much work a reader without memory has with a value: one that tries every branch of every choice, as a recursive
//! untagged enum of `serde` does.
//!
//! Counted without doing the work: what lies below a reference is counted once for each value, however often it is
//! reached.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::compile::Validator;
use super::node::{Applied, Node, NodeId};
use super::run::OverBudget;

/// Pairs of schema and value that are looked at.
const MAX_PAIRS: u64 = 200_000;
/// Levels of references and values.
const MAX_DEPTH: u32 = 320;

impl Validator {
    /// Whether a choice (`anyOf`, `oneOf`) can occur within itself, so that trying every branch can be exponential.
    pub fn has_recursive_choice(&self) -> bool {
        let is_choice = |node: &Node| {
            let wide = |applied: &Applied| matches!(applied, Applied::AnyOf(nodes) | Applied::OneOf(nodes) if nodes.len() > 1);
            node.applied.iter().any(wide)
        };
        let reaches_itself = |start: NodeId| {
            let mut seen = HashSet::new();
            let mut left = self.nodes[start as usize].children();
            while let Some(id) = left.pop() {
                if id == start {
                    return true;
                }
                if seen.insert(id) {
                    left.extend(self.nodes[id as usize].children());
                }
            }
            false
        };
        let choices = self.nodes.iter().enumerate().filter(|(_, node)| is_choice(node));
        choices.map(|(id, _)| id as NodeId).any(reaches_itself)
    }

    /// The visits that trying every branch of every choice takes.
    ///
    /// # Errors
    /// When even counting them is too much work.
    pub fn naive_visits(&self, value: &Value) -> Result<u64, OverBudget> {
        let mut count = Count { validator: self, pairs: 0, depth: 0, known: HashMap::new() };
        count.visits(self.root, value)
    }
}

impl Node {
    fn children(&self) -> Vec<NodeId> {
        let mut found = Vec::new();
        for applied in &self.applied {
            match applied {
                Applied::Ref(node) | Applied::Not(node) | Applied::Dependent { node, .. } => {
                    found.push(*node)
                }
                Applied::DynamicRef { initial, .. } => found.push(*initial),
                Applied::AllOf(nodes) | Applied::AnyOf(nodes) | Applied::OneOf(nodes) => found.extend(nodes),
                Applied::If { condition, then, otherwise } => found.extend([condition, then, otherwise]),
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

struct Count<'v> {
    validator: &'v Validator,
    pairs: u64,
    depth: u32,
    known: HashMap<(NodeId, *const Value), u64>,
}

impl Count<'_> {
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
        for applied in &node.applied {
            let nodes: &[NodeId] = match applied {
                Applied::Ref(node) | Applied::DynamicRef { initial: node, .. } => std::slice::from_ref(node),
                Applied::AllOf(nodes) | Applied::AnyOf(nodes) | Applied::OneOf(nodes) => nodes,
                // No type of Rust is read by these.
                Applied::Not(_) | Applied::If { .. } | Applied::Dependent { .. } => &[],
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
