//! Decisions about (caller, tool) that differ between two policies.

use std::collections::BTreeSet;

use serde::Serialize;
use switchboard::gateway::policy::{Decision, Policy, Target};

use crate::plan::known_callers::KnownCaller;
use crate::plan::plan_side::PlanSide;

/// A decision that would be another one.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DecisionChange {
    pub(crate) caller: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) before: DecisionKind,
    pub(crate) after: DecisionKind,
    /// The rule that decides then.
    pub(crate) why: String,
}

/// What a policy decides about a tool, whatever its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionKind {
    Allowed,
    /// Allowed with some arguments.
    Conditional,
    NeedsScope,
    Denied,
}

impl DecisionKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Conditional => "allowed with some arguments",
            Self::NeedsScope => "needs a scope",
            Self::Denied => "denied",
        }
    }
}

/// The most decisions that are compared.
const MAX_DECISIONS: usize = 1_000_000;

/// Returns the decisions about tools of both sides that differ, and whether there were too many to compare all of them.
pub(crate) fn changed_decisions(before: &PlanSide, after: &PlanSide) -> (Vec<DecisionChange>, bool) {
    let callers: BTreeSet<&KnownCaller> = before.callers.union(&after.callers).collect();
    let tools = after.tools.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server, tool)));
    // A tool that appears or vanishes is reported as such.
    let is_on_both_sides = |(server, tool): &(&String, &String)| {
        before.tools.get(*server).is_some_and(|tools| tools.contains(*tool))
    };
    let tools: Vec<(&String, &String)> = tools.filter(is_on_both_sides).collect();
    let pairs = callers.iter().flat_map(|caller| tools.iter().map(move |tool| (*caller, *tool)));
    let mut changes = Vec::new();
    for (caller, (server, tool)) in pairs.take(MAX_DECISIONS) {
        let target = Target::tool(server, tool);
        let (was, _) = decide(&before.policy, caller, &target);
        let (is, why) = decide(&after.policy, caller, &target);
        if was != is {
            changes.push(DecisionChange {
                caller: caller.label.clone(),
                server: server.clone(),
                tool: tool.clone(),
                before: was,
                after: is,
                why,
            });
        }
    }
    (changes, callers.len().saturating_mul(tools.len()) > MAX_DECISIONS)
}

fn decide(policy: &Policy, caller: &KnownCaller, target: &Target<'_>) -> (DecisionKind, String) {
    let subject = caller.subject();
    let decision = policy.decide(&subject, target, None);
    let kind = match &decision {
        Decision::Allow { .. } => DecisionKind::Allowed,
        Decision::MissingScope { .. } => DecisionKind::NeedsScope,
        _ if policy.is_visible(&subject, target) => DecisionKind::Conditional,
        _ => DecisionKind::Denied,
    };
    (kind, decision.to_string())
}
