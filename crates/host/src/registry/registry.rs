//! The registry: the only code that changes the catalog. Readers take a snapshot and never wait for a change.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use switchboard_protocol::Tool;
use switchboard_session::client;

use crate::config::ConsentScreen;
use crate::event::{Drift, EventSender, HostEvent, ToolsChanged};
use crate::local_tool::LocalTool;
use crate::permission::definition_text;
use crate::registry::catalog::Catalog;
use crate::registry::catalog_part::{CatalogPart, ListDefects, NameHasher, ToolList, ToolListBuilder};
use crate::registry::catalog_tool::{CallTarget, CatalogTool};
use crate::registry::definition_change::DefinitionChange;
use crate::registry::name::NameLimit;
use crate::registry::pin::{DriftPolicy, PinCheck, Pins};
use crate::registry::rule::ToolRules;
use crate::registry::server_lists::ServerLists;
use crate::slot::{Slot, Switch};

/// The limit of servers per host.
pub(crate) const MAX_SERVERS: usize = 256;
/// The limit of tools per host.
pub(crate) const MAX_TOOLS: usize = 50_000;
/// The id of the part with the application's tools.
const LOCAL_PART_ID: u64 = 0;
/// The server name of the application's tools.
pub(crate) const LOCAL_SERVER_NAME: &str = "(application)";

/// Publishes a new catalog for every change.
pub(crate) struct Registry {
    // Held while a catalog is built, never across an await; readers do not take it.
    state: Mutex<RegistryState>,
    current: RwLock<Arc<Catalog>>,
    /// The revision of the current catalog, or the one before while it is being published.
    revision: AtomicU64,
    events: EventSender,
    hasher: NameHasher,
    name_limit: NameLimit,
    drift_policy: DriftPolicy,
}

struct RegistryState {
    revision: u64,
    parts: Vec<Arc<CatalogPart>>,
    pins: Pins,
    /// Tools denied at run time, by server; also for servers that do not exist yet.
    denied: HashMap<String, Vec<Arc<str>>>,
}

/// Whether a new list differs from the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListChange {
    Unchanged,
    Changed,
}

impl Registry {
    pub(crate) fn new(
        events: EventSender,
        name_limit: NameLimit,
        drift_policy: DriftPolicy,
        pins: Pins,
    ) -> Self {
        let hasher = NameHasher::default();
        let own = CatalogPart {
            server: LOCAL_SERVER_NAME.into(),
            id: LOCAL_PART_ID,
            slot: None,
            switch: Switch::On,
            rules: ToolRules::default(),
            list: Arc::default(),
            lists: Arc::default(),
        };
        let parts = vec![Arc::new(own)];
        let current = RwLock::new(Arc::new(Catalog::new(0, parts.clone(), hasher.clone())));
        let state = RegistryState { revision: 0, parts, pins, denied: HashMap::new() };
        let revision = AtomicU64::new(0);
        Self { state: Mutex::new(state), current, revision, events, hasher, name_limit, drift_policy }
    }

    /// Returns a revision that is not newer than the catalog.
    #[inline]
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Returns whether tools whose definitions have changed are withheld.
    pub(crate) fn withholds_changed(&self) -> bool {
        self.drift_policy == DriftPolicy::Withhold
    }

    /// Returns the current catalog.
    pub(crate) fn snapshot(&self) -> Arc<Catalog> {
        Arc::clone(&self.current.read())
    }

    /// Returns the pinned definitions. Their texts are computed here, so a host whose pins are not used does not pay for
    /// them.
    pub(crate) fn pins(&self) -> Pins {
        let mut state = self.state.lock();
        let RegistryState { parts, pins, .. } = &mut *state;
        parts.iter().for_each(|part| store_texts(pins, part, |_| true));
        pins.clone()
    }

    /// Sets the servers, in order. Existing ones keep their tools. `listed` is a new server with its list, so that no
    /// catalog has it without its tools.
    pub(crate) fn set_servers(&self, slots: &[Arc<Slot>], listed: Option<(&Arc<Slot>, &client::List<Tool>)>) {
        let mut state = self.state.lock();
        let mut old: HashMap<u64, Arc<CatalogPart>> =
            state.parts.drain(..).map(|part| (part.id, part)).collect();
        let own = old.remove(&LOCAL_PART_ID).expect("the application's part is never removed");
        let mut parts = vec![own];
        for slot in slots {
            let kept = old.remove(&slot.id);
            parts.push(kept.unwrap_or_else(|| {
                let mut rules = ToolRules::new(&slot.spec.allow_tools, &slot.spec.deny_tools);
                if let Some(denied) = state.denied.get(&*slot.name) {
                    rules.set_denied(denied.iter().cloned());
                }
                let (server, switch) = (Arc::clone(&slot.name), slot.switch());
                let (id, slot) = (slot.id, Some(Arc::clone(slot)));
                let (list, lists) = (Arc::default(), Arc::default());
                Arc::new(CatalogPart { server, id, slot, switch, rules, list, lists })
            }));
        }
        state.parts = parts;
        if let Some((slot, listing)) = listed {
            let tools = listing.iter().map(|tool| (tool, CallTarget::Server(Arc::clone(slot))));
            let defects = ListDefects { rejected: &listing.rejected, cut: listing.cut.clone() };
            self.update_part(&mut state, slot.id, tools, defects);
        }
        old.values().for_each(|removed| store_texts(&mut state.pins, removed, |_| true));
        let changes = old.into_values().filter_map(|removed| diff_parts(Some(&removed), None)).collect();
        self.publish(&mut state, changes);
    }

    /// Sets the tools of a server.
    pub(crate) fn set_tools(&self, slot: &Arc<Slot>, tools: &[Tool], defects: ListDefects<'_>) -> ListChange {
        let tools = tools.iter().map(|tool| (tool, CallTarget::Server(Arc::clone(slot))));
        self.update_part(&mut self.state.lock(), slot.id, tools, defects)
    }

    fn update_part<'t>(
        &self,
        state: &mut RegistryState,
        id: u64,
        tools: impl Iterator<Item = (&'t Tool, CallTarget)>,
        defects: ListDefects<'_>,
    ) -> ListChange {
        let Some(at) = state.parts.iter().position(|part| part.id == id) else {
            return ListChange::Unchanged;
        };
        let old = Arc::clone(&state.parts[at]);
        let list_builder = self.list_builder(&state.parts, &old);
        let mut drifts = Vec::new();
        let pins = &mut state.pins;
        let list = list_builder.build(&old.list, tools, defects, |tool, digest| {
            // Tools of the application are not pinned.
            if id == LOCAL_PART_ID || pins.check(&old.server, &tool.name, digest) != PinCheck::Drifted {
                return false;
            }
            let known = old.list.by_name(&self.hasher, &tool.name);
            if known.is_none_or(|known| known.digest != digest) {
                known.iter().for_each(|known| pins.store_text(&old.server, &known.tool, known.digest));
                drifts.push(Drift { server: Arc::clone(&old.server), tool: tool.name.clone() });
            }
            self.withholds_changed()
        });
        if is_unchanged(&old.list, &list) {
            return ListChange::Unchanged;
        }
        store_texts(&mut state.pins, &old, |listed| list.by_name(&self.hasher, &listed.tool.name).is_none());
        for rejected in &list.rejected {
            let (tool, reason) = (rejected.name.as_deref(), rejected.error.to_string());
            tracing::warn!(server = %old.server, tool, reason, "invalid tool skipped");
        }
        if !list.unmatched_rules.is_empty() && list.unmatched_rules != old.list.unmatched_rules {
            let (server, rules) = (Arc::clone(&old.server), list.unmatched_rules.clone());
            self.events.send(HostEvent::UnmatchedRules { server, rules });
        }
        self.replace(state, at, CatalogPart { list: Arc::new(list), ..(*old).clone() });
        for drift in drifts {
            tracing::warn!(server = %drift.server, tool = drift.tool, "tool definition changed since it was pinned");
            self.events.send(HostEvent::Drift(drift));
        }
        ListChange::Changed
    }

    /// Changes the prompts, resources and templates of a server.
    pub(crate) fn change_lists(&self, id: u64, change: impl FnOnce(&mut ServerLists)) -> ListChange {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| part.id == id) else {
            return ListChange::Unchanged;
        };
        let old = Arc::clone(&state.parts[at]);
        let mut lists = (*old.lists).clone();
        change(&mut lists);
        if lists == *old.lists {
            return ListChange::Unchanged;
        }
        self.replace(&mut state, at, CatalogPart { lists: Arc::new(lists), ..(*old).clone() });
        ListChange::Changed
    }

    /// Removes the tools and other lists of a server after its grace period.
    pub(crate) fn remove_tools(&self, id: u64) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| part.id == id) else { return };
        let part = Arc::clone(&state.parts[at]);
        store_texts(&mut state.pins, &part, |_| true);
        let (list, lists) = (Arc::default(), Arc::default());
        self.replace(&mut state, at, CatalogPart { list, lists, ..(*part).clone() });
    }

    /// Shows or hides the tools of a server.
    pub(crate) fn switch(&self, id: u64, switch: Switch) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| part.id == id) else { return };
        let part = CatalogPart { switch, ..(*state.parts[at]).clone() };
        self.replace(&mut state, at, part);
    }

    /// Replaces the tools of a server that are denied at run time; returns the patterns that match none of its tools.
    pub(crate) fn set_denied(&self, server: &str, tools: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let mut state = self.state.lock();
        state.denied.insert(server.to_owned(), tools.clone());
        let Some(at) =
            state.parts.iter().position(|part| *part.server == *server && part.id != LOCAL_PART_ID)
        else {
            return tools;
        };
        let mut part = (*state.parts[at]).clone();
        part.rules.set_denied(tools.iter().cloned());
        let list = self.rebuild_list(&state, &part);
        let idle = list.unmatched_rules.iter().filter(|rule| tools.contains(rule)).cloned().collect();
        part.list = Arc::new(list);
        self.replace(&mut state, at, part);
        idle
    }

    /// Returns whether a listed definition differs from the pinned one.
    pub(crate) fn has_drifted(&self, server: &str, tool: &str) -> bool {
        self.drifted(&self.state.lock(), server, tool).is_some()
    }

    /// Returns the tools whose listed definition differs from the pinned one.
    pub(crate) fn drifted_tools(&self) -> Vec<Drift> {
        let state = self.state.lock();
        let of_part = |part: &Arc<CatalogPart>| {
            let differs = |listed: &&Arc<CatalogTool>| {
                state.pins.differs(&part.server, &listed.tool.name, listed.digest)
            };
            let drift = |listed: &Arc<CatalogTool>| Drift {
                server: Arc::clone(&part.server),
                tool: listed.tool.name.clone(),
            };
            part.list.tools.iter().filter(differs).map(drift).collect::<Vec<_>>()
        };
        state.parts.iter().filter(|part| part.id != LOCAL_PART_ID).flat_map(of_part).collect()
    }

    /// Returns the pinned and the listed definition of a tool, if they differ.
    pub(crate) fn definition_change(&self, server: &str, tool: &str) -> Option<DefinitionChange> {
        let state = self.state.lock();
        let listed = self.drifted(&state, server, tool)?;
        let before_json = state.pins.text(server, tool).map(str::to_owned);
        let now_json = definition_text(&listed.tool);
        Some(DefinitionChange {
            before: before_json.as_deref().map(ConsentScreen::of_definition),
            now: ConsentScreen::of_definition(&now_json),
            before_json,
            now_json,
        })
    }

    /// Returns a tool whose listed definition differs from the pinned one.
    fn drifted(&self, state: &RegistryState, server: &str, tool: &str) -> Option<Arc<CatalogTool>> {
        let part = state.parts.iter().find(|part| *part.server == *server && part.id != LOCAL_PART_ID)?;
        let listed = part.list.by_name(&self.hasher, tool)?;
        state.pins.differs(server, tool, listed.digest).then(|| Arc::clone(listed))
    }

    /// Accepts the current definitions of the tools of a server that `is_accepted` selects.
    pub(crate) fn accept(&self, server: &str, is_accepted: impl Fn(&Tool) -> bool) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| *part.server == *server) else { return };
        let old = Arc::clone(&state.parts[at]);
        let mut accepted = old.list.tools.iter().filter(|listed| is_accepted(&listed.tool)).peekable();
        if accepted.peek().is_none() {
            return;
        }
        for listed in accepted {
            state.pins.pin(server, &listed.tool.name, listed.digest);
        }
        let list = Arc::new(self.rebuild_list(&state, &old));
        self.replace(&mut state, at, CatalogPart { list, ..(*old).clone() });
    }

    /// Adopts stored pins: those that were accepted or removed since. The current definition of a tool without a pin is
    /// accepted.
    pub(crate) fn adopt_pins(&self, stored: &Pins) {
        let mut state = self.state.lock();
        let mut pins = stored.clone();
        for part in state.parts.iter().filter(|part| part.id != LOCAL_PART_ID) {
            for listed in part.list.tools.iter().filter(|listed| !stored.has(&part.server, &listed.tool.name))
            {
                pins.pin(&part.server, &listed.tool.name, listed.digest);
            }
        }
        state.pins = pins;
        for at in 0..state.parts.len() {
            let old = Arc::clone(&state.parts[at]);
            let list = self.rebuild_list(&state, &old);
            if old.id != LOCAL_PART_ID && !is_unchanged(&old.list, &list) {
                self.replace(&mut state, at, CatalogPart { list: Arc::new(list), ..(*old).clone() });
            }
        }
    }

    /// Adds tools of the application; replaces those of the same name.
    pub(crate) fn add_local_tools(&self, tools: impl IntoIterator<Item = Arc<dyn LocalTool>>) {
        let added: Vec<(Tool, CallTarget)> =
            tools.into_iter().map(|own| (own.definition(), CallTarget::Local(own))).collect();
        self.change_local_tools(|kept| {
            kept.retain(|(tool, _)| added.iter().all(|(new, _)| new.name != tool.name));
            kept.extend(added);
        });
    }

    /// Removes a tool of the application.
    pub(crate) fn remove_local_tool(&self, name: &str) {
        self.change_local_tools(|kept| kept.retain(|(tool, _)| tool.name != name));
    }

    fn change_local_tools(&self, change: impl FnOnce(&mut Vec<(Tool, CallTarget)>)) {
        let mut state = self.state.lock();
        let own = state.parts.iter().find(|part| part.id == LOCAL_PART_ID).map(|part| Arc::clone(&part.list));
        let own = own.unwrap_or_default();
        let mut tools: Vec<(Tool, CallTarget)> =
            own.tools.iter().map(|listed| (listed.tool.clone(), listed.target.clone())).collect();
        change(&mut tools);
        let tools = tools.iter().map(|(tool, target)| (tool, target.clone()));
        self.update_part(&mut state, LOCAL_PART_ID, tools, ListDefects::default());
    }

    fn list_builder<'a>(&'a self, parts: &[Arc<CatalogPart>], part: &'a CatalogPart) -> ToolListBuilder<'a> {
        let others = parts.iter().filter(|other| other.id != part.id);
        let taken: usize = others.map(|other| other.list.shown.len()).sum();
        ToolListBuilder {
            server: &part.server,
            rules: &part.rules,
            name_limit: self.name_limit,
            hasher: &self.hasher,
            remaining: MAX_TOOLS.saturating_sub(taken),
            max_tools: MAX_TOOLS,
        }
    }

    /// Builds the list of a part with the current rules and pins.
    fn rebuild_list(&self, state: &RegistryState, part: &CatalogPart) -> ToolList {
        let list_builder = self.list_builder(&state.parts, part);
        list_builder.rebuild(&part.list, |listed: &CatalogTool| {
            self.withholds_changed()
                && !matches!(listed.target, CallTarget::Local(_))
                && state.pins.differs(&part.server, &listed.tool.name, listed.digest)
        })
    }

    fn replace(&self, state: &mut RegistryState, at: usize, part: CatalogPart) {
        let part = Arc::new(part);
        let old = std::mem::replace(&mut state.parts[at], Arc::clone(&part));
        let changes = diff_parts(Some(&old), Some(&part)).into_iter().collect();
        self.publish(state, changes);
    }

    fn publish(&self, state: &mut RegistryState, changes: Vec<ToolsChanged>) {
        state.revision += 1;
        let catalog = Arc::new(Catalog::new(state.revision, state.parts.clone(), self.hasher.clone()));
        let old = std::mem::replace(&mut *self.current.write(), Arc::clone(&catalog));
        self.revision.store(state.revision, Ordering::Release);
        for mut change in changes {
            change.revision = state.revision;
            self.events.send(HostEvent::Tools(Arc::new(change)));
        }
        self.announce_lists(&old, &catalog);
    }

    /// Sends an event for each server whose visible prompts, or resources and templates, have changed.
    fn announce_lists(&self, old: &Catalog, new: &Catalog) {
        let empty = Arc::default();
        let before: HashMap<&Arc<str>, &Arc<ServerLists>> = old.lists().collect();
        let after: HashMap<&Arc<str>, &Arc<ServerLists>> = new.lists().collect();
        let removed = old.lists().filter(|(server, _)| !after.contains_key(server));
        let pairs =
            new.lists().map(|(server, lists)| (server, *before.get(server).unwrap_or(&&empty), lists));
        for (server, before, now) in pairs.chain(removed.map(|(server, lists)| (server, lists, &empty))) {
            if Arc::ptr_eq(before, now) {
                continue;
            }
            if before.prompts != now.prompts {
                self.events.send(HostEvent::Prompts { server: Arc::clone(server) });
            }
            if before.resources != now.resources || before.templates != now.templates {
                self.events.send(HostEvent::Resources { server: Arc::clone(server) });
            }
        }
    }
}

/// Stores the texts of pinned definitions, for a later comparison.
fn store_texts(pins: &mut Pins, part: &CatalogPart, which: impl Fn(&CatalogTool) -> bool) {
    // Tools of the application are not pinned.
    if part.id == LOCAL_PART_ID {
        return;
    }
    for listed in part.list.tools.iter().filter(|listed| which(listed)) {
        pins.store_text(&part.server, &listed.tool, listed.digest);
    }
}

/// Returns whether two lists are equal.
fn is_unchanged(old: &ToolList, new: &ToolList) -> bool {
    let same = |(old, new): (&Arc<CatalogTool>, &Arc<CatalogTool>)| Arc::ptr_eq(old, new);
    old.tools.len() == new.tools.len()
        && old.tools.iter().zip(&new.tools).all(same)
        && old.rejected == new.rejected
        && old.cut == new.cut
}

/// Returns the visible difference between two versions of a part.
fn diff_parts(old: Option<&Arc<CatalogPart>>, new: Option<&Arc<CatalogPart>>) -> Option<ToolsChanged> {
    fn visible_tools(part: Option<&Arc<CatalogPart>>) -> impl Iterator<Item = &Arc<CatalogTool>> {
        let on = part.filter(|part| part.switch == Switch::On);
        on.into_iter().flat_map(|part| &part.list.tools).filter(|listed| listed.withheld.is_none())
    }
    let before: HashMap<&str, &Arc<CatalogTool>> =
        visible_tools(old).map(|listed| (listed.tool.name.as_str(), listed)).collect();
    let after: HashMap<&str, &Arc<CatalogTool>> =
        visible_tools(new).map(|listed| (listed.tool.name.as_str(), listed)).collect();
    let name = |listed: &Arc<CatalogTool>| Arc::clone(&listed.qualified);
    let added = visible_tools(new)
        .filter(|listed| !before.contains_key(listed.tool.name.as_str()))
        .map(name)
        .collect();
    let removed = visible_tools(old)
        .filter(|listed| !after.contains_key(listed.tool.name.as_str()))
        .map(name)
        .collect();
    let is_other = |listed: &&Arc<CatalogTool>| {
        before.get(listed.tool.name.as_str()).is_some_and(|before| before.digest != listed.digest)
    };
    let changed = visible_tools(new).filter(is_other).map(name).collect();
    let server = Arc::clone(&new.or(old)?.server);
    let change = ToolsChanged { revision: 0, server, added, removed, changed };
    let is_any = !change.added.is_empty() || !change.removed.is_empty() || !change.changed.is_empty();
    is_any.then_some(change)
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("now", &self.current.read()).finish_non_exhaustive()
    }
}
