//! One snapshot of everything there is. Immutable, so that whoever holds one sees a world that does not change.
//!
//! Invariant: the order is that of the servers as configured, then each server's own; it does not depend on who was
//! ready first.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use crate::registry::catalog_tool::CatalogTool;
use crate::registry::part::{NameHasher, Part};
use crate::registry::rule::Withheld;
use crate::slot::Switch;

/// No further tool.
const END: u32 = u32::MAX;

/// A snapshot of all tools.
pub struct Catalog {
    revision: u64,
    hasher: NameHasher,
    pub(crate) parts: Vec<Arc<Part>>,
    servers: HashMap<Arc<str>, u32, NameHasher>,
    /// The tools that are shown.
    tools: Vec<Arc<CatalogTool>>,
    qualified: Chains,
    bare: Chains,
    /// Names that stand for several tools: all of these are withheld.
    clashes: HashMap<Arc<str>, Withheld>,
}

/// For each hash the first tool, and for each tool the next of the same hash.
#[derive(Default)]
struct Chains {
    first: HashMap<u64, u32, foldhash::fast::FixedState>,
    next: Vec<u32>,
}

/// A tool that was looked for, and who else has one of its name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The tool; of several, that of the first server in configured order.
    pub tool: Arc<CatalogTool>,
    /// The other servers that have a tool of this name.
    pub others: Vec<Arc<str>>,
}

impl Catalog {
    pub(crate) fn new(revision: u64, parts: Vec<Arc<Part>>, hasher: NameHasher) -> Self {
        let servers = parts.iter().zip(0..).map(|(part, at)| (Arc::clone(&part.server), at)).collect();
        let on = parts.iter().filter(|part| part.switch == Switch::On);
        let mut tools: Vec<Arc<CatalogTool>> =
            Vec::with_capacity(parts.iter().map(|p| p.list.tools.len()).sum());
        tools.extend(on.flat_map(|part| &part.list.tools).filter(|tool| tool.withheld.is_none()).cloned());
        let mut qualified = Chains::of(&tools, |listed| listed.hashes.qualified);
        let clashes = clashes(&tools, &qualified);
        if !clashes.is_empty() {
            tools.retain(|listed| !clashes.contains_key(&listed.qualified));
            qualified = Chains::of(&tools, |listed| listed.hashes.qualified);
        }
        let bare = Chains::of(&tools, |listed| listed.hashes.bare);
        Self { revision, hasher, parts, servers, tools, qualified, bare, clashes }
    }

    /// Goes up with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// All tools that are shown, in order.
    pub fn tools(&self) -> &[Arc<CatalogTool>] {
        &self.tools
    }

    /// The names of the servers, in configured order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        // The first part is the application's own.
        self.parts.iter().filter(|part| part.slot.is_some()).map(|part| &*part.server)
    }

    /// The tool the model knows by this name.
    pub fn get(&self, name: &str) -> Option<&Arc<CatalogTool>> {
        let mut at = self.qualified.first(self.hasher.hash_one(name));
        while let Some(listed) = self.tools.get(at as usize) {
            if *listed.qualified == *name {
                return Some(listed);
            }
            at = self.qualified.next[at as usize];
        }
        None
    }

    /// The tool of this name: the one the model knows it by, or the one its server has for it.
    pub fn find(&self, name: &str) -> Option<Found> {
        if let Some(listed) = self.get(name) {
            return Some(Found { tool: Arc::clone(listed), others: Vec::new() });
        }
        let mut at = self.bare.first(self.hasher.hash_one(name));
        let mut found: Option<Found> = None;
        while let Some(listed) = self.tools.get(at as usize) {
            if listed.tool.name == name {
                match &mut found {
                    None => found = Some(Found { tool: Arc::clone(listed), others: Vec::new() }),
                    Some(found) => found.others.push(Arc::clone(&listed.server)),
                }
            }
            at = self.bare.next[at as usize];
        }
        found
    }

    /// A tool of a server under the server's own name for it, withheld or not.
    pub(crate) fn of_part<'a>(&self, part: &'a Part, tool: &str) -> Option<&'a Arc<CatalogTool>> {
        part.list.by_name(&self.hasher, tool)
    }

    pub(crate) fn part(&self, server: &str) -> Option<&Arc<Part>> {
        self.parts.get(*self.servers.get(server)? as usize)
    }

    /// Why a tool is withheld, if it is.
    pub(crate) fn withheld<'a>(&'a self, listed: &'a CatalogTool) -> Option<&'a Withheld> {
        listed.withheld.as_ref().or_else(|| {
            // Hardly ever is there one at all.
            if self.clashes.is_empty() { None } else { self.clashes.get(&listed.qualified) }
        })
    }
}

impl Chains {
    fn of(tools: &[Arc<CatalogTool>], hash: impl Fn(&CatalogTool) -> u64) -> Self {
        let mut chains = Self { first: HashMap::default(), next: vec![END; tools.len()] };
        chains.first.reserve(tools.len());
        // From the back, so that the first of a chain is the first in order.
        for (at, listed) in tools.iter().enumerate().rev() {
            let place = u32::try_from(at).expect("a catalogue has fifty thousand tools at most");
            chains.next[at] = chains.first.insert(hash(listed), place).unwrap_or(END);
        }
        chains
    }

    fn first(&self, hash: u64) -> u32 {
        self.first.get(&hash).copied().unwrap_or(END)
    }
}

/// The names that stand for more than one tool.
fn clashes(tools: &[Arc<CatalogTool>], chains: &Chains) -> HashMap<Arc<str>, Withheld> {
    let mut clashes: HashMap<Arc<str>, Vec<(Arc<str>, String)>> = HashMap::new();
    for (at, listed) in tools.iter().enumerate() {
        let mut next = chains.next[at];
        while let Some(other) = tools.get(next as usize) {
            if other.qualified == listed.qualified {
                let pairs = clashes.entry(Arc::clone(&listed.qualified)).or_default();
                for one in [listed, other] {
                    let pair = (Arc::clone(&one.server), one.tool.name.clone());
                    if !pairs.contains(&pair) {
                        pairs.push(pair);
                    }
                }
            }
            next = chains.next[next as usize];
        }
    }
    clashes.into_iter().map(|(name, with)| (name, Withheld::Clash { with })).collect()
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog")
            .field("revision", &self.revision)
            .field("servers", &self.parts.len())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
