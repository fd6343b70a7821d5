//! The host: what an application does with many servers.
//!
//! Invariant: what is wanted of one server never waits for another.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use switchboard_protocol::{Raw, Root};
use switchboard_session::server::Server;
use switchboard_transport::stdio::ChildHandle;
use tokio::task::JoinSet;

use crate::attempt::outcome;
use crate::call::{ToolCall, Which};
use crate::config::{Off, Start};
use crate::error::{HostError, not_ready};
use crate::event::{Event, Events};
use crate::host::{HostBuilder, ToolHandle};
use crate::local_tool::LocalTool;
use crate::manifest::Manifest;
use crate::permission::Gate;
use crate::registry::{Catalog, CatalogTool, DefinitionChange, Found, Pins, Target, Unlisted, Why};
use crate::report::{ServerStatus, SetServers};
use crate::server_spec::ServerSpec;
use crate::set::{Changed, FIRST, Inner};
use crate::slot::Switch;
use crate::status::{Status, StatusKind};
use crate::telemetry::CallMetrics;

/// Many servers, and one catalogue of what they offer. Cheap to clone; the last clone to be dropped ends the servers.
#[derive(Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

impl Host {
    /// Returns a host with default settings and no servers.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A host to be put together.
    pub fn builder() -> HostBuilder {
        HostBuilder::new()
    }

    /// Registers a server in this program, to be reached by name.
    pub fn register(&self, name: impl Into<String>, server: &Arc<Server>) {
        self.inner.shared.connectors.in_process.write().insert(name.into(), Arc::clone(server));
    }

    /// Sets the roots that every server is told, and tells those that are connected.
    pub fn set_roots(&self, roots: impl Into<Vec<Root>>) {
        let roots = roots.into();
        *self.inner.shared.roots.write() = Some(roots.clone());
        for session in self.inner.slots().iter().filter_map(|slot| slot.current()) {
            // One that has just been lost is told when it is opened again.
            let _ = session.set_roots(roots.clone());
        }
    }

    /// Connects a server: one attempt, which is waited for.
    ///
    /// A failed attempt leaves the set of servers as it was. A server of the same name goes on until the new one is
    /// ready, and is ended then; if it is described in the same way it is kept, and connected now if it is not. Once
    /// connected, a server is reconnected as its description says. See [`Self::add`] for a server that is to be tried
    /// until it is there.
    ///
    /// ```no_run
    /// use switchboard::host::Host;
    /// use switchboard::host::config::ServerConfig;
    /// use switchboard::transport::http::client::Http;
    /// use switchboard::transport::stdio::Stdio;
    ///
    /// # async fn connect(json: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let host = Host::new();
    /// host.connect("fs", Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/tmp"])).await?;
    /// host.connect("docs", Http::new("https://example.org/mcp").header("Authorization", "Bearer …")).await?;
    /// host.connect("time", serde_json::from_str::<ServerConfig>(json)?).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the attempt fails, the server needs a login, or the host takes no more servers.
    ///
    /// # Cancellation
    /// Dropping the future ends the attempt and leaves the set as it was.
    pub async fn connect(
        &self,
        name: impl Into<String>,
        server: impl Into<ServerSpec>,
    ) -> Result<(), HostError> {
        let attempt = self.inner.attempt(&name.into(), server.into())?;
        attempt.finish().await
    }

    /// Adds a server to the set and returns at once. It is connected in the background, and tried again as its
    /// description says; [`Self::ready`] waits for it. One of the same name is replaced, unless it is described in the
    /// same way: then it stays, and is tried again if it was given up.
    ///
    /// # Errors
    /// When the name cannot be used, the host takes no more servers, or it is closed.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn add(&self, name: impl Into<String>, server: impl Into<ServerSpec>) -> Result<(), HostError> {
        self.inner.add(&name.into(), server.into()).map(drop)
    }

    /// Waits until a server is connected, or its current attempt has failed.
    ///
    /// # Errors
    /// When there is no such server, or it did not connect. It may be tried further.
    pub async fn ready(&self, name: &str) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        let status = slot.settled(FIRST).await;
        outcome(&slot, status)
    }

    /// Takes a server out of the set and ends it.
    ///
    /// # Errors
    /// When there is no server of this name.
    ///
    /// # Cancellation
    /// The server is ended at once.
    pub async fn disconnect(&self, name: &str) -> Result<(), HostError> {
        let running = self.inner.take(name)?;
        running.close().await;
        Ok(())
    }

    /// Ends a server and starts it anew; what failed before does not count.
    ///
    /// # Errors
    /// When there is no such server, it may not be started, or its first attempt fails.
    pub async fn reconnect(&self, name: &str) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        if slot.is_unstarted() {
            return Err(not_ready(&slot.name, slot.status()));
        }
        let round = slot.start();
        outcome(&slot, slot.settled(round).await)
    }

    /// Switches a server off: its tools are gone and its calls refused, its connection stays. Or on again; one that was
    /// never started, because its entry says it is disabled, is started.
    ///
    /// # Errors
    /// When there is no such server, nobody has approved it, or it does not start.
    pub async fn toggle(&self, name: &str, enabled: bool) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        if enabled && slot.spec.start == Start::Off(Off::Unapproved) {
            return Err(not_ready(&slot.name, Status::AwaitingApproval));
        }
        let switch = if enabled { Switch::On } else { Switch::Off };
        slot.set_switch(switch);
        self.inner.shared.registry.switch(slot.id, switch);
        if !(enabled && slot.is_unstarted()) {
            let (server, status) = (Arc::clone(&slot.name), slot.status());
            self.inner.shared.events.tell(Event::Status { server, status });
            return Ok(());
        }
        let round = slot.start();
        outcome(&slot, slot.settled(round).await)
    }

    /// Makes the set of servers this one: keeps those that are described in the same way (and tries those anew that were given up),
    /// ends the others, starts what is new, all at the same time. The order is that of the catalogue.
    ///
    /// # Cancellation
    /// The set is changed all the same; servers go on starting.
    pub async fn set_servers<N: Into<String>, D: Into<ServerSpec>>(
        &self,
        servers: impl IntoIterator<Item = (N, D)>,
    ) -> SetServers {
        let wanted = servers.into_iter().map(|(name, desired)| (name.into(), desired.into())).collect();
        let Changed { mut done, started, mut closing } = self.inner.set(wanted);
        let mut starting = JoinSet::new();
        for (slot, round) in started {
            starting.spawn(async move {
                let status = slot.settled(round).await;
                outcome(&slot, status).err().map(|error| (slot.name.to_string(), error.to_string()))
            });
        }
        while let Some(failed) = starting.join_next().await {
            done.errors.extend(failed.ok().flatten());
        }
        while closing.join_next().await.is_some() {}
        done
    }

    /// Waits until every required server is ready.
    ///
    /// # Errors
    /// The first one, in order, that is not.
    pub async fn required(&self) -> Result<(), HostError> {
        let slots = self.inner.slots();
        for slot in slots.into_iter().filter(|slot| slot.spec.required) {
            let status = slot.settled(FIRST).await;
            outcome(&slot, status)?;
        }
        Ok(())
    }

    /// The names of the servers that are connected now, in configured order.
    pub fn connected(&self) -> Vec<String> {
        let connected =
            self.inner.slots().into_iter().filter(|slot| slot.status().kind() == StatusKind::Connected);
        connected.map(|slot| slot.name.to_string()).collect()
    }

    /// The names of all servers of the set, connected or not, in configured order.
    pub fn servers(&self) -> Vec<String> {
        self.inner.names()
    }

    /// How every server is doing, in configured order.
    pub fn status(&self) -> Vec<ServerStatus> {
        let catalog = self.catalog();
        self.inner.table.lock().entries.iter().map(|entry| entry.report(&catalog)).collect()
    }

    /// How one server is doing.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn server_status(&self, name: &str) -> Result<ServerStatus, HostError> {
        let catalog = self.catalog();
        let table = self.inner.table.lock();
        let entry = table.entries.iter().find(|entry| *entry.slot().name == *name);
        let report = entry.map(|entry| entry.report(&catalog));
        drop(table);
        report.ok_or_else(|| self.inner.not_connected(name))
    }

    /// How one server is doing, for programs.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn state(&self, name: &str) -> Result<Status, HostError> {
        Ok(self.inner.slot(name)?.status())
    }

    /// A look at the process of a server that runs here: its number, and the last it wrote to stderr.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn child(&self, name: &str) -> Result<Option<ChildHandle>, HostError> {
        Ok(self.inner.slot(name)?.child.get())
    }

    /// What to remember of a server, so that it need not be started next time before it is used.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn manifest(&self, name: &str) -> Result<Manifest, HostError> {
        let slot = self.inner.slot(name)?;
        let catalog = self.catalog();
        let tools = catalog.part(name).map(|part| Arc::clone(&part.list)).unwrap_or_default();
        let mut manifest =
            Manifest::new(tools.tools.iter().map(|listed| listed.tool.clone()).collect::<Vec<_>>());
        if let Some(terms) = slot.status().terms() {
            manifest.server_info.clone_from(&terms.server);
            manifest.instructions.clone_from(&terms.instructions);
        }
        Ok(manifest)
    }

    /// The catalogue of now: a snapshot that does not change.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.shared.registry.snapshot()
    }

    /// All tools that can be called now: first the application's own (among them the built-in ones that read resources, listed
    /// under the server name `(application)`), then those of every server, in configured order. The same as those of the
    /// [catalogue](Self::catalog) of now; [`Self::server_tools`] has those of servers only.
    pub fn all_tools(&self) -> Vec<Arc<CatalogTool>> {
        self.catalog().tools().to_vec()
    }

    /// The tools of all servers, in configured order, without the application's own.
    pub fn server_tools(&self) -> Vec<Arc<CatalogTool>> {
        let catalog = self.catalog();
        let of_servers = catalog.tools().iter().filter(|tool| matches!(tool.target, Target::Server(_)));
        of_servers.cloned().collect()
    }

    /// The tool of this name: the one the model knows it by, or its server's. If several servers offer it, the first in
    /// configured order; [`Found::others`] names the rest.
    pub fn find_tool(&self, name: &str) -> Option<Found> {
        self.catalog().find(name)
    }

    /// A tool to look at and to call, by the name the model knows it by.
    pub fn get(&self, name: &str) -> Option<ToolHandle> {
        let listed = Arc::clone(self.catalog().get(name)?);
        Some(ToolHandle::new(self.clone(), listed))
    }

    /// Denies these tools of a server, by name or pattern, and no others beside those its description denies. Gives back those
    /// that match nothing the server lists now: likely misspelt.
    pub fn set_denied_tools<T: AsRef<str>>(
        &self,
        server: &str,
        tools: impl IntoIterator<Item = T>,
    ) -> Vec<Arc<str>> {
        let tools = tools.into_iter().map(|tool| Arc::from(tool.as_ref())).collect();
        self.inner.shared.registry.set_denied(server, tools)
    }

    /// Why a tool is missing or refused.
    pub fn why(&self, name: &str) -> Why {
        self.catalog().why(name, &self.inner.statuses())
    }

    /// What a server's list has that could not be used.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn unlisted(&self, server: &str) -> Result<Unlisted, HostError> {
        self.inner.slot(server)?;
        let catalog = self.catalog();
        Ok(catalog.part(server).map(|part| part.list.unlisted()).unwrap_or_default())
    }

    /// Definitions as they were first seen, to be handed to the next host.
    pub fn pins(&self) -> Pins {
        self.inner.shared.registry.pins()
    }

    /// Whether a tool is listed with another definition than the one it was pinned with.
    pub fn has_drifted(&self, server: &str, tool: &str) -> bool {
        self.inner.shared.registry.has_drifted(server, tool)
    }

    /// How the definition of a tool differs from the one it was pinned with; `None` while it does not.
    pub fn definition_change(&self, server: &str, tool: &str) -> Option<DefinitionChange> {
        self.inner.shared.registry.definition_change(server, tool)
    }

    /// Accepts the current definition of one tool.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn accept_definition(&self, server: &str, tool: &str) -> Result<(), HostError> {
        self.inner.slot(server)?;
        self.inner.shared.registry.accept_tool(server, tool);
        Ok(())
    }

    /// Accepts the definitions of a server's tools as they are now.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn accept_definitions(&self, server: &str) -> Result<(), HostError> {
        self.inner.slot(server)?;
        self.inner.shared.registry.accept(server);
        Ok(())
    }

    /// Puts a tool of the application into the catalogue; one of its name gives way.
    pub fn add_tool(&self, tool: Arc<dyn LocalTool>) {
        self.inner.shared.registry.add_own([tool]);
    }

    /// Takes a tool of the application out.
    pub fn remove_tool(&self, name: &str) {
        self.inner.shared.registry.remove_own(name);
    }

    /// Calls a tool of a server. Await it for a typed error or a result.
    pub fn call_tool(
        &self,
        server: impl AsRef<str>,
        tool: impl AsRef<str>,
        arguments: impl Serialize,
    ) -> ToolCall {
        let which = Which::pair(&self.catalog(), server.as_ref(), tool.as_ref());
        ToolCall::new(Arc::clone(&self.inner), which, Raw::encode(&arguments))
    }

    /// Calls a tool by the name a model has for it, or by its server's. [`ToolCall::execute`] makes it for a model.
    ///
    /// A server's own name for a tool that several servers offer is refused with [`HostError::Ambiguous`], which names
    /// them, unless [`HostBuilder::ambiguous_names`] says otherwise.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> ToolCall {
        ToolCall::new(Arc::clone(&self.inner), Which::Name(name.into()), Raw::encode(&arguments))
    }

    /// Calls a tool for a model: every failure is a result that says so, with the next step.
    pub async fn execute(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> switchboard_protocol::CallToolResult {
        self.call(name, arguments).execute().await
    }

    /// The gate that decides about calls, if the host was built with [`HostBuilder::permissions`]: to change the policy, to
    /// ask what would happen to a call, and to take back answers.
    pub fn permissions(&self) -> Option<&Arc<Gate>> {
        self.inner.gate.as_ref()
    }

    /// What happens from now on.
    pub fn events(&self) -> Events {
        self.inner.shared.events.listen()
    }

    /// What was counted of all calls.
    pub fn metrics(&self) -> CallMetrics {
        let mut all = CallMetrics::default();
        self.inner.slots().iter().for_each(|slot| all.add(&slot.meter.read()));
        all
    }

    /// What was counted of the calls of one server.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn server_metrics(&self, name: &str) -> Result<CallMetrics, HostError> {
        Ok(self.inner.slot(name)?.meter.read())
    }

    /// As [`Self::close`], for a program that is about to end: the supervisors of server processes stop them in order and
    /// are not waited for.
    pub async fn close_detached(&self) {
        self.inner.shared.detaches.store(true, Ordering::Release);
        self.close().await;
    }

    /// Ends every server in order, all at the same time. Nothing can be connected afterwards.
    pub async fn close(&self) {
        let (entries, mut chores) = {
            let mut table = self.inner.table.lock();
            table.is_closed = true;
            table.sentinel = None;
            (std::mem::take(&mut table.entries), std::mem::take(&mut table.chores))
        };
        self.inner.shared.registry.place(&[], None);
        let mut closing = JoinSet::new();
        for entry in entries {
            closing.spawn(entry.running.close());
        }
        while closing.join_next().await.is_some() {}
        while chores.join_next().await.is_some() {}
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("servers", &self.servers()).finish_non_exhaustive()
    }
}
