//! The differences between two sides.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::gateway::{AppliedServer, AppliedView, KnownTools, needs_restart, unmatched_rules};
use crate::plan::decision_change::{DecisionChange, changed_decisions};
use crate::plan::plan_side::PlanSide;
use crate::plan::policy_change::{PolicyChange, changed_policy};

/// Everything that differs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Differences {
    pub(crate) settings: Vec<SettingChange>,
    pub(crate) servers: Vec<ServerDifference>,
    pub(crate) tools: Vec<ToolDifference>,
    pub(crate) views: Vec<ViewDifference>,
    /// Rules, limits and payload rules, as they are written.
    pub(crate) policy: Vec<PolicyChange>,
    pub(crate) decisions: Vec<DecisionChange>,
    /// Whether there were too many callers and tools to compare all decisions.
    pub(crate) decisions_cut: bool,
    /// Servers whose tools are not known: they were not started.
    pub(crate) unknown_tools: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// Why a running gateway did not apply the file when it was last changed.
    pub(crate) rejected: Option<String>,
}

/// A setting that differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SettingChange {
    pub(crate) key: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) needs_restart: bool,
}

/// A server that is added, removed or changed.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum ServerDifference {
    Added { name: String, entry: Value },
    Removed { name: String },
    Changed { name: String, fields: Vec<FieldChange>, secrets: bool },
}

/// A field of an entry that differs; secrets are masked.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct FieldChange {
    pub(crate) field: String,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
}

/// The tools of a server that appear or vanish.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ToolDifference {
    pub(crate) server: String,
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
}

/// A view that is added, removed or changed, or whose tools appear or vanish.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ViewDifference {
    pub(crate) name: String,
    pub(crate) change: ViewChange,
    /// Tools that appear, as `server/tool`.
    pub(crate) added: Vec<String>,
    /// Tools that vanish.
    pub(crate) removed: Vec<String>,
}

/// What happens to a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ViewChange {
    Added,
    Removed,
    /// Its definition differs.
    Changed,
    /// Only the tools of its servers differ.
    Tools,
}

impl Differences {
    /// Compares two sides.
    pub(crate) fn between(before: &PlanSide, after: &PlanSide) -> Self {
        let (decisions, decisions_cut) = changed_decisions(before, after);
        let mut warnings = after.warnings.clone();
        let is_known = |name: &&String| after.tools.contains_key(*name);
        let unknown_tools: Vec<String> =
            after.servers.keys().filter(|name| !is_known(name)).cloned().collect();
        if after.has_policy && unknown_tools.is_empty() {
            let unmatched = unmatched_rules(&after.policy, &after.tools);
            warnings.extend(unmatched.iter().map(|warning| format!("policy: {warning}")));
        }
        Self {
            settings: changed_settings(before, after),
            servers: changed_servers(&before.servers, &after.servers),
            tools: changed_tools(before, after),
            views: changed_views(before, after),
            policy: changed_policy(&before.policy_document, &after.policy_document),
            decisions,
            decisions_cut,
            unknown_tools,
            warnings,
            rejected: before.error.clone(),
        }
    }

    /// Returns whether applying would change nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.views.is_empty()
            && self.servers.is_empty()
            && self.tools.is_empty()
            && self.policy.is_empty()
            && self.decisions.is_empty()
    }
}

fn changed_settings(before: &PlanSide, after: &PlanSide) -> Vec<SettingChange> {
    let mut keys: BTreeSet<&String> = before.settings.keys().chain(after.settings.keys()).collect();
    keys.retain(|key| !before.overridden.contains(*key));
    let change = |key: &String| {
        let (was, is) = (before.settings.get(key), after.settings.get(key));
        (was != is).then(|| SettingChange {
            key: key.clone(),
            before: was.cloned(),
            after: is.cloned(),
            needs_restart: needs_restart(key),
        })
    };
    keys.into_iter().filter_map(change).collect()
}

fn changed_servers(
    before: &BTreeMap<String, AppliedServer>,
    after: &BTreeMap<String, AppliedServer>,
) -> Vec<ServerDifference> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let difference = |name: &String| match (before.get(name), after.get(name)) {
        (None, Some(server)) => {
            Some(ServerDifference::Added { name: name.clone(), entry: server.entry.clone() })
        }
        (Some(_), None) => Some(ServerDifference::Removed { name: name.clone() }),
        (Some(was), Some(is)) if was.keyed_digest != is.keyed_digest => {
            let fields = changed_fields(&was.entry, &is.entry);
            let secrets = fields.is_empty();
            Some(ServerDifference::Changed { name: name.clone(), fields, secrets })
        }
        _ => None,
    };
    names.into_iter().filter_map(difference).collect()
}

fn changed_fields(before: &Value, after: &Value) -> Vec<FieldChange> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return Vec::new() };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |field: &String| {
        let (was, is) = (before.get(field), after.get(field));
        (was != is).then(|| FieldChange { field: field.clone(), before: was.cloned(), after: is.cloned() })
    };
    names.into_iter().filter_map(change).collect()
}

fn changed_tools(before: &PlanSide, after: &PlanSide) -> Vec<ToolDifference> {
    let names_of = |tools: &KnownTools, server: &str| -> Option<BTreeSet<String>> {
        Some(tools.get(server)?.keys().cloned().collect())
    };
    let names: BTreeSet<&String> = before.tools.keys().chain(after.tools.keys()).collect();
    let difference = |server: &String| {
        let is_removed = !after.servers.contains_key(server);
        // A server whose tools are not known yet has no differences to show.
        let is_new = !before.servers.contains_key(server);
        let was = names_of(&before.tools, server).or_else(|| is_new.then(BTreeSet::new))?;
        let is = names_of(&after.tools, server).or_else(|| is_removed.then(BTreeSet::new))?;
        let added: Vec<String> = is.difference(&was).cloned().collect();
        let removed: Vec<String> = was.difference(&is).cloned().collect();
        let is_same = added.is_empty() && removed.is_empty();
        (!is_same).then(|| ToolDifference { server: server.clone(), added, removed })
    };
    names.into_iter().filter_map(difference).collect()
}

fn changed_views(before: &PlanSide, after: &PlanSide) -> Vec<ViewDifference> {
    let names: BTreeSet<&String> = before.views.keys().chain(after.views.keys()).collect();
    let none = BTreeSet::new();
    let difference = |name: &String| {
        let (was, is) = (before.views.get(name), after.views.get(name));
        let tools = |view: Option<&'_ AppliedView>| view.map_or(none.clone(), |view| view.tools.clone());
        let (old, new) = (tools(was), tools(is));
        // Tools of servers that are not known on both sides are no difference.
        let is_known = |side: &PlanSide, tool: &str| {
            let server =
                |name: &String| tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
            side.tools.keys().any(server) || !side.servers.keys().any(server)
        };
        let added: Vec<String> =
            new.difference(&old).filter(|tool| is_known(before, tool)).cloned().collect();
        let removed: Vec<String> =
            old.difference(&new).filter(|tool| is_known(after, tool)).cloned().collect();
        let change = match (was, is) {
            (None, _) => ViewChange::Added,
            (_, None) => ViewChange::Removed,
            (Some(was), Some(is)) if was.keyed_digest != is.keyed_digest => ViewChange::Changed,
            _ if added.is_empty() && removed.is_empty() => return None,
            _ => ViewChange::Tools,
        };
        Some(ViewDifference { name: name.clone(), change, added, removed })
    };
    names.into_iter().filter_map(difference).collect()
}
