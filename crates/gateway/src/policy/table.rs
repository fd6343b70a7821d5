//! The decision table: finds the rules that may apply to a target by server, kind and name.
//!
//! Invariant: a rule that matches a target is among its candidates. Rules with wildcards are candidates for every name
//! of their kind.

use std::collections::HashMap;

use super::rule::PolicyRule;
use super::selector::NameCondition;
use super::target::{Target, TargetKind};

/// Rules by server and kind.
#[derive(Debug, Default)]
pub(super) struct DecisionTable {
    servers: HashMap<Box<str>, KindTables>,
    /// Rules of every server, and of servers by wildcard.
    any_server: KindTables,
}

#[derive(Debug, Default)]
struct KindTables([NameTable; TargetKind::ALL.len()]);

/// Rules of one kind.
#[derive(Debug, Default)]
struct NameTable {
    exact: HashMap<Box<str>, Vec<usize>>,
    /// Rules of every name, and of names by wildcard.
    any_name: Vec<usize>,
}

impl DecisionTable {
    pub(super) fn new(rules: &[PolicyRule]) -> Self {
        let mut table = Self::default();
        for rule in rules {
            let literals = rule.selector.server.as_ref().and_then(|servers| servers.literals());
            match literals {
                Some(names) => {
                    for name in names {
                        table.servers.entry(name.into()).or_default().insert(rule);
                    }
                }
                None => table.any_server.insert(rule),
            }
        }
        table
    }

    /// Returns the indices of the rules that may match, in ascending order.
    pub(super) fn candidates(&self, target: &Target<'_>) -> Vec<usize> {
        let tables = [self.servers.get(target.server), Some(&self.any_server)];
        let mut found = Vec::new();
        for table in tables.into_iter().flatten() {
            let names = &table.0[target.kind as usize];
            found.extend_from_slice(&names.any_name);
            if let Some(exact) = names.exact.get(target.name) {
                found.extend_from_slice(exact);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl KindTables {
    fn insert(&mut self, rule: &PolicyRule) {
        for kind in TargetKind::ALL.into_iter().filter(|kind| rule.selector.includes_kind(*kind)) {
            let names = &mut self.0[kind as usize];
            let literals = match &rule.selector.name {
                NameCondition::Tool(set) | NameCondition::Prompt(set) => set.literals(),
                NameCondition::Any | NameCondition::Uri(_) => None,
            };
            match literals {
                Some(literals) => {
                    for name in literals {
                        names.exact.entry(name.into()).or_default().push(rule.index);
                    }
                }
                None => names.any_name.push(rule.index),
            }
        }
    }
}
