//! Immutable snapshot of all tools.
//!
//! Invariant: tools are ordered by configured server, then by the server's own list; the order does not depend on which
//! server connected first.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use crate::registry::catalog_part::{CatalogPart, NameHasher};
use crate::registry::catalog_tool::CatalogTool;
use crate::registry::rule::WithheldReason;
use crate::registry::server_listing::ServerListing;
use crate::registry::server_lists::ServerLists;
use crate::slot::Switch;

/// The end of a chain.
const END: u32 = u32::MAX;

/// A snapshot of all tools.
///
/// ```
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let catalog = host.catalog();
/// assert!(catalog.get("mcp__sums__add").is_some());
/// assert!(catalog.find("add").is_some_and(|found| found.others.is_empty()));
///
/// host.disconnect("sums").await?;
/// assert!(catalog.get("mcp__sums__add").is_some()); // a snapshot does not change
/// assert!(host.catalog().revision() > catalog.revision());
/// # demo::done() });
/// ```
pub struct Catalog {
    revision: u64,
    hasher: NameHasher,
    pub(crate) parts: Vec<Arc<CatalogPart>>,
    servers: HashMap<Arc<str>, u32, NameHasher>,
    /// The tools that are not withheld.
    tools: Vec<Arc<CatalogTool>>,
    qualified: NameIndex,
    bare: NameIndex,
    /// Qualified names of several tools: all of these are withheld.
    clashes: HashMap<Arc<str>, WithheldReason>,
}

/// Index of tools by the hash of a name: the first tool of each hash, and the next tool with the same hash.
#[derive(Default)]
struct NameIndex {
    first: HashMap<u64, u32, foldhash::fast::FixedState>,
    next: Vec<u32>,
}

/// The result of looking up a tool by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolMatch {
    /// The tool; of several, the one of the first server in configured order.
    pub tool: Arc<CatalogTool>,
    /// The other servers that have a tool with this name.
    pub others: Vec<Arc<str>>,
}

impl Catalog {
    pub(crate) fn new(revision: u64, parts: Vec<Arc<CatalogPart>>, hasher: NameHasher) -> Self {
        let servers = parts.iter().zip(0..).map(|(part, at)| (Arc::clone(&part.server), at)).collect();
        let on = parts.iter().filter(|part| part.switch == Switch::On);
        let mut tools: Vec<Arc<CatalogTool>> =
            Vec::with_capacity(parts.iter().map(|p| p.list.tools.len()).sum());
        tools.extend(on.flat_map(|part| &part.list.tools).filter(|tool| tool.withheld.is_none()).cloned());
        let mut qualified = NameIndex::of(&tools, |tool| tool.hashes.qualified);
        let clashes = clashes(&tools, &qualified);
        if !clashes.is_empty() {
            tools.retain(|tool| !clashes.contains_key(&tool.qualified));
            qualified = NameIndex::of(&tools, |tool| tool.hashes.qualified);
        }
        let bare = NameIndex::of(&tools, |tool| tool.hashes.bare);
        Self { revision, hasher, parts, servers, tools, qualified, bare, clashes }
    }

    /// Returns the revision, which increases with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns all tools that are not withheld, in order.
    pub fn tools(&self) -> &[Arc<CatalogTool>] {
        &self.tools
    }

    /// Returns the names of the servers, in configured order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        // The first part has the application's tools.
        self.parts.iter().filter(|part| part.slot.is_some()).map(|part| &*part.server)
    }

    /// Returns the prompts, resources and templates of the enabled servers, in configured order.
    pub fn lists(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<ServerLists>)> {
        let enabled = |part: &&Arc<CatalogPart>| part.slot.is_some() && part.switch == Switch::On;
        self.parts.iter().filter(enabled).map(|part| (&part.server, &part.lists))
    }

    /// Returns what each server lists, shown or not, in configured order; first the tools of the application.
    pub fn listings(&self) -> impl Iterator<Item = ServerListing<'_>> {
        self.parts.iter().map(|part| ServerListing::new(self, part))
    }

    /// Returns what a server lists, shown or not.
    pub fn listing(&self, server: &str) -> Option<ServerListing<'_>> {
        Some(ServerListing::new(self, self.part(server)?))
    }

    /// Returns the tool with this qualified name.
    pub fn get(&self, name: &str) -> Option<&Arc<CatalogTool>> {
        let mut at = self.qualified.first(self.hasher.hash_one(name));
        while let Some(tool) = self.tools.get(at as usize) {
            if *tool.qualified == *name {
                return Some(tool);
            }
            at = self.qualified.next[at as usize];
        }
        None
    }

    /// Finds a tool by its qualified name, or else by its name on the server.
    pub fn find(&self, name: &str) -> Option<ToolMatch> {
        if let Some(tool) = self.get(name) {
            return Some(ToolMatch { tool: Arc::clone(tool), others: Vec::new() });
        }
        let mut at = self.bare.first(self.hasher.hash_one(name));
        let mut found: Option<ToolMatch> = None;
        while let Some(tool) = self.tools.get(at as usize) {
            if tool.tool.name == name {
                match &mut found {
                    None => found = Some(ToolMatch { tool: Arc::clone(tool), others: Vec::new() }),
                    Some(found) => found.others.push(Arc::clone(&tool.server)),
                }
            }
            at = self.bare.next[at as usize];
        }
        found
    }

    /// Returns a tool of a part by its name on the server, withheld or not.
    pub(crate) fn tool_of_part<'a>(&self, part: &'a CatalogPart, tool: &str) -> Option<&'a Arc<CatalogTool>> {
        part.list.by_name(&self.hasher, tool)
    }

    pub(crate) fn part(&self, server: &str) -> Option<&Arc<CatalogPart>> {
        self.parts.get(*self.servers.get(server)? as usize)
    }

    /// Returns why a tool is withheld, if it is.
    pub(crate) fn withheld<'a>(&'a self, tool: &'a CatalogTool) -> Option<&'a WithheldReason> {
        tool.withheld
            .as_ref()
            .or_else(|| if self.clashes.is_empty() { None } else { self.clashes.get(&tool.qualified) })
    }
}

impl NameIndex {
    fn of(tools: &[Arc<CatalogTool>], hash: impl Fn(&CatalogTool) -> u64) -> Self {
        let mut chains = Self { first: HashMap::default(), next: vec![END; tools.len()] };
        chains.first.reserve(tools.len());
        // In reverse, so that the first of a chain is the first in order.
        for (at, tool) in tools.iter().enumerate().rev() {
            let position = u32::try_from(at).expect("a catalog has at most fifty thousand tools");
            chains.next[at] = chains.first.insert(hash(tool), position).unwrap_or(END);
        }
        chains
    }

    fn first(&self, hash: u64) -> u32 {
        self.first.get(&hash).copied().unwrap_or(END)
    }
}

/// Returns the qualified names of more than one tool.
fn clashes(tools: &[Arc<CatalogTool>], chains: &NameIndex) -> HashMap<Arc<str>, WithheldReason> {
    let mut clashes: HashMap<Arc<str>, Vec<(Arc<str>, String)>> = HashMap::new();
    for (at, tool) in tools.iter().enumerate() {
        let mut next = chains.next[at];
        while let Some(other) = tools.get(next as usize) {
            if other.qualified == tool.qualified {
                let pairs = clashes.entry(Arc::clone(&tool.qualified)).or_default();
                for one in [tool, other] {
                    let pair = (Arc::clone(&one.server), one.tool.name.clone());
                    if !pairs.contains(&pair) {
                        pairs.push(pair);
                    }
                }
            }
            next = chains.next[next as usize];
        }
    }
    clashes.into_iter().map(|(name, with)| (name, WithheldReason::Clash { with })).collect()
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
