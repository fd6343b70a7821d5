//! The set of servers: which there are, in order, and how it changes.
//!
//! Invariants: no lock is held while anything is waited for; a server that is taken out of the set has no tools in the
//! catalogue from that moment on; a server that takes the place of another begins when that one has ended.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_protocol::Tool;
use switchboard_session::client::{HandlerCapabilities, List};
use tokio::task::JoinSet;

use crate::connection::{Running, Sentinel, SharedState};
use crate::error::HostError;
use crate::permission::{Gate, Known};
use crate::policy::CallSettings;
use crate::question_router::QuestionRouter;
use crate::registry::{Catalog, MOST_SERVERS, OWN_NAME, Unread};
use crate::report::{ServerInfo, ServerStatus, SetServers, Tools, Written};
use crate::server_spec::ServerSpec;
use crate::slot::{Outset, Slot};
use crate::status::Status;

/// What all handles of a host share.
pub(crate) struct Inner {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) settings: CallSettings,
    pub(crate) abilities: HandlerCapabilities,
    /// Decides about calls by the permissions of this host, if it has any.
    pub(crate) gate: Option<Arc<Gate>>,
    // Held to look or to change, never across an await.
    pub(crate) table: Mutex<Table>,
}

/// The round in which a slot is begun.
pub(crate) const FIRST: u64 = 1;

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// Servers that are being closed before another takes their place; owned here, so that they end with the host.
    pub(crate) chores: JoinSet<()>,
    /// Looks whether the machine has slept, while there are servers.
    pub(crate) sentinel: Option<Sentinel>,
    pub(crate) is_closed: bool,
}

/// One server of the set, or one that may join it.
pub(crate) struct Entry {
    pub(crate) running: Running,
    pub(crate) desired: ServerSpec,
}

impl Entry {
    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.running.slot
    }
}

impl Table {
    /// Whether a server of this name can be added to those there are; the problem when not.
    fn takes(&self, name: &str) -> Result<(), String> {
        check_name(name).map_err(|error| error.to_string())?;
        if self.is_closed {
            return Err(HostError::Closed.to_string());
        }
        if self.entries.iter().any(|entry| *entry.slot().name == *name) {
            return Err("the name stands twice; the first was taken".to_owned());
        }
        if self.entries.len() >= MOST_SERVERS {
            return Err(HostError::TooManyServers { most: MOST_SERVERS }.to_string());
        }
        Ok(())
    }
}

/// What changing the whole set came to, and what is still under way.
#[derive(Default)]
pub(crate) struct Changed {
    /// What is known at once.
    pub(crate) done: SetServers,
    /// Servers that start, and the round to wait for.
    pub(crate) started: Vec<(Arc<Slot>, u64)>,
    /// Servers that are being closed.
    pub(crate) closing: JoinSet<()>,
}

impl Inner {
    pub(crate) fn new(
        shared: Arc<SharedState>,
        settings: CallSettings,
        abilities: HandlerCapabilities,
        gate: Option<Arc<Gate>>,
    ) -> Self {
        Self { shared, settings, abilities, gate, table: Mutex::default() }
    }

    /// Puts one server into the set; one of the same name and description stays.
    pub(crate) fn add(&self, name: &str, desired: ServerSpec) -> Result<(Arc<Slot>, u64), HostError> {
        check_name(name)?;
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(HostError::Closed);
        }
        let at = table.entries.iter().position(|entry| *entry.slot().name == *name);
        if let Some(at) = at
            && table.entries[at].desired.is_same_server(&desired)
        {
            table.entries[at].desired = desired;
            self.publish_to_gate(&table);
            let slot = Arc::clone(table.entries[at].slot());
            let round = slot.start_again().unwrap_or(FIRST);
            return Ok((slot, round));
        }
        if at.is_none() && table.entries.len() >= MOST_SERVERS {
            return Err(HostError::TooManyServers { most: MOST_SERVERS });
        }
        let entry = self.entry(&mut table, name, desired);
        let slot = Arc::clone(entry.slot());
        let outset = entry.outset();
        let old = match at {
            Some(at) => Some(std::mem::replace(&mut table.entries[at], entry)),
            None => {
                table.entries.push(entry);
                None
            }
        };
        self.place(&table, std::slice::from_ref(&slot), None);
        begin(&mut table.chores, old, &slot, outset);
        Ok((slot, FIRST))
    }

    /// Puts a connected server into the set, with what it lists, in the place of the one of its name.
    pub(crate) fn replace(&self, entry: Entry, listing: Option<&List<Tool>>) -> Result<(), HostError> {
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(HostError::Closed);
        }
        let slot = Arc::clone(entry.slot());
        let old = match table.entries.iter().position(|old| old.slot().name == slot.name) {
            Some(at) => Some(std::mem::replace(&mut table.entries[at], entry)),
            // The other server was taken out in the meantime.
            None if table.entries.len() >= MOST_SERVERS => {
                return Err(HostError::TooManyServers { most: MOST_SERVERS });
            }
            None => {
                table.entries.push(entry);
                None
            }
        };
        self.place(&table, std::slice::from_ref(&slot), listing.map(|listing| (&slot, listing)));
        while table.chores.try_join_next().is_some() {}
        if let Some(old) = old {
            table.chores.spawn(old.running.close());
        }
        Ok(())
    }

    /// Takes the server of this slot out of the set, if it is still in it.
    pub(crate) fn take_slot(&self, id: u64) -> Option<Entry> {
        let mut table = self.table.lock();
        let at = table.entries.iter().position(|entry| entry.slot().id == id)?;
        let entry = table.entries.remove(at);
        self.place(&table, &[], None);
        Some(entry)
    }

    pub(crate) fn take(&self, name: &str) -> Result<Running, HostError> {
        let mut table = self.table.lock();
        let Some(at) = table.entries.iter().position(|entry| *entry.slot().name == *name) else {
            drop(table);
            return Err(self.not_connected(name));
        };
        let entry = table.entries.remove(at);
        self.place(&table, &[], None);
        Ok(entry.running)
    }

    /// Changes the whole set.
    pub(crate) fn set(&self, wanted: Vec<(String, ServerSpec)>) -> Changed {
        let mut changed = Changed::default();
        let mut table = self.table.lock();
        let mut old = std::mem::take(&mut table.entries);
        let mut begins = Vec::new();
        for (name, desired) in wanted {
            if let Err(problem) = table.takes(&name) {
                changed.done.errors.insert(name, problem);
                continue;
            }
            let before = old.iter().position(|entry| *entry.slot().name == *name).map(|at| old.remove(at));
            match before {
                Some(mut kept) if kept.desired.is_same_server(&desired) => {
                    kept.desired = desired;
                    let round = kept.slot().start_again();
                    changed.started.extend(round.map(|round| (Arc::clone(kept.slot()), round)));
                    table.entries.push(kept);
                }
                before => {
                    if before.is_some() {
                        changed.done.removed.push(name.clone());
                    }
                    let entry = self.entry(&mut table, &name, desired);
                    changed.started.push((Arc::clone(entry.slot()), FIRST));
                    begins.push((before, Arc::clone(entry.slot()), entry.outset()));
                    table.entries.push(entry);
                    changed.done.added.push(name);
                }
            }
        }
        let new: Vec<Arc<Slot>> = begins.iter().map(|(_, slot, _)| Arc::clone(slot)).collect();
        self.place(&table, &new, None);
        for (before, slot, outset) in begins {
            begin(&mut table.chores, before, &slot, outset);
        }
        for gone in old {
            changed.done.removed.push(gone.slot().name.to_string());
            changed.closing.spawn(gone.running.close());
        }
        changed
    }

    pub(crate) fn entry(&self, table: &mut Table, name: &str, desired: ServerSpec) -> Entry {
        table.sentinel.get_or_insert_with(|| Sentinel::new(self.shared.woken.clone()));
        let name: Arc<str> = name.into();
        let questions = QuestionRouter::new(Arc::clone(&name), self.abilities);
        let slot = Arc::new(Slot::new(name, desired.clone(), questions));
        Entry { running: Running::new(slot, Arc::clone(&self.shared)), desired }
    }

    /// Puts the set into the catalogue, with what is remembered of the new ones, or what one of them has listed.
    fn place(&self, table: &Table, new: &[Arc<Slot>], listed: Option<(&Arc<Slot>, &List<Tool>)>) {
        let slots: Vec<Arc<Slot>> = table.entries.iter().map(|entry| Arc::clone(entry.slot())).collect();
        self.publish_to_gate(table);
        self.shared.registry.place(&slots, listed);
        if listed.is_some() {
            return;
        }
        let is_new = |entry: &&Entry| new.iter().any(|slot| slot.id == entry.slot().id);
        for entry in table.entries.iter().filter(is_new) {
            if let Some(manifest) = &entry.desired.manifest {
                self.shared.registry.list(entry.slot(), &manifest.tools, Unread::default());
            }
        }
    }

    /// Tells the permission gate which servers there are, and how far they are trusted.
    pub(crate) fn publish_to_gate(&self, table: &Table) {
        if let Some(gate) = &self.gate {
            let known = |entry: &Entry| {
                let name = entry.slot().name.to_string();
                let known = Known::of_spec(&name, &entry.desired);
                (name, known)
            };
            gate.set_servers(table.entries.iter().map(known));
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Result<Arc<Slot>, HostError> {
        let table = self.table.lock();
        let found = table.entries.iter().map(Entry::slot).find(|slot| *slot.name == *name).cloned();
        drop(table);
        found.ok_or_else(|| self.not_connected(name))
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.table.lock().entries.iter().map(|entry| Arc::clone(entry.slot())).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.table.lock().entries.iter().map(|entry| entry.slot().name.to_string()).collect()
    }

    pub(crate) fn statuses(&self) -> Vec<(Arc<str>, Status)> {
        self.slots().iter().map(|slot| (Arc::clone(&slot.name), slot.status())).collect()
    }

    pub(crate) fn not_connected(&self, name: &str) -> HostError {
        HostError::NotConnected { server: name.to_owned(), known: self.names() }
    }
}

impl Entry {
    pub(crate) fn outset(&self) -> Outset {
        if self.desired.manifest.is_some() { Outset::Remembered } else { Outset::Fresh }
    }

    pub(crate) fn report(&self, catalog: &Catalog) -> ServerStatus {
        let slot = self.slot();
        let status = slot.status();
        let terms = status.terms();
        let info = terms.and_then(|terms| terms.server.as_ref());
        let error = match &status {
            Status::NeedsAuth(challenge) => Some(challenge.to_string()),
            status => status.failure().map(ToString::to_string),
        };
        let tools = terms.and_then(|_| catalog.part(&slot.name)).map(|part| Arc::clone(&part.list.shown));
        ServerStatus {
            name: slot.name.to_string(),
            status: status.kind(),
            server_info: info.map(|info| ServerInfo::new(&info.name, &info.version)),
            error,
            config: Written(self.desired.shown_config()),
            scope: self.desired.scope.as_deref().map(str::to_owned),
            tools: tools.filter(|tools| !tools.is_empty()).map(Tools),
        }
    }
}

/// Begins a server, once the one whose place it takes has ended: both may want the same port or file.
fn begin(chores: &mut JoinSet<()>, before: Option<Entry>, slot: &Arc<Slot>, outset: Outset) {
    while chores.try_join_next().is_some() {}
    match before {
        None => _ = slot.begin(outset),
        Some(before) => {
            let slot = Arc::clone(slot);
            chores.spawn(async move {
                before.running.close().await;
                slot.begin(outset);
            });
        }
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), HostError> {
    if name.is_empty() || name == OWN_NAME {
        return Err(HostError::BadName { server: name.to_owned() });
    }
    Ok(())
}
