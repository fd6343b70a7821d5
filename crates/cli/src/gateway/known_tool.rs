//! Tools of servers, as far as rules look at them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use switchboard::gateway::policy::{Policy, Target};
use switchboard::host::Host;
use switchboard::protocol::ToolAnnotations;

/// The known tools by server and name.
pub(crate) type KnownTools = BTreeMap<String, BTreeMap<String, KnownTool>>;

/// What its server says about a tool. Rules rely on it only where the policy trusts the server.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KnownTool {
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
}

impl KnownTool {
    /// Returns the annotations that rules of this policy rely on; `None` if it does not trust the server.
    pub(crate) fn trusted_annotations(&self, policy: &Policy, server: &str) -> Option<ToolAnnotations> {
        policy.trusts_annotations(server).then(|| {
            let mut annotations = ToolAnnotations::new();
            annotations.read_only_hint = self.read_only;
            annotations.destructive_hint = self.destructive;
            annotations.idempotent_hint = self.idempotent;
            annotations.open_world_hint = self.open_world;
            annotations
        })
    }
}

impl From<&ToolAnnotations> for KnownTool {
    fn from(annotations: &ToolAnnotations) -> Self {
        Self {
            read_only: annotations.read_only_hint,
            destructive: annotations.destructive_hint,
            idempotent: annotations.idempotent_hint,
            open_world: annotations.open_world_hint,
        }
    }
}

/// Returns the tools that each server has now.
pub(crate) fn known_tools(host: &Host) -> KnownTools {
    let mut tools = KnownTools::new();
    for tool in host.all_tools() {
        let of_server = tools.entry(tool.server().to_owned()).or_default();
        of_server.insert(tool.tool().name.clone(), KnownTool::from(&tool.effects()));
    }
    tools
}

/// Returns the warnings about rules that match none of the tools.
pub(crate) fn unmatched_rules(policy: &Policy, tools: &KnownTools) -> Vec<String> {
    let all =
        tools.iter().flat_map(|(server, tools)| tools.iter().map(move |(name, tool)| (server, name, tool)));
    let annotations: Vec<_> =
        all.map(|(server, name, tool)| (server, name, tool.trusted_annotations(policy, server))).collect();
    let targets = annotations.iter().map(|(server, name, annotations)| {
        let target = Target::tool(server, name);
        match annotations {
            Some(annotations) => target.with_annotations(annotations),
            None => target,
        }
    });
    policy.unmatched(targets).iter().map(ToString::to_string).collect()
}
