//! The explanation of a decision, for operators: never for the caller.

use std::fmt;

use super::decision::{Decision, RuleRef};
use super::rule::{Effect, PolicyRule};
use super::subject::Subject;

/// What a policy says about a target, whatever the arguments of a call are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyExplanation {
    /// Decides whether lists show the target: not if it is [`Decision::Deny`].
    pub listing: Decision,
    /// The rules that match caller and target, in their order.
    pub rules: Vec<MatchingRule>,
}

/// A rule that matches caller and target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchingRule {
    /// The rule.
    pub rule: RuleRef,
    /// Its effect.
    pub effect: Effect,
    /// Whether it applies to some arguments only.
    pub depends_on_arguments: bool,
    /// The scopes of the rule that the caller lacks: an allow rule needs them, a deny rule is lifted by them.
    pub missing_scopes: Vec<String>,
}

impl PolicyExplanation {
    /// Returns whether lists show the target.
    pub fn is_listed(&self) -> bool {
        !matches!(self.listing, Decision::Deny { .. })
    }
}

impl MatchingRule {
    pub(super) fn new(rule: &PolicyRule, subject: &Subject<'_>) -> Self {
        Self {
            rule: rule.reference(),
            effect: rule.effect,
            depends_on_arguments: !rule.conditions.is_empty(),
            missing_scopes: rule.missing_scopes(subject),
        }
    }
}

impl fmt::Display for MatchingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.effect {
            Effect::Allow => "allows",
            Effect::Deny => "denies",
        };
        write!(f, "{} {verb} it", self.rule)?;
        if self.depends_on_arguments {
            f.write_str(" for some arguments")?;
        }
        if !self.missing_scopes.is_empty() {
            let word = if self.effect == Effect::Allow { "with" } else { "without" };
            write!(f, ", {word} the scope {}", self.missing_scopes.join(" "))?;
        }
        Ok(())
    }
}
