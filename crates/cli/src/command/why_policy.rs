//! `switchboard why --policy`: explains what the policy of a gateway says about a tool.

use serde_json::{Value, json};
use switchboard::gateway::config::CompiledPolicy;
use switchboard::gateway::limits::Operation;
use switchboard::gateway::policy::{Decision, PolicyExplanation, Target};
use switchboard::host::CatalogTool;

use crate::args::WhyArgs;
use crate::error::CommandError;
use crate::gateway::load_policy;

/// What a gateway does with a tool, for one caller.
pub(crate) struct PolicyReport {
    caller: String,
    explanation: PolicyExplanation,
    limits: Vec<String>,
}

impl PolicyReport {
    /// Reads the policy of the arguments and explains it; `None` without a policy.
    ///
    /// # Errors
    /// Returns an error if the policy is not valid, or a caller is named without one.
    pub(crate) fn new(
        args: &WhyArgs,
        (server, tool): (&str, &str),
        listed: Option<&CatalogTool>,
    ) -> Result<Option<Self>, CommandError> {
        let Some(file) = &args.policy else {
            return match args.caller.is_given() {
                true => Err(CommandError::usage("a caller is a matter of a policy")
                    .hint("pass --policy FILE, or leave out --as and --view")),
                false => Ok(None),
            };
        };
        let CompiledPolicy { policy, limits, .. } = load_policy(file)?;
        let subject = args.caller.subject();
        // Annotations count only where the policy trusts the server, as in the gateway.
        let effects = listed.filter(|_| policy.trusts_annotations(server)).map(CatalogTool::effects);
        let target = Target::tool(server, tool);
        let target = match &effects {
            Some(effects) => target.with_annotations(effects),
            None => target,
        };
        let applying = limits.applying(&subject, &Operation::Call(&target));
        let limits = applying.into_iter().map(|(name, rate)| format!("{name}: {rate}")).collect();
        let caller = args.caller.principal.clone().unwrap_or_else(|| "anonymous callers".to_owned());
        Ok(Some(Self { caller, explanation: policy.explain(&subject, &target), limits }))
    }

    /// Returns the report as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self { caller, explanation, limits } = self;
        let decision = &explanation.listing;
        let mut lines = vec![match decision {
            Decision::Deny { .. } => {
                format!("policy, for {caller}: hidden, and calls answer as if it did not exist: {decision}")
            }
            Decision::MissingScope { .. } => {
                format!("policy, for {caller}: listed, calls answer 403: {decision}")
            }
            _ => format!("policy, for {caller}: listed, {decision}"),
        }];
        lines.extend(explanation.rules.iter().map(ToString::to_string));
        lines.extend(limits.iter().map(|limit| format!("limit {limit}")));
        lines
    }

    /// Returns the report as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let rules: Vec<String> = self.explanation.rules.iter().map(ToString::to_string).collect();
        json!({
            "caller": self.caller, "listed": self.explanation.is_listed(),
            "why": self.explanation.listing.to_string(), "rules": rules, "limits": self.limits,
        })
    }
}
