//! The host: the API for many servers.
//!
//! Invariant: operations on one server never wait for another.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use switchboard_protocol::{Raw, Root};
use switchboard_session::server::Server;
use switchboard_transport::stdio::ChildHandle;
use tokio::task::JoinSet;

use crate::attempt::connect_result;
use crate::call::{ToolCall, ToolSelector};
use crate::config::{OffReason, StartPolicy};
use crate::error::{HostError, not_ready};
use crate::event::{HostEvent, HostEvents};
use crate::host::{HostBuilder, ToolHandle};
use crate::local_tool::LocalTool;
use crate::manifest::Manifest;
use crate::permission::Gate;
use crate::registry::{
    CallTarget, Catalog, CatalogTool, DefinitionChange, Pins, ToolExplanation, ToolListIssues, ToolMatch,
};
use crate::report::{ServerStatus, SetServersOutcome};
use crate::server_spec::ServerSpec;
use crate::set::{FIRST_ROUND, HostState, SetChange};
use crate::slot::{RunState, Slot, Switch};
use crate::status::{Status, StatusKind};
use crate::telemetry::CallMetrics;

/// Many servers and one catalog of their tools. Cheap to clone; dropping the last clone ends the servers.
///
/// ```
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// assert_eq!(host.connected(), ["sums"]);
///
/// let result = host.execute("mcp__sums__add", json!({ "a": 19, "b": 23 })).await;
/// assert_eq!(result.text(), "42");
/// host.close().await;
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Host {
    pub(crate) inner: Arc<HostState>,
}

impl Host {
    /// Returns a host with default settings and no servers.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder.
    pub fn builder() -> HostBuilder {
        HostBuilder::new()
    }

    /// Registers a server in this process by name.
    pub fn register(&self, name: impl Into<String>, server: &Arc<Server>) {
        self.inner.shared.connectors.in_process.write().insert(name.into(), Arc::clone(server));
    }

    /// Sets the roots and notifies connected servers.
    pub fn set_roots(&self, roots: impl Into<Vec<Root>>) {
        let roots = roots.into();
        *self.inner.shared.roots.write() = Some(roots.clone());
        let main = self.inner.slots();
        let keyed = main.iter().flat_map(|slot| slot.keyed.slots());
        let has_own = |slot: &Slot| slot.scope.as_ref().is_some_and(|scope| scope.roots.is_some());
        let slots = main.iter().cloned().chain(keyed).filter(|slot| !has_own(slot));
        for session in slots.filter_map(|slot| slot.current()) {
            // A session that has just ended receives the roots when it reconnects.
            let _ = session.set_roots(roots.clone());
        }
    }

    /// Connects a server: waits for one attempt.
    ///
    /// A failed attempt leaves the set of servers unchanged. A server of the same name keeps running until the new one is
    /// ready, and is ended then; if it has the same spec, it is kept, and connected now if it is not. Once connected, a
    /// server is reconnected by its restart policy. [`Self::add`] retries in the background instead.
    ///
    /// ```no_run
    /// use switchboard::host::Host;
    /// use switchboard::host::config::ServerConfig;
    /// use switchboard::Http;
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
    /// When the attempt fails, the server requires a login, or the limit of servers is reached.
    ///
    /// # Cancellation
    /// Dropping the future ends the attempt and leaves the set unchanged.
    pub async fn connect(
        &self,
        name: impl Into<String>,
        server: impl Into<ServerSpec>,
    ) -> Result<(), HostError> {
        let attempt = self.inner.begin_connect(&name.into(), server.into())?;
        attempt.finish().await
    }

    /// Adds a server to the set and returns immediately. It connects in the background and retries by its restart policy;
    /// [`Self::ready`] waits for it. A server of the same name is replaced, unless it has the same spec: then it stays, and
    /// is retried if it had failed.
    ///
    /// # Errors
    /// When the name is invalid, the limit of servers is reached, or the host is closed.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    ///
    /// # Examples
    /// ```
    /// use switchboard::{Host, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.add("sums", InProcess::new(&demo::server()))?; // connects in the background
    /// host.ready("sums").await?;
    /// assert_eq!(host.connected(), ["sums"]);
    /// # demo::done() });
    /// ```
    pub fn add(&self, name: impl Into<String>, server: impl Into<ServerSpec>) -> Result<(), HostError> {
        self.inner.add(&name.into(), server.into()).map(drop)
    }

    /// Waits until a server is connected, or its current attempt has failed.
    ///
    /// # Errors
    /// When there is no such server, or it did not connect. Retries may continue.
    pub async fn ready(&self, name: &str) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        let status = slot.wait_until_settled(FIRST_ROUND).await;
        connect_result(&slot, status)
    }

    /// Removes a server from the set and ends it.
    ///
    /// # Errors
    /// When there is no server of this name.
    ///
    /// # Cancellation
    /// The server is aborted.
    pub async fn disconnect(&self, name: &str) -> Result<(), HostError> {
        let running = self.inner.remove(name)?;
        running.close().await;
        Ok(())
    }

    /// Ends the connection of a server, and its process, and keeps it in the set without its tools until
    /// [`reconnect`](Self::reconnect). Keyed sessions end.
    ///
    /// # Errors
    /// When there is no such server, or it may not be started.
    ///
    /// # Cancellation
    /// The server is stopped all the same.
    pub async fn stop(&self, name: &str) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        if slot.is_unstarted() {
            return Err(not_ready(&slot.name, slot.status()));
        }
        self.inner.close_keyed_sessions(&slot);
        let round = slot.set_desired(RunState::Stopped);
        slot.wait_until_settled(round).await;
        Ok(())
    }

    /// Restarts a server; earlier failures do not count. Keyed sessions end, and their next call opens them again.
    ///
    /// # Errors
    /// When there is no such server, it may not be started, or its first attempt fails.
    pub async fn reconnect(&self, name: &str) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        if slot.is_unstarted() {
            return Err(not_ready(&slot.name, slot.status()));
        }
        self.inner.close_keyed_sessions(&slot);
        let round = slot.start();
        connect_result(&slot, slot.wait_until_settled(round).await)
    }

    /// Enables or disables a server. The tools of a disabled server are not listed and its calls are rejected; its
    /// main connection stays, keyed sessions end. Enabling a server that was never started, because its configuration disables it, starts it.
    ///
    /// # Errors
    /// When there is no such server, it was not approved, or it does not start.
    ///
    /// # Examples
    /// ```
    /// use switchboard::{Host, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// host.toggle("sums", false).await?;
    /// assert!(host.server_tools().is_empty());
    /// host.toggle("sums", true).await?;
    /// assert_eq!(host.server_tools().len(), 2);
    /// # demo::done() });
    /// ```
    pub async fn toggle(&self, name: &str, enabled: bool) -> Result<(), HostError> {
        let slot = self.inner.slot(name)?;
        if enabled && slot.spec.start == StartPolicy::Off(OffReason::Unapproved) {
            return Err(not_ready(&slot.name, Status::AwaitingApproval));
        }
        let switch = if enabled { Switch::On } else { Switch::Off };
        slot.set_switch(switch);
        if !enabled {
            self.inner.close_keyed_sessions(&slot);
        }
        self.inner.shared.registry.switch(slot.id, switch);
        if !(enabled && slot.is_unstarted()) {
            let (server, status) = (Arc::clone(&slot.name), slot.status());
            self.inner.shared.events.send(HostEvent::Status { server, status });
            return Ok(());
        }
        let round = slot.start();
        connect_result(&slot, slot.wait_until_settled(round).await)
    }

    /// Replaces the set of servers: keeps those with the same spec (and retries those that had failed), ends the others and
    /// starts new ones, all concurrently. The order is that of the catalog.
    ///
    /// # Cancellation
    /// The set is changed nevertheless; servers keep starting.
    ///
    /// # Examples
    /// ```
    /// use switchboard::{Host, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// let sums = InProcess::new(&demo::server());
    /// let notes = InProcess::new(&demo::server());
    /// let outcome = host.set_servers([("sums", sums.clone()), ("notes", notes)]).await;
    /// assert!(outcome.errors.is_empty());
    /// assert_eq!(host.servers(), ["sums", "notes"]);
    ///
    /// host.set_servers([("sums", sums)]).await; // keeps `sums`, ends `notes`
    /// assert_eq!(host.servers(), ["sums"]);
    /// # demo::done() });
    /// ```
    pub async fn set_servers<N: Into<String>, D: Into<ServerSpec>>(
        &self,
        servers: impl IntoIterator<Item = (N, D)>,
    ) -> SetServersOutcome {
        let wanted = servers.into_iter().map(|(name, desired)| (name.into(), desired.into())).collect();
        let SetChange { mut done, started, mut closing } = self.inner.set_servers(wanted);
        let mut starting = JoinSet::new();
        for (slot, round) in started {
            starting.spawn(async move {
                let status = slot.wait_until_settled(round).await;
                connect_result(&slot, status).err().map(|error| (slot.name.to_string(), error.to_string()))
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
    /// The error of the first one, in order, that is not.
    pub async fn required(&self) -> Result<(), HostError> {
        let slots = self.inner.slots();
        for slot in slots.into_iter().filter(|slot| slot.spec.required) {
            let status = slot.wait_until_settled(FIRST_ROUND).await;
            connect_result(&slot, status)?;
        }
        Ok(())
    }

    /// Returns the names of the connected servers, in configured order.
    pub fn connected(&self) -> Vec<String> {
        let connected =
            self.inner.slots().into_iter().filter(|slot| slot.status().kind() == StatusKind::Connected);
        connected.map(|slot| slot.name.to_string()).collect()
    }

    /// Returns the names of all servers of the set, in configured order.
    pub fn servers(&self) -> Vec<String> {
        self.inner.names()
    }

    /// Returns the status reports of all servers, in configured order.
    ///
    /// ```
    /// use switchboard::host::StatusKind;
    /// use switchboard::{Host, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// for server in host.status() {
    ///     println!("{}: {:?} {}", server.name, server.status, server.error.as_deref().unwrap_or_default());
    /// }
    /// assert_eq!(host.status()[0].status, StatusKind::Connected);
    /// # demo::done() });
    /// ```
    pub fn status(&self) -> Vec<ServerStatus> {
        let catalog = self.catalog();
        self.inner.table.lock().entries.iter().map(|entry| entry.report(&catalog)).collect()
    }

    /// Returns the status report of one server.
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

    /// Returns the detailed status of one server.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn state(&self, name: &str) -> Result<Status, HostError> {
        Ok(self.inner.slot(name)?.status())
    }

    /// Returns a handle of the child process of a stdio server: its process id and the end of its stderr output.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn child(&self, name: &str) -> Result<Option<ChildHandle>, HostError> {
        Ok(self.inner.slot(name)?.child.get())
    }

    /// Returns the number of child processes of a server, over all its sessions.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn process_count(&self, name: &str) -> Result<usize, HostError> {
        Ok(self.inner.slot(name)?.process_count())
    }

    /// Returns the manifest of a server, so that it need not be started next time before it is used.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn manifest(&self, name: &str) -> Result<Manifest, HostError> {
        let slot = self.inner.slot(name)?;
        let catalog = self.catalog();
        let tools = catalog.part(name).map(|part| Arc::clone(&part.list)).unwrap_or_default();
        let mut manifest =
            Manifest::new(tools.tools.iter().map(|listed| listed.tool.clone()).collect::<Vec<_>>());
        if let Some(part) = catalog.part(name) {
            manifest.prompts = part.lists.prompts.to_vec();
            manifest.resources = part.lists.resources.to_vec();
            manifest.resource_templates = part.lists.templates.to_vec();
        }
        if let Some(session_info) = slot.last_info() {
            manifest.server_info.clone_from(&session_info.server);
            manifest.instructions.clone_from(&session_info.instructions);
        }
        Ok(manifest)
    }

    /// Returns the current catalog, an immutable snapshot.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.shared.registry.snapshot()
    }

    /// Returns all tools of the current [catalog](Self::catalog): first those of the application (including the built-in ones
    /// that read resources, under the server name `(application)`), then those of every server, in configured order.
    /// [`Self::server_tools`] returns only those of servers.
    pub fn all_tools(&self) -> Vec<Arc<CatalogTool>> {
        self.catalog().tools().to_vec()
    }

    /// Returns the tools of all servers, in configured order, without those of the application.
    pub fn server_tools(&self) -> Vec<Arc<CatalogTool>> {
        let catalog = self.catalog();
        let of_servers = catalog.tools().iter().filter(|tool| matches!(tool.target, CallTarget::Server(_)));
        of_servers.cloned().collect()
    }

    /// Finds a tool by its qualified name, or else by its name on the server. If several servers have it, returns the first
    /// in configured order; [`ToolMatch::others`] names the rest.
    pub fn find_tool(&self, name: &str) -> Option<ToolMatch> {
        self.catalog().find(name)
    }

    /// Returns a handle of a tool by its qualified name.
    pub fn get(&self, name: &str) -> Option<ToolHandle> {
        let listed = Arc::clone(self.catalog().get(name)?);
        Some(ToolHandle::new(self.clone(), listed))
    }

    /// Replaces the tools of a server that are denied at run time, by name or glob; those that its spec denies stay denied.
    /// Returns the patterns that match no listed tool, which are probably misspelled.
    pub fn set_denied_tools<T: AsRef<str>>(
        &self,
        server: &str,
        tools: impl IntoIterator<Item = T>,
    ) -> Vec<Arc<str>> {
        let tools = tools.into_iter().map(|tool| Arc::from(tool.as_ref())).collect();
        self.inner.shared.registry.set_denied(server, tools)
    }

    /// Explains why a tool is missing or cannot be called.
    ///
    /// ```
    /// use switchboard::host::ToolExplanation;
    /// use switchboard::{Host, InProcess, ServerSpec};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// let spec = ServerSpec::from(InProcess::new(&demo::server())).deny_tools(["wait"]);
    /// host.connect("sums", spec).await?;
    /// assert!(matches!(host.explain_tool("mcp__sums__add"), ToolExplanation::Shown { .. }));
    /// assert!(matches!(host.explain_tool("mcp__sums__wait"), ToolExplanation::Withheld { .. }));
    /// # demo::done() });
    /// ```
    pub fn explain_tool(&self, name: &str) -> ToolExplanation {
        self.catalog().explain(name, &self.inner.statuses())
    }

    /// Returns problems of a server's tool list.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn tool_list_issues(&self, server: &str) -> Result<ToolListIssues, HostError> {
        self.inner.slot(server)?;
        let catalog = self.catalog();
        Ok(catalog.part(server).map(|part| part.list.issues()).unwrap_or_default())
    }

    /// Returns the pinned definitions, for the next host.
    pub fn pins(&self) -> Pins {
        self.inner.shared.registry.pins()
    }

    /// Returns whether the definition of a tool differs from the pinned one.
    pub fn has_drifted(&self, server: &str, tool: &str) -> bool {
        self.inner.shared.registry.has_drifted(server, tool)
    }

    /// Returns the pinned and the current definition of a tool; `None` if they are equal.
    pub fn definition_change(&self, server: &str, tool: &str) -> Option<DefinitionChange> {
        self.inner.shared.registry.definition_change(server, tool)
    }

    /// Adopts the pins of a [`PinFile`](crate::PinFile) that another process may have changed: definitions that were accepted
    /// there are accepted here. The current definition of a tool without a pin is accepted, as when it is first seen.
    pub fn adopt_pins(&self, stored: &Pins) {
        self.inner.shared.registry.adopt_pins(stored);
    }

    /// Accepts the current definition of one tool.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn accept_definition(&self, server: &str, tool: &str) -> Result<(), HostError> {
        self.inner.slot(server)?;
        self.inner.shared.registry.accept(server, |listed| listed.name == tool);
        Ok(())
    }

    /// Accepts the current definitions of all tools of a server.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn accept_definitions(&self, server: &str) -> Result<(), HostError> {
        self.inner.slot(server)?;
        self.inner.shared.registry.accept(server, |_| true);
        Ok(())
    }

    /// Adds a tool of the application; replaces one of the same name.
    pub fn add_tool(&self, tool: Arc<dyn LocalTool>) {
        self.inner.shared.registry.add_local_tools([tool]);
    }

    /// Removes a tool of the application.
    pub fn remove_tool(&self, name: &str) {
        self.inner.shared.registry.remove_local_tool(name);
    }

    /// Calls a tool of a server. Await the call for a result or a typed error.
    pub fn call_tool(
        &self,
        server: impl AsRef<str>,
        tool: impl AsRef<str>,
        arguments: impl Serialize,
    ) -> ToolCall {
        let which = ToolSelector::pair(&self.catalog(), server.as_ref(), tool.as_ref());
        ToolCall::new(Arc::clone(&self.inner), which, Raw::encode(&arguments))
    }

    /// Calls a tool by its qualified name, or by its name on the server. [`ToolCall::execute`] runs the call for a model.
    ///
    /// A name that several servers use for a tool is rejected with [`HostError::Ambiguous`], which names them, unless
    /// [`HostBuilder::ambiguous_names`] sets another policy.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use switchboard::host::HostError;
    /// use switchboard::{Host, InProcess, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// let result = host.call("add", json!({ "a": 1, "b": 2 })).timeout(Duration::from_secs(20)).await?;
    /// assert_eq!(result.text(), "3");
    ///
    /// let misspelled = host.call("mcp__sums__ad", json!({})).await;
    /// assert!(matches!(misspelled, Err(HostError::UnknownTool { .. })));
    /// # demo::done() });
    /// ```
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> ToolCall {
        ToolCall::new(Arc::clone(&self.inner), ToolSelector::Name(name.into()), Raw::encode(&arguments))
    }

    /// Calls a tool for a model: every failure is an error result with the next step.
    ///
    /// ```
    /// use switchboard::{Host, InProcess, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// let result = host.execute("mcp__sums__add", json!({ "a": "one" })).await;
    /// assert!(result.is_error); // the text tells the model what to correct
    /// # demo::done() });
    /// ```
    pub async fn execute(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> switchboard_protocol::CallToolResult {
        self.call(name, arguments).execute().await
    }

    /// Returns the permission gate, if the host was built with [`HostBuilder::permissions`]: to change the policy, to preview
    /// decisions, and to revoke answers.
    pub fn permissions(&self) -> Option<&Arc<Gate>> {
        self.inner.gate.as_ref()
    }

    /// Subscribes to future events.
    ///
    /// ```
    /// use switchboard::host::HostEvent;
    /// use switchboard::{Host, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// let mut events = host.events();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// while let Some(event) = events.next().await {
    ///     if let HostEvent::Tools(changed) = event {
    ///         assert_eq!(changed.added.len(), 2);
    ///         break;
    ///     }
    /// }
    /// # demo::done() });
    /// ```
    pub fn events(&self) -> HostEvents {
        self.inner.shared.events.subscribe()
    }

    /// Returns the metrics of all calls.
    pub fn metrics(&self) -> CallMetrics {
        let mut all = CallMetrics::default();
        self.inner.slots().iter().for_each(|slot| all.add(&slot.metrics()));
        all
    }

    /// Returns the metrics of the calls of one server.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn server_metrics(&self, name: &str) -> Result<CallMetrics, HostError> {
        Ok(self.inner.slot(name)?.metrics())
    }

    /// As [`Self::close`], for a process that is about to exit: supervisors stop the server processes gracefully, but are not
    /// waited for.
    pub async fn close_detached(&self) {
        self.inner.shared.detaches.store(true, Ordering::Release);
        self.close().await;
    }

    /// Ends all servers gracefully and concurrently. No server can be connected afterwards.
    pub async fn close(&self) {
        let (entries, mut closing_tasks) = {
            let mut table = self.inner.table.lock();
            table.is_closed = true;
            table.sleep_watcher = None;
            (std::mem::take(&mut table.entries), std::mem::take(&mut table.closing_tasks))
        };
        self.inner.shared.registry.set_servers(&[], None);
        let mut closing = JoinSet::new();
        for entry in entries {
            closing.spawn(entry.connection.close());
        }
        while closing.join_next().await.is_some() {}
        while closing_tasks.join_next().await.is_some() {}
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
