//! The one place where the catalogue changes. Readers take a snapshot and never wait for a change being made.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use switchboard_protocol::Tool;
use switchboard_session::client;

use crate::config::Consent;
use crate::event::{Announcer, Drift, Event, ToolsChanged};
use crate::local_tool::LocalTool;
use crate::permission::definition_text;
use crate::registry::catalog::Catalog;
use crate::registry::catalog_tool::{CatalogTool, Target};
use crate::registry::definition::DefinitionChange;
use crate::registry::part::{List, Maker, NameHasher, Naming, Part, Unread};
use crate::registry::pin::{OnDrift, Pinned, Pins};
use crate::registry::rule::Rules;
use crate::slot::{Slot, Switch};

/// Servers of one host.
pub(crate) const MOST_SERVERS: usize = 256;
/// Tools of one host.
pub(crate) const MOST_TOOLS: usize = 50_000;
/// The part of the application's own tools.
const OWN: u64 = 0;
/// What the application's own tools are listed under.
pub(crate) const OWN_NAME: &str = "(application)";

/// Makes one catalogue after another.
pub(crate) struct Registry {
    // Held while a catalogue is put together, never across an await; readers do not take it.
    state: Mutex<State>,
    now: RwLock<Arc<Catalog>>,
    events: Announcer,
    hasher: NameHasher,
    naming: Naming,
    on_drift: OnDrift,
}

struct State {
    revision: u64,
    parts: Vec<Arc<Part>>,
    pins: Pins,
    /// Tools denied while running, by server; kept for a server that is not there yet.
    denied: HashMap<String, Vec<Arc<str>>>,
}

/// Whether a list brought anything new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    Same,
    Changed,
}

impl Registry {
    pub(crate) fn new(events: Announcer, naming: Naming, on_drift: OnDrift, pins: Pins) -> Self {
        let hasher = NameHasher::default();
        let own = Part {
            server: OWN_NAME.into(),
            id: OWN,
            slot: None,
            switch: Switch::On,
            rules: Rules::default(),
            list: Arc::default(),
        };
        let parts = vec![Arc::new(own)];
        let now = RwLock::new(Arc::new(Catalog::new(0, parts.clone(), hasher.clone())));
        let state = State { revision: 0, parts, pins, denied: HashMap::new() };
        Self { state: Mutex::new(state), now, events, hasher, naming, on_drift }
    }

    /// The catalogue of now.
    pub(crate) fn snapshot(&self) -> Arc<Catalog> {
        Arc::clone(&self.now.read())
    }

    /// Definitions as they were first seen. Their texts are made here: a host whose pins nobody takes spends nothing on
    /// them.
    pub(crate) fn pins(&self) -> Pins {
        let mut state = self.state.lock();
        let State { parts, pins, .. } = &mut *state;
        parts.iter().for_each(|part| keep_texts(pins, part, |_| true));
        pins.clone()
    }

    /// Sets which servers there are, in order. What stays keeps its tools; a new one may bring what it has listed, so
    /// that no catalogue has it without its tools.
    pub(crate) fn place(&self, slots: &[Arc<Slot>], listed: Option<(&Arc<Slot>, &client::List<Tool>)>) {
        let mut state = self.state.lock();
        let mut old: HashMap<u64, Arc<Part>> = state.parts.drain(..).map(|part| (part.id, part)).collect();
        let own = old.remove(&OWN).expect("the application's own part is never taken out");
        let mut parts = vec![own];
        for slot in slots {
            let kept = old.remove(&slot.id);
            parts.push(kept.unwrap_or_else(|| {
                let mut rules = Rules::new(&slot.spec.allow_tools, &slot.spec.deny_tools);
                if let Some(denied) = state.denied.get(&*slot.name) {
                    rules.set_denied(denied.iter().cloned());
                }
                let (server, switch) = (Arc::clone(&slot.name), slot.switch());
                let (id, slot) = (slot.id, Some(Arc::clone(slot)));
                Arc::new(Part { server, id, slot, switch, rules, list: Arc::default() })
            }));
        }
        state.parts = parts;
        if let Some((slot, listing)) = listed {
            let tools = listing.iter().map(|tool| (tool, Target::Server(Arc::clone(slot))));
            let unread = Unread { rejected: &listing.rejected, cut: listing.cut.clone() };
            self.take_in(&mut state, slot.id, tools, unread);
        }
        old.values().for_each(|gone| keep_texts(&mut state.pins, gone, |_| true));
        let changes = old.into_values().filter_map(|gone| changed(Some(&gone), None)).collect();
        self.publish(&mut state, changes);
    }

    /// Takes in what a server listed.
    pub(crate) fn list(&self, slot: &Arc<Slot>, tools: &[Tool], unread: Unread<'_>) -> Novelty {
        let tools = tools.iter().map(|tool| (tool, Target::Server(Arc::clone(slot))));
        self.take_in(&mut self.state.lock(), slot.id, tools, unread)
    }

    fn take_in<'t>(
        &self,
        state: &mut State,
        id: u64,
        tools: impl Iterator<Item = (&'t Tool, Target)>,
        unread: Unread<'_>,
    ) -> Novelty {
        let Some(at) = state.parts.iter().position(|part| part.id == id) else { return Novelty::Same };
        let old = Arc::clone(&state.parts[at]);
        let maker = self.maker(&state.parts, &old);
        let mut drifts = Vec::new();
        let pins = &mut state.pins;
        let list = maker.list(&old.list, tools, unread, |tool, digest| {
            // The application trusts itself.
            if id == OWN || pins.check(&old.server, &tool.name, digest) != Pinned::Drifted {
                return false;
            }
            let known = old.list.by_name(&self.hasher, &tool.name);
            if known.is_none_or(|known| known.digest != digest) {
                known.iter().for_each(|known| pins.keep_text(&old.server, &known.tool, known.digest));
                drifts.push(Drift { server: Arc::clone(&old.server), tool: tool.name.clone() });
            }
            self.on_drift == OnDrift::Withhold
        });
        if alike(&old.list, &list) {
            return Novelty::Same;
        }
        keep_texts(&mut state.pins, &old, |listed| list.by_name(&self.hasher, &listed.tool.name).is_none());
        for rejected in &list.rejected {
            let (tool, reason) = (rejected.name.as_deref(), rejected.error.to_string());
            tracing::warn!(server = %old.server, tool, reason, "a tool was left out of the catalogue");
        }
        if !list.idle_rules.is_empty() && list.idle_rules != old.list.idle_rules {
            let (server, rules) = (Arc::clone(&old.server), list.idle_rules.clone());
            self.events.tell(Event::IdleRules { server, rules });
        }
        self.replace(state, at, Part { list: Arc::new(list), ..(*old).clone() });
        for drift in drifts {
            tracing::warn!(server = %drift.server, tool = drift.tool, "a tool's definition has changed");
            self.events.tell(Event::Drift(drift));
        }
        Novelty::Changed
    }

    /// Takes the tools of a server out that has been away too long.
    pub(crate) fn forget(&self, id: u64) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| part.id == id) else { return };
        let part = Arc::clone(&state.parts[at]);
        keep_texts(&mut state.pins, &part, |_| true);
        self.replace(&mut state, at, Part { list: Arc::default(), ..(*part).clone() });
    }

    /// Shows the tools of a server, or does not.
    pub(crate) fn switch(&self, id: u64, switch: Switch) {
        self.change(id, |part| Part { switch, ..part });
    }

    /// Denies these tools of a server, and no others; gives back those that match nothing it lists.
    pub(crate) fn set_denied(&self, server: &str, tools: Vec<Arc<str>>) -> Vec<Arc<str>> {
        let mut state = self.state.lock();
        state.denied.insert(server.to_owned(), tools.clone());
        let Some(at) = state.parts.iter().position(|part| *part.server == *server && part.id != OWN) else {
            return tools;
        };
        let mut part = (*state.parts[at]).clone();
        part.rules.set_denied(tools.iter().cloned());
        let list = self.relist(&state, &part);
        let idle = list.idle_rules.iter().filter(|rule| tools.contains(rule)).cloned().collect();
        part.list = Arc::new(list);
        self.replace(&mut state, at, part);
        idle
    }

    /// Whether a tool is listed with another definition than the pinned one.
    pub(crate) fn has_drifted(&self, server: &str, tool: &str) -> bool {
        self.drifted(&self.state.lock(), server, tool).is_some()
    }

    /// How a listed definition differs from the pinned one.
    pub(crate) fn definition_change(&self, server: &str, tool: &str) -> Option<DefinitionChange> {
        let state = self.state.lock();
        let listed = self.drifted(&state, server, tool)?;
        let before = state.pins.text(server, tool).map(Consent::of_definition);
        Some(DefinitionChange { before, now: Consent::of_definition(&definition_text(&listed.tool)) })
    }

    /// The tool of a server, if it is listed with another definition than the pinned one.
    fn drifted(&self, state: &State, server: &str, tool: &str) -> Option<Arc<CatalogTool>> {
        let part = state.parts.iter().find(|part| *part.server == *server && part.id != OWN)?;
        let listed = part.list.by_name(&self.hasher, tool)?;
        state.pins.differs(server, tool, listed.digest).then(|| Arc::clone(listed))
    }

    /// Accepts the current definition of one tool.
    pub(crate) fn accept_tool(&self, server: &str, tool: &str) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| *part.server == *server) else { return };
        let old = Arc::clone(&state.parts[at]);
        let Some(listed) = old.list.by_name(&self.hasher, tool) else { return };
        state.pins.pin(server, tool, listed.digest);
        let list = Arc::new(self.relist(&state, &old));
        self.replace(&mut state, at, Part { list, ..(*old).clone() });
    }

    /// Accepts the definitions of a server as they are now.
    pub(crate) fn accept(&self, server: &str) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| *part.server == *server) else { return };
        let old = Arc::clone(&state.parts[at]);
        for listed in &old.list.tools {
            state.pins.pin(server, &listed.tool.name, listed.digest);
        }
        let list = Arc::new(self.relist(&state, &old));
        self.replace(&mut state, at, Part { list, ..(*old).clone() });
    }

    /// Puts the application's own tools into the catalogue; one of the same name gives way.
    pub(crate) fn add_own(&self, tools: impl IntoIterator<Item = Arc<dyn LocalTool>>) {
        let added: Vec<(Tool, Target)> =
            tools.into_iter().map(|own| (own.definition(), Target::Local(own))).collect();
        self.change_own(|kept| {
            kept.retain(|(tool, _)| added.iter().all(|(new, _)| new.name != tool.name));
            kept.extend(added);
        });
    }

    /// Takes one of the application's own tools out.
    pub(crate) fn remove_own(&self, name: &str) {
        self.change_own(|kept| kept.retain(|(tool, _)| tool.name != name));
    }

    fn change_own(&self, change: impl FnOnce(&mut Vec<(Tool, Target)>)) {
        let mut state = self.state.lock();
        let own = state.parts.iter().find(|part| part.id == OWN).map(|part| Arc::clone(&part.list));
        let own = own.unwrap_or_default();
        let mut tools: Vec<(Tool, Target)> =
            own.tools.iter().map(|listed| (listed.tool.clone(), listed.target.clone())).collect();
        change(&mut tools);
        let tools = tools.iter().map(|(tool, target)| (tool, target.clone()));
        self.take_in(&mut state, OWN, tools, Unread::default());
    }

    fn change(&self, id: u64, change: impl FnOnce(Part) -> Part) {
        let mut state = self.state.lock();
        let Some(at) = state.parts.iter().position(|part| part.id == id) else { return };
        let part = change((*state.parts[at]).clone());
        self.replace(&mut state, at, part);
    }

    fn maker<'a>(&'a self, parts: &[Arc<Part>], part: &'a Part) -> Maker<'a> {
        let others = parts.iter().filter(|other| other.id != part.id);
        let taken: usize = others.map(|other| other.list.shown.len()).sum();
        Maker {
            server: &part.server,
            rules: &part.rules,
            naming: self.naming,
            hasher: &self.hasher,
            room: MOST_TOOLS.saturating_sub(taken),
            most: MOST_TOOLS,
        }
    }

    /// The list of a part under its rules and pins of now.
    fn relist(&self, state: &State, part: &Part) -> List {
        let maker = self.maker(&state.parts, part);
        maker.again(&part.list, |listed: &CatalogTool| {
            self.on_drift == OnDrift::Withhold
                && !matches!(listed.target, Target::Local(_))
                && state.pins.differs(&part.server, &listed.tool.name, listed.digest)
        })
    }

    fn replace(&self, state: &mut State, at: usize, part: Part) {
        let part = Arc::new(part);
        let old = std::mem::replace(&mut state.parts[at], Arc::clone(&part));
        let changes = changed(Some(&old), Some(&part)).into_iter().collect();
        self.publish(state, changes);
    }

    fn publish(&self, state: &mut State, changes: Vec<ToolsChanged>) {
        state.revision += 1;
        let catalog = Arc::new(Catalog::new(state.revision, state.parts.clone(), self.hasher.clone()));
        *self.now.write() = catalog;
        for mut change in changes {
            change.revision = state.revision;
            self.events.tell(Event::Tools(Arc::new(change)));
        }
    }
}

/// Keeps the texts of these tools, where they are what is pinned: their definitions may be compared with others later.
fn keep_texts(pins: &mut Pins, part: &Part, which: impl Fn(&CatalogTool) -> bool) {
    // The application trusts itself.
    if part.id == OWN {
        return;
    }
    for listed in part.list.tools.iter().filter(|listed| which(listed)) {
        pins.keep_text(&part.server, &listed.tool, listed.digest);
    }
}

/// Whether two lists say the same.
fn alike(old: &List, new: &List) -> bool {
    let same = |(old, new): (&Arc<CatalogTool>, &Arc<CatalogTool>)| Arc::ptr_eq(old, new);
    old.tools.len() == new.tools.len()
        && old.tools.iter().zip(&new.tools).all(same)
        && old.rejected == new.rejected
        && old.cut == new.cut
}

/// What a change of one part means for whoever sees the catalogue.
fn changed(old: Option<&Arc<Part>>, new: Option<&Arc<Part>>) -> Option<ToolsChanged> {
    fn shown(part: Option<&Arc<Part>>) -> impl Iterator<Item = &Arc<CatalogTool>> {
        let on = part.filter(|part| part.switch == Switch::On);
        on.into_iter().flat_map(|part| &part.list.tools).filter(|listed| listed.withheld.is_none())
    }
    let before: HashMap<&str, &Arc<CatalogTool>> =
        shown(old).map(|listed| (listed.tool.name.as_str(), listed)).collect();
    let after: HashMap<&str, &Arc<CatalogTool>> =
        shown(new).map(|listed| (listed.tool.name.as_str(), listed)).collect();
    let name = |listed: &Arc<CatalogTool>| Arc::clone(&listed.qualified);
    let added =
        shown(new).filter(|listed| !before.contains_key(listed.tool.name.as_str())).map(name).collect();
    let removed =
        shown(old).filter(|listed| !after.contains_key(listed.tool.name.as_str())).map(name).collect();
    let is_other = |listed: &&Arc<CatalogTool>| {
        before.get(listed.tool.name.as_str()).is_some_and(|before| before.digest != listed.digest)
    };
    let changed = shown(new).filter(is_other).map(name).collect();
    let server = Arc::clone(&new.or(old)?.server);
    let change = ToolsChanged { revision: 0, server, added, removed, changed };
    let is_any = !change.added.is_empty() || !change.removed.is_empty() || !change.changed.is_empty();
    is_any.then_some(change)
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("now", &self.now.read()).finish_non_exhaustive()
    }
}
