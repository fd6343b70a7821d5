//! A compiled rule.

use std::fmt;
use std::sync::Arc;

use switchboard_protocol::Raw;

use super::condition::ArgumentCondition;
use super::decision::RuleRef;
use super::selector::Selector;
use super::subject::Subject;

/// The effect of a rule, or the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Calls are allowed.
    Allow,
    /// Calls are denied.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        })
    }
}

/// A rule about the calls that its selector and conditions match.
#[derive(Debug, PartialEq)]
pub(super) struct PolicyRule {
    pub(super) index: usize,
    pub(super) name: Option<Arc<str>>,
    pub(super) line: usize,
    pub(super) effect: Effect,
    pub(super) selector: Selector,
    /// Of an allow rule: the scopes that the caller needs. Of a deny rule: the scopes that lift it.
    pub(super) scopes: Vec<String>,
    pub(super) conditions: Vec<ArgumentCondition>,
    /// The rule as it is written, as JSON.
    pub(super) source: String,
}

/// A rule of a policy, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleStatus {
    /// Its position and name.
    pub rule: RuleRef,
    /// Its effect.
    pub effect: Effect,
    /// The rule as JSON.
    pub source_json: String,
    /// Whether it has decided about a request of a gateway since the policy was set.
    pub has_decided: bool,
}

impl PolicyRule {
    pub(super) fn reference(&self) -> RuleRef {
        RuleRef { index: self.index, name: self.name.clone() }
    }

    /// Returns whether all conditions on arguments hold.
    pub(super) fn accepts_arguments(&self, arguments: Option<&Raw>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(self.effect, arguments))
    }

    /// Returns the scopes of the rule that the caller lacks.
    pub(super) fn missing_scopes(&self, subject: &Subject<'_>) -> Vec<String> {
        self.scopes.iter().filter(|scope| !subject.has_scope(scope)).cloned().collect()
    }
}
