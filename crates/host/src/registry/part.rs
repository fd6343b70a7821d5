//! What one server brings into the catalogue. Immutable: a change makes another one, and shares what stayed.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use serde::Serialize;
use switchboard_protocol::{Rejected, Tool};
use switchboard_session::client::Cut;

use crate::registry::catalog_tool::{CatalogTool, Hashes, Target};
use crate::registry::name::{NameLimit, QualifiedName};
use crate::permission::DefinitionHash;
use crate::registry::rule::{Rules, Withheld};
use crate::slot::{Slot, Switch};
use crate::validation::Checks;

/// Hashes names; made anew for each registry, so that no server can choose names that collide.
pub(crate) type NameHasher = foldhash::fast::RandomState;

/// What one server brings.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) server: Arc<str>,
    /// That of the slot it belongs to; a later slot of the same name has another.
    pub(crate) id: u64,
    /// None for the application's own tools.
    pub(crate) slot: Option<Arc<Slot>>,
    pub(crate) switch: Switch,
    pub(crate) rules: Rules,
    pub(crate) list: Arc<List>,
}

/// The tools of one server, and what could not become one.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) tools: Vec<Arc<CatalogTool>>,
    /// By the hash of the name the server has for it.
    places: HashMap<u64, u32, foldhash::fast::FixedState>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) cut: Option<Cut>,
    /// Rules that match no tool.
    pub(crate) idle_rules: Vec<Arc<str>>,
    /// The tools as a status shows them.
    pub(crate) shown: Arc<[ToolInfo]>,
}

impl List {
    pub(crate) fn unlisted(&self) -> Unlisted {
        let withheld = |listed: &Arc<CatalogTool>| Some((listed.tool.name.clone(), listed.withheld.clone()?));
        Unlisted {
            rejected: self.rejected.clone(),
            cut: self.cut.clone(),
            withheld: self.tools.iter().filter_map(withheld).collect(),
            idle_rules: self.idle_rules.clone(),
        }
    }

    /// The tool of this name, withheld or not.
    pub(crate) fn by_name(&self, hasher: &NameHasher, name: &str) -> Option<&Arc<CatalogTool>> {
        let at = self.places.get(&hasher.hash_one(name))?;
        let found = self.tools.get(*at as usize).filter(|listed| listed.tool.name == name);
        // Two names of one hash: too rare to keep account of.
        found.or_else(|| self.tools.iter().find(|listed| listed.tool.name == name))
    }
}

/// What a server's list has that could not be used, and what was written about its tools in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unlisted {
    /// Entries that could not be read, with the reason.
    pub rejected: Vec<Rejected>,
    /// Why the list may not be whole.
    pub cut: Option<Cut>,
    /// Tools that are listed and withheld, with the reason.
    pub withheld: Vec<(String, Withheld)>,
    /// Rules that match no tool.
    pub idle_rules: Vec<Arc<str>>,
}

/// How names are made for the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming {
    /// The longest name.
    pub(crate) limit: NameLimit,
}

/// What of a server's list could not be read.
#[derive(Default)]
pub(crate) struct Unread<'a> {
    pub(crate) rejected: &'a [Rejected],
    pub(crate) cut: Option<Cut>,
}

/// Makes lists: names, rules, limits.
pub(crate) struct Maker<'a> {
    pub(crate) server: &'a Arc<str>,
    pub(crate) rules: &'a Rules,
    pub(crate) naming: Naming,
    pub(crate) hasher: &'a NameHasher,
    /// How many tools the catalogue has room for.
    pub(crate) room: usize,
    pub(crate) most: usize,
}

impl Maker<'_> {
    /// The list. What is as it was in the old one is shared with it; `drifted` says which definitions are withheld
    /// because they changed.
    pub(crate) fn list<'t>(
        &self,
        old: &List,
        tools: impl Iterator<Item = (&'t Tool, Target)>,
        unread: Unread<'_>,
        mut drifted: impl FnMut(&Tool, DefinitionHash) -> bool,
    ) -> List {
        let mut list = List { rejected: unread.rejected.to_vec(), cut: unread.cut, ..List::default() };
        let mut shown = 0;
        for (index, (tool, target)) in tools.enumerate() {
            if tool.name.is_empty() {
                list.rejected.push(Rejected::new(index, "", "a tool without a name cannot be called"));
                continue;
            }
            let known = old.by_name(self.hasher, &tool.name);
            let known = known.filter(|known| known.tool == *tool && known.target.is(&target));
            let digest = known.map_or_else(|| DefinitionHash::of(tool), |known| known.digest);
            let full = || (shown >= self.room).then_some(Withheld::TooMany { most: self.most });
            let is_drifted = drifted(tool, digest);
            let withheld = self.rules.decide(&tool.name);
            let withheld = withheld.or_else(|| is_drifted.then_some(Withheld::Drifted)).or_else(full);
            shown += usize::from(withheld.is_none());
            list.tools.push(match known.filter(|known| known.withheld == withheld) {
                Some(known) => Arc::clone(known),
                None => Arc::new(self.listed(tool.clone(), target, withheld, digest)),
            });
        }
        self.finish(list)
    }

    /// The same tools under other rules. What did not change is shared.
    pub(crate) fn again(&self, old: &List, is_drifted: impl Fn(&CatalogTool) -> bool) -> List {
        let mut list = List { rejected: old.rejected.clone(), cut: old.cut.clone(), ..List::default() };
        let mut shown = 0;
        for listed in &old.tools {
            let full = || (shown >= self.room).then_some(Withheld::TooMany { most: self.most });
            let withheld = self.rules.decide(&listed.tool.name);
            let withheld = withheld.or_else(|| is_drifted(listed).then_some(Withheld::Drifted)).or_else(full);
            shown += usize::from(withheld.is_none());
            list.tools.push(if withheld == listed.withheld {
                Arc::clone(listed)
            } else {
                Arc::new(self.listed(listed.tool.clone(), listed.target.clone(), withheld, listed.digest))
            });
        }
        self.finish(list)
    }

    fn listed(&self, tool: Tool, target: Target, withheld: Option<Withheld>, digest: DefinitionHash) -> CatalogTool {
        let qualified: Arc<str> = match &target {
            Target::Server(_) => {
                QualifiedName::of(self.server, &tool.name, self.naming.limit).as_str().into()
            }
            Target::Local(_) => tool.name.as_str().into(),
        };
        let hashes = Hashes {
            qualified: self.hasher.hash_one(&*qualified),
            bare: self.hasher.hash_one(tool.name.as_str()),
        };
        let span = format!("mcp.{}.{}", self.server, tool.name).into();
        let server = Arc::clone(self.server);
        let checks = match &target {
            Target::Server(slot) => Checks::new(slot.patterns.clone()),
            Target::Local(_) => Checks::default(),
        };
        CatalogTool {
            server,
            qualified,
            span,
            wire: tool.name.as_str().into(),
            tool,
            target,
            withheld,
            digest,
            checks,
            hashes,
        }
    }

    fn finish(&self, mut list: List) -> List {
        for (at, listed) in list.tools.iter().enumerate() {
            let at = u32::try_from(at).expect("a list has ten thousand tools at most");
            list.places.entry(listed.hashes.bare).or_insert(at);
        }
        list.idle_rules = self.rules.idle(list.tools.iter().map(|listed| listed.tool.name.as_str()));
        let shown = list.tools.iter().filter(|listed| listed.withheld.is_none());
        list.shown = shown.map(|listed| ToolInfo::of(&listed.tool)).collect();
        list
    }
}

/// A tool as a status shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolInfo {
    /// The name the server has for it.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it says of its effects; nothing when it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolEffects>,
}

/// What a tool says of its effects, as a status shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolEffects {
    /// Changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// May destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Deals with the world outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolInfo {
    fn of(tool: &Tool) -> Self {
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
