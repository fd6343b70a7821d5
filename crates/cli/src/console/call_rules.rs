//! The permission rules of a host for the console: the rules of the configuration, and what they decide.

use std::sync::Arc;

use switchboard::Host;
use switchboard::host::ToolExplanation;
use switchboard::host::name::{NameLimit, QualifiedName};
use switchboard::host::permission::{DecisionReason, FallbackPolicy, Gate, Verdict};
use switchboard::protocol::Tool;
use switchboard_console::contract::{
    DefaultEffect, Denial, PolicyDecision, PolicyRule, PolicySnapshot, PolicyTest, PolicyVerdict,
};
use switchboard_console::providers::{BoxFuture, PolicyProvider, ProviderError, ProviderErrorKind};

use crate::sanitize::one_line;

/// The permission rules of a host.
#[derive(Debug)]
pub(super) struct CallRules {
    host: Host,
    gate: Arc<Gate>,
}

impl CallRules {
    /// Returns the rules; `None` if the host has no permission gate.
    pub(super) fn of_host(host: &Host) -> Option<Self> {
        Some(Self { host: host.clone(), gate: Arc::clone(host.permissions()?) })
    }

    fn snapshot_now(&self) -> PolicySnapshot {
        let policy = self.gate.policy();
        let tools = self.host.all_tools();
        let rules = policy.rules.iter().enumerate().map(|(index, rule)| {
            let is_used = tools.iter().any(|tool| rule.matches(tool.server(), &tool.tool().name));
            let effect = verdict_word(rule.verdict());
            let text = serde_json::json!({ effect: rule.to_string() });
            PolicyRule {
                index: (index + 1) as u64,
                name: None,
                effect: effect.to_owned(),
                rule_json: text.to_string(),
                unused: !is_used,
            }
        });
        PolicySnapshot {
            source: "permissions of the configuration".to_owned(),
            default_effect: match policy.fallback {
                FallbackPolicy::AllowAll | FallbackPolicy::Requested => DefaultEffect::Allow,
                FallbackPolicy::DenyAll => DefaultEffect::Deny,
                _ => DefaultEffect::Ask,
            },
            rules: rules.collect(),
            warnings: Vec::new(),
            denials: Vec::new(),
        }
    }

    fn decide(&self, test: &PolicyTest) -> Result<PolicyDecision, ProviderError> {
        if test.kind != "tool" {
            let message = format!("permissions are about tools, not about {:?}", one_line(&test.kind));
            return Err(ProviderError::new(ProviderErrorKind::Invalid, "invalid_arguments", message)
                .with_next_step("choose the kind `tool`"));
        }
        let listed = self.host.all_tools();
        let known = listed.iter().find(|tool| tool.server() == test.server && tool.tool().name == test.name);
        let unknown;
        let tool = match known {
            Some(known) => known.tool(),
            None => {
                unknown = Tool::new(&test.name, serde_json::json!({ "type": "object" }));
                &unknown
            }
        };
        let decision = self.gate.decide(&self.gate.subject(&test.server, tool));
        let policy = self.gate.policy();
        let rule = match &decision.reason {
            DecisionReason::Rule(rule) => policy.rules.iter().position(|other| other == rule),
            _ => None,
        };
        let qualified = QualifiedName::new(&test.server, &test.name, NameLimit::DEFAULT);
        let explanation = self.host.explain_tool(qualified.as_str());
        Ok(PolicyDecision {
            decision: match decision.verdict {
                Verdict::Allow => PolicyVerdict::Allow,
                Verdict::Ask => PolicyVerdict::Ask,
                Verdict::Deny => PolicyVerdict::Deny,
            },
            sentence: one_line(&decision.to_string()),
            rule: rule.map(|index| (index + 1) as u64),
            scopes: Vec::new(),
            listed: matches!(explanation, ToolExplanation::Shown { .. }),
        })
    }
}

impl PolicyProvider for CallRules {
    fn snapshot(&self) -> BoxFuture<'_, PolicySnapshot> {
        Box::pin(std::future::ready(self.snapshot_now()))
    }

    fn test<'a>(&'a self, test: &'a PolicyTest) -> BoxFuture<'a, Result<PolicyDecision, ProviderError>> {
        Box::pin(std::future::ready(self.decide(test)))
    }

    fn next_denial(&self) -> BoxFuture<'_, Option<Denial>> {
        // The only caller is the console, which records its own denials.
        Box::pin(std::future::ready(None))
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}
