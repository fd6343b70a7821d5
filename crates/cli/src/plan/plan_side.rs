//! One side of a comparison: what is applied, or what would be.

use std::collections::{BTreeMap, BTreeSet};

use switchboard::gateway::config::CompiledPolicy;
use switchboard::gateway::policy::Policy;
use switchboard::gateway::view::View;

use crate::connect::CLOSE_TIMEOUT;
use crate::error::CommandError;
use crate::gateway::{
    AppliedServer, AppliedState, AppliedView, DigestKey, GatewaySettings, KnownTools, build_host,
    known_tools, server_specs, tools_of_view,
};
use crate::output::Screen;
use crate::plan::known_callers::{KnownCaller, callers_of_policy, callers_with_keys};
use crate::plan::policy_change::PolicyDocument;
use crate::sanitize::one_line;

/// A configuration, and what is known about its servers.
#[derive(Debug)]
pub(crate) struct PlanSide {
    pub(crate) settings: BTreeMap<String, String>,
    /// The keys whose values are those of flags.
    pub(crate) overridden: BTreeSet<String>,
    pub(crate) servers: BTreeMap<String, AppliedServer>,
    pub(crate) policy: Policy,
    pub(crate) has_policy: bool,
    /// The policy as it is written.
    pub(crate) policy_document: PolicyDocument,
    /// The tools of the servers that are known.
    pub(crate) tools: KnownTools,
    pub(crate) views: BTreeMap<String, AppliedView>,
    pub(crate) callers: BTreeSet<KnownCaller>,
    pub(crate) warnings: Vec<String>,
    /// Why a gateway did not apply the file when it was last changed.
    pub(crate) error: Option<String>,
}

impl PlanSide {
    /// Returns the side of a gateway that has applied its configuration.
    ///
    /// # Errors
    /// Returns an error if the recorded policy cannot be read.
    pub(crate) fn from_applied(state: AppliedState) -> Result<Self, CommandError> {
        let compiled = match &state.policy {
            Some(text) if state.is_inline_policy => Some(CompiledPolicy::parse_inline(text)),
            Some(text) => Some(CompiledPolicy::parse(text)),
            None => None,
        };
        let compiled = compiled.transpose().map_err(|error| {
            CommandError::other("plan", format!("the recorded policy: {}", one_line(&error.to_string())))
                .hint("compare with a file: --from FILE")
        })?;
        let has_policy = compiled.is_some();
        let policy = compiled.map_or_else(Policy::allow_all, |compiled| compiled.policy);
        Ok(Self {
            settings: state.settings,
            overridden: state.overridden,
            servers: state.servers,
            callers: callers_of_policy(&policy),
            policy,
            has_policy,
            policy_document: PolicyDocument::read(state.policy.as_deref(), state.is_inline_policy),
            tools: state.tools,
            views: state.views,
            warnings: Vec::new(),
            error: state.error,
        })
    }

    /// Returns the side of a file, and takes its policy. Both sides of a comparison need the same key.
    ///
    /// # Errors
    /// Returns an error if the API keys cannot be read.
    pub(crate) fn from_settings(
        settings: &mut GatewaySettings,
        key: &DigestKey,
    ) -> Result<Self, CommandError> {
        let state = AppliedState::of(settings, key);
        let compiled = settings.policy.take();
        let has_policy = compiled.is_some();
        let policy = compiled.map_or_else(Policy::allow_all, |compiled| compiled.policy);
        let mut callers = callers_of_policy(&policy);
        if let Some(file) = &settings.config.callers.api_keys {
            callers.extend(callers_with_keys(file)?);
        }
        let warnings = policy.warnings().iter().map(|warning| format!("policy: {warning}")).collect();
        Ok(Self {
            settings: state.settings,
            overridden: state.overridden,
            servers: state.servers,
            policy,
            has_policy,
            policy_document: PolicyDocument::read(state.policy.as_deref(), state.is_inline_policy),
            tools: KnownTools::new(),
            views: state.views,
            callers,
            warnings,
            error: None,
        })
    }

    /// Takes over the tools of servers that are the same on the other side.
    pub(crate) fn take_known_tools(&mut self, other: &Self) {
        for (name, server) in &self.servers {
            if let (Some(before), Some(tools)) = (other.servers.get(name), other.tools.get(name))
                && before.keyed_digest == server.keyed_digest
            {
                self.tools.insert(name.clone(), tools.clone());
            }
        }
    }

    /// Finds the tools of the views among those that are known.
    pub(crate) fn set_view_tools(&mut self, views: &[View]) {
        for view in views {
            let Some(applied) = self.views.get_mut(view.name()) else { continue };
            let all =
                self.tools.iter().flat_map(|(server, tools)| tools.keys().map(move |tool| (server, tool)));
            applied.tools = tools_of_view(view, all);
        }
    }

    /// Starts the servers of a file, lists their tools, and stops them.
    ///
    /// # Errors
    /// Returns an error if the host cannot be built. A server that does not start is a warning.
    pub(crate) async fn list_tools(&mut self, settings: &GatewaySettings) -> Result<(), CommandError> {
        let screen = Screen::new();
        let host = build_host(settings, &screen)?;
        let done = host.set_servers(server_specs(&settings.servers, &screen)).await;
        for (name, error) in &done.errors {
            self.warnings.push(format!("{}: {}", one_line(name), one_line(error)));
        }
        let failed = |name: &&String| !done.errors.contains_key(*name);
        let tools = known_tools(&host);
        for name in self.servers.keys().filter(failed) {
            self.tools.insert(name.clone(), tools.get(name).cloned().unwrap_or_default());
        }
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, host.close_detached()).await;
        Ok(())
    }
}
