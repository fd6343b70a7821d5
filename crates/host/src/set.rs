//! The set of servers of a host, and its changes.
//!
//! Invariants: no lock is held across an await; a server that is removed from the set has no tools in the catalog from that
//! moment on; a server that replaces another starts when that one has ended.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_protocol::Tool;
use switchboard_session::client::{ClientHandler, HandlerCapabilities, List};
use tokio::task::JoinSet;

use crate::connection::{self, SharedState, SleepWatcher};
use crate::error::HostError;
use crate::permission::{Gate, KnownServer};
use crate::policy::CallSettings;
use crate::question_router::QuestionRouter;
use crate::registry::{Catalog, LOCAL_SERVER_NAME, ListDefects, MAX_SERVERS, ServerLists};
use crate::report::{LoginReport, MaskedConfig, ServerInfo, ServerStatus, SetServersOutcome, ToolInfoList};
use crate::server_spec::ServerSpec;
use crate::slot::{ConnectionHandle, InitialTools, Slot};
use crate::status::Status;

/// The shared state of all handles of a host.
pub(crate) struct HostState {
    pub(crate) shared: Arc<SharedState>,
    pub(crate) settings: CallSettings,
    pub(crate) abilities: HandlerCapabilities,
    /// Answers requests of servers that belong to no known call.
    pub(crate) handler: Option<Arc<dyn ClientHandler>>,
    /// The permission gate, if the host has one.
    pub(crate) gate: Option<Arc<Gate>>,
    // Held for a lookup or a change, never across an await.
    pub(crate) table: Mutex<ServerTable>,
}

/// The round in which a slot is started.
pub(crate) const FIRST_ROUND: u64 = 1;

/// The servers of a host, in configured order.
#[derive(Default)]
pub(crate) struct ServerTable {
    pub(crate) entries: Vec<ManagedServer>,
    /// Closes servers that are being replaced; owned here, so that the tasks end with the host.
    pub(crate) closing_tasks: JoinSet<()>,
    /// Detects system suspension; runs once there are servers.
    pub(crate) sleep_watcher: Option<SleepWatcher>,
    pub(crate) is_closed: bool,
}

/// A server of the set, or one that may join it.
pub(crate) struct ManagedServer {
    pub(crate) connection: ConnectionHandle,
    pub(crate) desired: ServerSpec,
}

impl ManagedServer {
    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.connection.slot
    }
}

impl ServerTable {
    /// Checks whether a server of this name can be added.
    fn check_new_name(&self, name: &str) -> Result<(), String> {
        check_name(name).map_err(|error| error.to_string())?;
        if self.is_closed {
            return Err(HostError::Closed.to_string());
        }
        if self.entries.iter().any(|entry| *entry.slot().name == *name) {
            return Err("duplicate server name; the first entry is used".to_owned());
        }
        if self.entries.len() >= MAX_SERVERS {
            return Err(HostError::TooManyServers { max: MAX_SERVERS }.to_string());
        }
        Ok(())
    }
}

/// The result of changing the whole set, and the work in progress.
#[derive(Default)]
pub(crate) struct SetChange {
    /// The result so far.
    pub(crate) done: SetServersOutcome,
    /// Servers that are starting, with the round to wait for.
    pub(crate) started: Vec<(Arc<Slot>, u64)>,
    /// Servers that are being closed.
    pub(crate) closing: JoinSet<()>,
}

impl HostState {
    pub(crate) fn new(
        shared: Arc<SharedState>,
        settings: CallSettings,
        abilities: HandlerCapabilities,
        gate: Option<Arc<Gate>>,
    ) -> Self {
        Self { shared, settings, abilities, handler: None, gate, table: Mutex::default() }
    }

    /// Sets the handler of requests that belong to no known call.
    pub(crate) fn with_handler(mut self, handler: Option<Arc<dyn ClientHandler>>) -> Self {
        self.handler = handler;
        self
    }

    /// Adds a server to the set; keeps one with the same name and spec.
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
            let round = slot.restart_if_failed().unwrap_or(FIRST_ROUND);
            return Ok((slot, round));
        }
        if at.is_none() && table.entries.len() >= MAX_SERVERS {
            return Err(HostError::TooManyServers { max: MAX_SERVERS });
        }
        let entry = self.spawn_server(&mut table, name, desired);
        let slot = Arc::clone(entry.slot());
        let initial_tools = entry.initial_tools();
        let old = match at {
            Some(at) => Some(std::mem::replace(&mut table.entries[at], entry)),
            None => {
                table.entries.push(entry);
                None
            }
        };
        self.publish_servers(&table, std::slice::from_ref(&slot), None);
        start_after(&mut table.closing_tasks, old, &slot, initial_tools);
        Ok((slot, FIRST_ROUND))
    }

    /// Puts a connected server with its list into the set, in place of the one with its name.
    pub(crate) fn replace(
        &self,
        entry: ManagedServer,
        listing: Option<&List<Tool>>,
    ) -> Result<(), HostError> {
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(HostError::Closed);
        }
        let slot = Arc::clone(entry.slot());
        let old = match table.entries.iter().position(|old| old.slot().name == slot.name) {
            Some(at) => Some(std::mem::replace(&mut table.entries[at], entry)),
            // The other server was removed meanwhile.
            None if table.entries.len() >= MAX_SERVERS => {
                return Err(HostError::TooManyServers { max: MAX_SERVERS });
            }
            None => {
                table.entries.push(entry);
                None
            }
        };
        self.publish_servers(&table, std::slice::from_ref(&slot), listing.map(|listing| (&slot, listing)));
        while table.closing_tasks.try_join_next().is_some() {}
        if let Some(old) = old {
            table.closing_tasks.spawn(old.connection.close());
        }
        Ok(())
    }

    /// Removes the server of a slot from the set, if it is still there.
    pub(crate) fn remove_slot(&self, id: u64) -> Option<ManagedServer> {
        let mut table = self.table.lock();
        let at = table.entries.iter().position(|entry| entry.slot().id == id)?;
        let entry = table.entries.remove(at);
        self.publish_servers(&table, &[], None);
        Some(entry)
    }

    /// Removes a server from the set.
    pub(crate) fn remove(&self, name: &str) -> Result<ConnectionHandle, HostError> {
        let mut table = self.table.lock();
        let Some(at) = table.entries.iter().position(|entry| *entry.slot().name == *name) else {
            drop(table);
            return Err(self.not_connected(name));
        };
        let entry = table.entries.remove(at);
        self.publish_servers(&table, &[], None);
        Ok(entry.connection)
    }

    /// Replaces the whole set.
    pub(crate) fn set_servers(&self, wanted: Vec<(String, ServerSpec)>) -> SetChange {
        let mut changed = SetChange::default();
        let mut table = self.table.lock();
        let mut old = std::mem::take(&mut table.entries);
        let mut starts = Vec::new();
        for (name, desired) in wanted {
            if let Err(problem) = table.check_new_name(&name) {
                changed.done.errors.insert(name, problem);
                continue;
            }
            let before = old.iter().position(|entry| *entry.slot().name == *name).map(|at| old.remove(at));
            match before {
                Some(mut kept) if kept.desired.is_same_server(&desired) => {
                    kept.desired = desired;
                    let round = kept.slot().restart_if_failed();
                    changed.started.extend(round.map(|round| (Arc::clone(kept.slot()), round)));
                    table.entries.push(kept);
                }
                before => {
                    if before.is_some() {
                        changed.done.removed.push(name.clone());
                    }
                    let entry = self.spawn_server(&mut table, &name, desired);
                    changed.started.push((Arc::clone(entry.slot()), FIRST_ROUND));
                    starts.push((before, Arc::clone(entry.slot()), entry.initial_tools()));
                    table.entries.push(entry);
                    changed.done.added.push(name);
                }
            }
        }
        let new: Vec<Arc<Slot>> = starts.iter().map(|(_, slot, _)| Arc::clone(slot)).collect();
        self.publish_servers(&table, &new, None);
        for (before, slot, initial_tools) in starts {
            start_after(&mut table.closing_tasks, before, &slot, initial_tools);
        }
        for gone in old {
            changed.done.removed.push(gone.slot().name.to_string());
            changed.closing.spawn(gone.connection.close());
        }
        changed
    }

    /// Creates a slot and spawns its connection task.
    pub(crate) fn spawn_server(
        &self,
        table: &mut ServerTable,
        name: &str,
        desired: ServerSpec,
    ) -> ManagedServer {
        table.sleep_watcher.get_or_insert_with(|| SleepWatcher::new(self.shared.resumes.clone()));
        let name: Arc<str> = name.into();
        let questions =
            QuestionRouter::new(Arc::clone(&name), self.abilities).with_fallback(self.handler.clone());
        let slot = Arc::new(Slot::new(name, desired.clone(), questions));
        ManagedServer { connection: connection::spawn(slot, Arc::clone(&self.shared)), desired }
    }

    /// Publishes the set to the catalog, with the manifests of new servers or the list of one of them.
    fn publish_servers(
        &self,
        table: &ServerTable,
        new: &[Arc<Slot>],
        listed: Option<(&Arc<Slot>, &List<Tool>)>,
    ) {
        let slots: Vec<Arc<Slot>> = table.entries.iter().map(|entry| Arc::clone(entry.slot())).collect();
        self.publish_to_gate(table);
        self.shared.registry.set_servers(&slots, listed);
        if listed.is_some() {
            return;
        }
        let is_new = |entry: &&ManagedServer| new.iter().any(|slot| slot.id == entry.slot().id);
        for entry in table.entries.iter().filter(is_new) {
            if let Some(manifest) = &entry.desired.manifest {
                self.shared.registry.set_tools(entry.slot(), &manifest.tools, ListDefects::default());
                if self.shared.keeps_all_lists {
                    let lists = ServerLists::from_manifest(manifest);
                    self.shared.registry.change_lists(entry.slot().id, |kept| *kept = lists);
                }
            }
        }
    }

    /// Passes the servers and their trust levels to the permission gate.
    pub(crate) fn publish_to_gate(&self, table: &ServerTable) {
        if let Some(gate) = &self.gate {
            let known = |entry: &ManagedServer| {
                let name = entry.slot().name.to_string();
                let known = KnownServer::from_spec(&name, &entry.desired);
                (name, known)
            };
            gate.set_servers(table.entries.iter().map(known));
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Result<Arc<Slot>, HostError> {
        let table = self.table.lock();
        let found = table.entries.iter().map(ManagedServer::slot).find(|slot| *slot.name == *name).cloned();
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

impl ManagedServer {
    pub(crate) fn initial_tools(&self) -> InitialTools {
        if self.desired.manifest.is_some() { InitialTools::FromManifest } else { InitialTools::Unknown }
    }

    pub(crate) fn report(&self, catalog: &Catalog) -> ServerStatus {
        let slot = self.slot();
        let status = slot.status();
        let session_info = status.session_info();
        let info = session_info.and_then(|session_info| session_info.server.as_ref());
        let error = match &status {
            Status::NeedsAuth(challenge) => Some(challenge.to_string()),
            status => status.failure().map(ToString::to_string),
        };
        let tools =
            session_info.and_then(|_| catalog.part(&slot.name)).map(|part| Arc::clone(&part.list.shown));
        ServerStatus {
            name: slot.name.to_string(),
            status: status.kind(),
            server_info: info.map(|info| ServerInfo::new(&info.name, &info.version)),
            error,
            login: match &status {
                Status::NeedsAuth(challenge) => Some(LoginReport::new(challenge)),
                _ => None,
            },
            config: MaskedConfig(self.desired.shown_config()),
            scope: self.desired.scope.as_deref().map(str::to_owned),
            asleep: matches!(status, Status::Asleep),
            sessions: slot.keyed.open_count(),
            tools: tools.filter(|tools| !tools.is_empty()).map(ToolInfoList),
        }
    }
}

/// Starts a server after the one it replaces has ended: both may use the same port or file.
fn start_after(
    closing_tasks: &mut JoinSet<()>,
    before: Option<ManagedServer>,
    slot: &Arc<Slot>,
    initial_tools: InitialTools,
) {
    while closing_tasks.try_join_next().is_some() {}
    match before {
        None => _ = slot.start_initially(initial_tools),
        Some(before) => {
            let slot = Arc::clone(slot);
            closing_tasks.spawn(async move {
                before.connection.close().await;
                slot.start_initially(initial_tools);
            });
        }
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), HostError> {
    if name.is_empty() || name == LOCAL_SERVER_NAME {
        return Err(HostError::BadName { server: name.to_owned() });
    }
    Ok(())
}
