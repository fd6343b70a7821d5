//! The part of one server in the catalog. Immutable: a change creates a new part that shares unchanged tools.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use switchboard_protocol::{Rejected, Tool};
use switchboard_session::client::ListTruncation;

use crate::permission::DefinitionHash;
use crate::registry::catalog_tool::{CallTarget, CatalogTool, NameHashes};
use crate::registry::name::{NameLimit, QualifiedName};
use crate::registry::rule::{ToolRules, WithheldReason};
use crate::registry::server_lists::ServerLists;
use crate::slot::{Slot, Switch};
use crate::validation::ToolValidators;

/// Hashes names with a random seed per registry, so no server can choose colliding names.
pub(crate) type NameHasher = foldhash::fast::RandomState;

/// The part of one server.
#[derive(Clone)]
pub(crate) struct CatalogPart {
    pub(crate) server: Arc<str>,
    /// The id of its slot; a later slot of the same name has another id.
    pub(crate) id: u64,
    /// `None` for the tools of the application.
    pub(crate) slot: Option<Arc<Slot>>,
    pub(crate) switch: Switch,
    pub(crate) rules: ToolRules,
    pub(crate) list: Arc<ToolList>,
    pub(crate) lists: Arc<ServerLists>,
}

/// The tools of one server, and defects of its list.
#[derive(Default)]
pub(crate) struct ToolList {
    pub(crate) tools: Vec<Arc<CatalogTool>>,
    /// Positions in `tools` by the hash of the name on the server.
    index: HashMap<u64, u32, foldhash::fast::FixedState>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) cut: Option<ListTruncation>,
    /// Rules that match no tool.
    pub(crate) unmatched_rules: Vec<Arc<str>>,
    /// The tools that are not withheld, as a status shows them.
    pub(crate) shown: Arc<[ToolInfo]>,
}

impl ToolList {
    pub(crate) fn issues(&self) -> ToolListIssues {
        let withheld = |listed: &Arc<CatalogTool>| Some((listed.tool.name.clone(), listed.withheld.clone()?));
        ToolListIssues {
            rejected: self.rejected.clone(),
            cut: self.cut.clone(),
            withheld: self.tools.iter().filter_map(withheld).collect(),
            unmatched_rules: self.unmatched_rules.clone(),
        }
    }

    /// Returns the tool with this name, withheld or not.
    pub(crate) fn by_name(&self, hasher: &NameHasher, name: &str) -> Option<&Arc<CatalogTool>> {
        let at = self.index.get(&hasher.hash_one(name))?;
        let found = self.tools.get(*at as usize).filter(|listed| listed.tool.name == name);
        // A hash collision: too rare for chains.
        found.or_else(|| self.tools.iter().find(|listed| listed.tool.name == name))
    }
}

/// Problems of a server's tool list and of the rules for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolListIssues {
    /// Invalid entries, with the reason.
    pub rejected: Vec<Rejected>,
    /// Why the list may be incomplete.
    pub cut: Option<ListTruncation>,
    /// Withheld tools, with the reason.
    pub withheld: Vec<(String, WithheldReason)>,
    /// Rules that match no tool.
    pub unmatched_rules: Vec<Arc<str>>,
}

/// Defects of a list that a server sent.
#[derive(Default)]
pub(crate) struct ListDefects<'a> {
    pub(crate) rejected: &'a [Rejected],
    pub(crate) cut: Option<ListTruncation>,
}

/// Builds the tool list of a server: applies names, rules and limits.
pub(crate) struct ToolListBuilder<'a> {
    pub(crate) server: &'a Arc<str>,
    pub(crate) rules: &'a ToolRules,
    pub(crate) name_limit: NameLimit,
    pub(crate) hasher: &'a NameHasher,
    /// How many more tools the catalog may have.
    pub(crate) remaining: usize,
    pub(crate) max_tools: usize,
}

impl ToolListBuilder<'_> {
    /// Builds the list. Unchanged tools are shared with the old one; `drifted` returns whether a definition is withheld
    /// because it changed.
    pub(crate) fn build<'t>(
        &self,
        old: &ToolList,
        tools: impl Iterator<Item = (&'t Tool, CallTarget)>,
        defects: ListDefects<'_>,
        mut drifted: impl FnMut(&Tool, DefinitionHash) -> bool,
    ) -> ToolList {
        let mut list =
            ToolList { rejected: defects.rejected.to_vec(), cut: defects.cut, ..ToolList::default() };
        let mut shown = 0;
        for (index, (tool, target)) in tools.enumerate() {
            if tool.name.is_empty() {
                list.rejected.push(Rejected::new(index, "", "a tool needs a name"));
                continue;
            }
            let known = old.by_name(self.hasher, &tool.name);
            let known = known.filter(|known| known.tool == *tool && known.target.is_same(&target));
            let digest = known.map_or_else(|| DefinitionHash::of(tool), |known| known.digest);
            let withheld = self.withheld(tool, drifted(tool, digest), shown);
            shown += usize::from(withheld.is_none());
            list.tools.push(match known.filter(|known| known.withheld == withheld) {
                Some(known) => Arc::clone(known),
                None => Arc::new(self.catalog_tool(tool.clone(), target, withheld, digest)),
            });
        }
        self.finish(list)
    }

    /// Applies changed rules to the same tools. Unchanged tools are shared.
    pub(crate) fn rebuild(&self, old: &ToolList, is_drifted: impl Fn(&CatalogTool) -> bool) -> ToolList {
        let mut list =
            ToolList { rejected: old.rejected.clone(), cut: old.cut.clone(), ..ToolList::default() };
        let mut shown = 0;
        for listed in &old.tools {
            let withheld = self.withheld(&listed.tool, is_drifted(listed), shown);
            shown += usize::from(withheld.is_none());
            list.tools.push(if withheld == listed.withheld {
                Arc::clone(listed)
            } else {
                Arc::new(self.catalog_tool(
                    listed.tool.clone(),
                    listed.target.clone(),
                    withheld,
                    listed.digest,
                ))
            });
        }
        self.finish(list)
    }

    /// Returns why a tool is withheld from a list that shows `shown` tools so far.
    fn withheld(&self, tool: &Tool, is_drifted: bool, shown: usize) -> Option<WithheldReason> {
        let drifted = || is_drifted.then_some(WithheldReason::Drifted);
        let full = || (shown >= self.remaining).then_some(WithheldReason::TooMany { max: self.max_tools });
        self.rules.decide(&tool.name).or_else(drifted).or_else(full)
    }

    /// Creates the catalog entry of a tool: its qualified name, hashes, span name and validators.
    fn catalog_tool(
        &self,
        tool: Tool,
        target: CallTarget,
        withheld: Option<WithheldReason>,
        digest: DefinitionHash,
    ) -> CatalogTool {
        let qualified: Arc<str> = match &target {
            CallTarget::Server(_) => {
                QualifiedName::new(self.server, &tool.name, self.name_limit).as_str().into()
            }
            CallTarget::Local(_) => tool.name.as_str().into(),
        };
        let hashes = NameHashes {
            qualified: self.hasher.hash_one(&*qualified),
            bare: self.hasher.hash_one(tool.name.as_str()),
        };
        let span = format!("tools/call {}", tool.name).into();
        let server = Arc::clone(self.server);
        let checks = match &target {
            CallTarget::Server(slot) => ToolValidators::new(slot.patterns.clone()),
            CallTarget::Local(_) => ToolValidators::default(),
        };
        CatalogTool {
            server,
            qualified,
            span,
            wire_name: tool.name.as_str().into(),
            tool,
            target,
            withheld,
            digest,
            checks,
            hashes,
            definition_bytes: OnceLock::new(),
        }
    }

    fn finish(&self, mut list: ToolList) -> ToolList {
        for (at, listed) in list.tools.iter().enumerate() {
            let at = u32::try_from(at).expect("a list has at most ten thousand tools");
            list.index.entry(listed.hashes.bare).or_insert(at);
        }
        list.unmatched_rules =
            self.rules.unmatched(list.tools.iter().map(|listed| listed.tool.name.as_str()));
        let shown = list.tools.iter().filter(|listed| listed.withheld.is_none());
        list.shown = shown.map(|listed| ToolInfo::new(&listed.tool)).collect();
        list
    }
}

/// A tool in a status report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolInfo {
    /// Its name on the server.
    pub name: String,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its annotations; absent without any of the three hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolEffects>,
}

/// The annotations of a tool in a status report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolEffects {
    /// Whether it does not modify its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether it may perform destructive updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether it interacts with external entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolInfo {
    fn new(tool: &Tool) -> Self {
        let annotations = tool.annotations.as_ref().map(|effects| ToolEffects {
            read_only: effects.read_only_hint,
            destructive: effects.destructive_hint,
            open_world: effects.open_world_hint,
        });
        let said = |effects: &ToolEffects| {
            effects.read_only.is_some() || effects.destructive.is_some() || effects.open_world.is_some()
        };
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            annotations: annotations.filter(said),
        }
    }
}
