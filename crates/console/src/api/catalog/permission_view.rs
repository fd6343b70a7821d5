//! What the permission rules decide about a call of a tool.

use switchboard_host::Host;
use switchboard_host::permission::{Decision, DecisionReason, Verdict};
use switchboard_protocol::Tool;

use crate::contract::Permission;

/// Returns the decision about a call of a tool. A host without permission rules allows all calls.
pub(crate) fn tool_permission(host: &Host, server: &str, tool: &Tool) -> Permission {
    let Some(gate) = host.permissions() else {
        return Permission::Allow { sentence: "allowed: there are no permission rules".to_owned() };
    };
    let decision = gate.decide(&gate.subject(server, tool));
    let sentence = decision.to_string();
    match decision.verdict {
        Verdict::Allow => Permission::Allow { sentence },
        Verdict::Ask => Permission::Ask { sentence },
        Verdict::Deny => Permission::Deny { sentence, rule: rule(&decision) },
    }
}

fn rule(decision: &Decision) -> Option<String> {
    match &decision.reason {
        DecisionReason::Rule(rule) => Some(rule.to_string()),
        _ => None,
    }
}
