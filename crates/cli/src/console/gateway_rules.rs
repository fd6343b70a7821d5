//! The policy of a gateway for the console: rules, test decisions, and refusals as they happen.

use std::sync::Arc;

use switchboard::gateway::audit::AuditOutcome;
use switchboard::gateway::policy::{Decision as Verdict, Effect, Subject, Target, TargetKind};
use switchboard::gateway::{Gateway, Refusal, RefusalStream};
use switchboard::protocol::Raw;
use switchboard_console::contract::{
    DefaultEffect, Denial, DenialOutcome, PolicyDecision, PolicyRule, PolicySnapshot, PolicyTest,
    PolicyVerdict,
};
use switchboard_console::providers::{BoxFuture, PolicyProvider, ProviderError, ProviderErrorKind};
use tokio::sync::Mutex;

use super::identity::unix_ms;
use crate::sanitize::one_line;

/// The policy of a gateway.
#[derive(Debug)]
pub(crate) struct GatewayRules {
    gateway: Gateway,
    /// Where the rules are written.
    source: String,
    // Held while waiting: only the console waits.
    refusals: Mutex<RefusalStream>,
}

impl GatewayRules {
    pub(crate) fn new(gateway: &Gateway, source: String) -> Self {
        Self { gateway: gateway.clone(), source, refusals: Mutex::new(gateway.refusals()) }
    }

    fn snapshot_now(&self) -> PolicySnapshot {
        let policy = self.gateway.policy();
        let rules = policy.rules().map(|status| PolicyRule {
            index: status.rule.index as u64 + 1,
            name: status.rule.name.as_deref().map(str::to_owned),
            effect: status.effect.to_string(),
            rule_json: status.source_json,
            unused: !status.has_decided,
        });
        PolicySnapshot {
            source: self.source.clone(),
            default_effect: match policy.default_effect() {
                Effect::Allow => DefaultEffect::Allow,
                Effect::Deny => DefaultEffect::Deny,
            },
            rules: rules.collect(),
            warnings: policy.warnings().iter().map(|warning| one_line(&warning.to_string())).collect(),
            denials: Vec::new(),
        }
    }

    fn decide(&self, test: &PolicyTest) -> Result<PolicyDecision, ProviderError> {
        let invalid =
            |message: String| ProviderError::new(ProviderErrorKind::Invalid, "invalid_arguments", message);
        let Some(kind) = TargetKind::ALL.into_iter().find(|kind| kind.as_str() == test.kind) else {
            return Err(invalid(format!("{:?} is not a kind", one_line(&test.kind)))
                .with_next_step("use tool, resource, template or prompt"));
        };
        let arguments = test.arguments_json.clone().filter(|text| !text.trim().is_empty());
        let arguments = arguments.map(Raw::parse).transpose();
        let arguments = arguments.map_err(|_| {
            invalid("the arguments are not JSON".to_owned()).with_next_step("write one JSON object")
        })?;
        let policy = self.gateway.policy();
        let subject = Subject {
            principal: test.principal.as_deref(),
            issuer: test.issuer.as_deref(),
            scopes: &test.scopes,
            view: test.view.as_deref(),
        };
        let tools = self.gateway.host().all_tools();
        let tool: Option<&Arc<_>> = tools.iter().find(|tool| {
            kind == TargetKind::Tool && tool.server() == test.server && tool.tool().name == test.name
        });
        let annotations = tool
            .filter(|_| policy.trusts_annotations(&test.server))
            .and_then(|tool| tool.tool().annotations.as_ref());
        let target = Target::new(&test.server, kind, &test.name);
        let target = match annotations {
            Some(annotations) => target.with_annotations(annotations),
            None => target,
        };
        let decision = policy.decide(&subject, &target, arguments.as_ref());
        let (outcome, scopes) = match &decision {
            Verdict::Allow { .. } => (PolicyVerdict::Allow, Vec::new()),
            Verdict::MissingScope { scopes, .. } => (PolicyVerdict::MissingScope, scopes.clone()),
            _ => (PolicyVerdict::Deny, Vec::new()),
        };
        Ok(PolicyDecision {
            decision: outcome,
            sentence: one_line(&decision.to_string()),
            rule: decision.rule().map(|rule| rule.index as u64 + 1),
            scopes,
            listed: policy.is_visible(&subject, &target),
        })
    }

    async fn wait_for_denial(&self) -> Option<Denial> {
        Some(denial_of(self.refusals.lock().await.next().await?))
    }
}

impl PolicyProvider for GatewayRules {
    fn snapshot(&self) -> BoxFuture<'_, PolicySnapshot> {
        Box::pin(std::future::ready(self.snapshot_now()))
    }

    fn test<'a>(&'a self, test: &'a PolicyTest) -> BoxFuture<'a, Result<PolicyDecision, ProviderError>> {
        Box::pin(std::future::ready(self.decide(test)))
    }

    fn next_denial(&self) -> BoxFuture<'_, Option<Denial>> {
        Box::pin(self.wait_for_denial())
    }
}

fn denial_of(refusal: Refusal) -> Denial {
    Denial {
        at_ms: unix_ms(refusal.time),
        principal: refusal.principal,
        server: refusal.server,
        kind: refusal.kind.to_owned(),
        name: refusal.name,
        outcome: match refusal.outcome {
            AuditOutcome::RateLimited => DenialOutcome::RateLimited,
            AuditOutcome::MissingScope => DenialOutcome::MissingScope,
            _ => DenialOutcome::Denied,
        },
        rule: refusal.rule,
        reason: refusal.reason,
    }
}
