//! The differences between two sides.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use switchboard::gateway::policy::Target;

use crate::gateway::{AppliedServer, needs_restart};
use crate::plan::decision_change::{DecisionChange, changed_decisions};
use crate::plan::plan_side::PlanSide;

/// Everything that differs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Differences {
    pub(crate) settings: Vec<SettingChange>,
    pub(crate) servers: Vec<ServerDifference>,
    pub(crate) tools: Vec<ToolDifference>,
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

impl Differences {
    /// Compares two sides.
    pub(crate) fn between(before: &PlanSide, after: &PlanSide) -> Self {
        let (decisions, decisions_cut) = changed_decisions(before, after);
        let mut warnings = after.warnings.clone();
        let is_known = |name: &&String| after.tools.contains_key(*name);
        let unknown_tools: Vec<String> =
            after.servers.keys().filter(|name| !is_known(name)).cloned().collect();
        if after.has_policy && unknown_tools.is_empty() {
            let pairs =
                after.tools.iter().flat_map(|(server, tools)| tools.iter().map(move |tool| (server, tool)));
            let targets = pairs.map(|(server, tool)| Target::tool(server, tool));
            let unmatched = after.policy.unmatched(targets);
            warnings.extend(unmatched.iter().map(|warning| format!("policy: {warning}")));
        }
        Self {
            settings: changed_settings(before, after),
            servers: changed_servers(&before.servers, &after.servers),
            tools: changed_tools(before, after),
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
            && self.servers.is_empty()
            && self.tools.is_empty()
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
        (Some(was), Some(is)) if was.digest != is.digest => {
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
    let none = BTreeSet::new();
    let names: BTreeSet<&String> = before.tools.keys().chain(after.tools.keys()).collect();
    let difference = |server: &String| {
        let is_removed = !after.servers.contains_key(server);
        // A server whose tools are not known yet has no differences to show.
        let was = before.tools.get(server).or((!before.servers.contains_key(server)).then_some(&none))?;
        let is = after.tools.get(server).or(is_removed.then_some(&none))?;
        let added: Vec<String> = is.difference(was).cloned().collect();
        let removed: Vec<String> = was.difference(is).cloned().collect();
        let is_same = added.is_empty() && removed.is_empty();
        (!is_same).then(|| ToolDifference { server: server.clone(), added, removed })
    };
    names.into_iter().filter_map(difference).collect()
}
