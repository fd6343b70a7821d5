//! Decisions about (caller, tool) that differ between two policies.

use std::collections::BTreeSet;

use serde::Serialize;
use switchboard::gateway::policy::{Decision, Policy, Target};
use switchboard::protocol::ToolAnnotations;

use crate::gateway::KnownTool;
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

/// A tool that both sides have.
struct ComparedTool<'a> {
    server: &'a str,
    name: &'a str,
    /// Those that the rules of each side rely on.
    annotations: [Option<ToolAnnotations>; 2],
}

impl ComparedTool<'_> {
    fn target<'a>(&'a self, annotations: Option<&'a ToolAnnotations>) -> Target<'a> {
        Target { annotations, ..Target::tool(self.server, self.name) }
    }
}

/// Returns the decisions about tools of both sides that differ, and whether there were too many to compare all of them.
pub(crate) fn changed_decisions<'a>(before: &PlanSide, after: &'a PlanSide) -> (Vec<DecisionChange>, bool) {
    let callers: BTreeSet<&KnownCaller> = before.callers.union(&after.callers).collect();
    let tools = after.tools.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server, tool)));
    // A tool that appears or vanishes is reported as such.
    let on_both_sides = |(server, (name, is)): (&'a String, (&'a String, &KnownTool))| {
        let was = before.tools.get(server)?.get(name)?;
        let annotations =
            [was.trusted_annotations(&before.policy, server), is.trusted_annotations(&after.policy, server)];
        Some(ComparedTool { server, name, annotations })
    };
    let tools: Vec<ComparedTool<'a>> = tools.filter_map(on_both_sides).collect();
    let pairs = callers.iter().flat_map(|caller| tools.iter().map(move |tool| (*caller, tool)));
    let mut changes = Vec::new();
    for (caller, tool) in pairs.take(MAX_DECISIONS) {
        let [old, new] = &tool.annotations;
        let (was, _) = decide(&before.policy, caller, &tool.target(old.as_ref()));
        let (is, why) = decide(&after.policy, caller, &tool.target(new.as_ref()));
        if was != is {
            changes.push(DecisionChange {
                caller: caller.label.clone(),
                server: tool.server.to_owned(),
                tool: tool.name.to_owned(),
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
