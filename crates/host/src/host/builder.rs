//! The builder of a host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::RwLock;
use switchboard_protocol::Root;
use switchboard_session::client::{ClientHandler, HandlerCapabilities, Limits};
use switchboard_session::link::TrafficObserver;
use switchboard_session::server::Server;
use switchboard_session::{Client, RevisionPolicy};
use tokio::sync::watch;

use crate::builtin;
use crate::connection::{Connectors, CredentialProvider, SharedState, TokenSource};
use crate::event::EventSender;
use crate::host::Host;
use crate::local_tool::LocalTool;
use crate::permission::Gate;
use crate::policy::{
    AmbiguousNamePolicy, CallPolicy, CallSettings, ReplayPolicy, SpanNames, SpillPolicy, TraceContext,
};
use crate::registry::name::NameLimit;
use crate::registry::profile::Profile;
use crate::registry::{DriftPolicy, Pins, Registry};
use crate::session_scope::SessionLimits;
use crate::set::HostState;
use crate::slot::SessionBudget;
use crate::traffic::Traffic;
use crate::validation::Validation;

/// The builder of a [`Host`].
///
/// ```
/// use switchboard::client::HandlerCapabilities;
/// use switchboard::host::ReplayPolicy;
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::builder()
///     .with_name("editor", "2.1.0")
///     .with_abilities(HandlerCapabilities::none().with_forms())
///     .with_replay(ReplayPolicy::Idempotent)
///     .build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// assert_eq!(host.connected(), ["sums"]);
/// # demo::done() });
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct HostBuilder {
    client: Client,
    limits: Limits,
    abilities: HandlerCapabilities,
    handler: Option<Arc<dyn ClientHandler>>,
    roots: Option<Vec<Root>>,
    connectors: Connectors,
    name_limit: NameLimit,
    drift_policy: DriftPolicy,
    pins: Pins,
    settings: CallSettings,
    gate: Option<Arc<Gate>>,
    local_tools: Vec<Arc<dyn LocalTool>>,
    has_resource_tools: bool,
    keeps_all_lists: bool,
    retries_failed: bool,
    session_limits: SessionLimits,
}

impl HostBuilder {
    pub(crate) fn new() -> Self {
        Self {
            client: Client::new(),
            limits: Limits::default(),
            abilities: HandlerCapabilities::none(),
            handler: None,
            roots: None,
            connectors: Connectors::default(),
            name_limit: NameLimit::default(),
            drift_policy: DriftPolicy::default(),
            pins: Pins::new(),
            settings: CallSettings::default(),
            gate: None,
            local_tools: Vec::new(),
            has_resource_tools: true,
            keeps_all_lists: false,
            retries_failed: false,
            session_limits: SessionLimits::default(),
        }
    }

    /// Sets the name and version that servers receive.
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = self.client.with_name(name, version);
        self
    }

    /// Sets the revision policy; the default is all revisions.
    pub fn with_revisions(mut self, offer: RevisionPolicy) -> Self {
        self.client = self.client.with_revisions(offer);
        self
    }

    /// Lets servers of the modern era turn a long call into a task, which is then polled until its result.
    pub fn with_tasks(mut self) -> Self {
        self.client = self.client.with_tasks();
        self
    }

    /// Sets the timeouts and limits of sessions; timeouts of a server's spec win.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets which requests of servers the runs of this host can answer; none by default. Declared when a server connects.
    pub fn with_abilities(mut self, abilities: HandlerCapabilities) -> Self {
        self.abilities = abilities;
        self
    }

    /// Sets the handler of requests of servers that belong to no run with a handler: outside of calls, in calls without a
    /// run, and where it is not known which of several calls a legacy server asks for. By default they are rejected. What
    /// servers may ask is set by [`Self::with_abilities`].
    pub fn with_handler(mut self, handler: Arc<dyn ClientHandler>) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Sets the roots that every server receives; [`Host::set_roots`] changes them.
    pub fn with_roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// Registers a server in this process by name.
    pub fn with_server(self, name: impl Into<String>, server: &Arc<Server>) -> Self {
        self.connectors.in_process.write().insert(name.into(), Arc::clone(server));
        self
    }

    /// Sets the token source of claude.ai connectors.
    pub fn with_token_source(mut self, tokens: Arc<dyn TokenSource>) -> Self {
        self.connectors.tokens = Some(tokens);
        self
    }

    /// Sets the credential provider of HTTP servers.
    pub fn with_credentials(mut self, credentials: Arc<dyn CredentialProvider>) -> Self {
        self.connectors.credentials = Some(credentials);
        self
    }

    /// Sets the length limit of qualified names; the default is 64.
    pub fn with_name_limit(mut self, limit: NameLimit) -> Self {
        self.name_limit = limit;
        self
    }

    /// Sets the length limit of qualified names to that of a model provider. [`Catalog::for_models`] adapts the schemas.
    ///
    /// [`Catalog::for_models`]: crate::Catalog::for_models
    pub fn with_profile(self, profile: Profile) -> Self {
        self.with_name_limit(profile.name_limit())
    }

    /// Sets the pinned definitions of an earlier run, and what happens to a tool whose definition differs.
    pub fn with_pins(mut self, pins: Pins, drift_policy: DriftPolicy) -> Self {
        self.pins = pins;
        self.drift_policy = drift_policy;
        self
    }

    /// Sets the permissions of calls: a policy, or a [`Gate`] with remembered answers and an approver. The host passes the
    /// servers and their trust levels to it.
    ///
    /// ```
    /// use switchboard::host::Host;
    /// use switchboard::host::permission::{Policy, Rules, FallbackPolicy};
    ///
    /// let host = Host::builder().permissions(Policy::new(Rules::new([])).with_fallback(FallbackPolicy::ByEffects)).build();
    /// assert!(host.permissions().is_some());
    /// ```
    pub fn permissions(mut self, gate: impl Into<Gate>) -> Self {
        let gate = Arc::new(gate.into());
        let policy: Arc<Gate> = Arc::clone(&gate);
        self.settings.policy = Some(policy);
        self.gate = Some(gate);
        self
    }

    /// Sets what happens to a call by a name that several servers use for a tool; the default is an error.
    pub fn ambiguous_names(mut self, names: AmbiguousNamePolicy) -> Self {
        self.settings.ambiguous = names;
        self
    }

    /// Sets the policy that decides about calls; all are allowed by default. [`Self::permissions`] suffices for most hosts.
    pub fn with_call_policy(mut self, policy: Arc<dyn CallPolicy>) -> Self {
        self.settings.policy = Some(policy);
        self
    }

    /// Sets whether a call with an unknown outcome is repeated; the default is never.
    pub fn with_replay(mut self, replay: ReplayPolicy) -> Self {
        self.settings.replay = replay;
        self
    }

    /// Sets whether arguments and structured results are validated; the default is on.
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.settings.validation = validation;
        self
    }

    /// Sets how large results are spilled to files; the default is not at all.
    pub fn with_spill(mut self, spill: SpillPolicy) -> Self {
        self.settings.spill = Some(spill);
        self
    }

    /// Sets the trace context of calls, which servers receive.
    pub fn with_trace_context(mut self, trace: Arc<dyn TraceContext>) -> Self {
        self.settings.trace = Some(trace);
        self
    }

    /// Adds a tool of the application.
    pub fn with_tool(mut self, tool: Arc<dyn LocalTool>) -> Self {
        self.local_tools.push(tool);
        self
    }

    /// Removes the two built-in tools that let a model read resources.
    pub fn without_resource_tools(mut self) -> Self {
        self.has_resource_tools = false;
        self
    }

    /// Keeps the prompts, resources and templates of every server beside its tools: they are fetched when it connects and when
    /// it announces a change, and [`Catalog::lists`](crate::Catalog::lists) returns them without a request.
    pub fn with_all_lists(mut self) -> Self {
        self.keeps_all_lists = true;
        self
    }

    /// Sets how the spans of tool calls are named.
    pub fn with_span_names(mut self, names: SpanNames) -> Self {
        self.settings.span_names = names;
        self
    }

    /// Tries failed servers again about once a minute, unless their failure is permanent or they are never restarted: for a
    /// program that nobody watches, such as a gateway.
    pub fn with_endless_retries(mut self) -> Self {
        self.retries_failed = true;
        self
    }

    /// Shows the messages of all sessions to this observer, over every transport. Each frame has the name of its server, the
    /// number of its session and the [number](crate::CallNumber) of its call.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use std::sync::Arc;
    ///
    /// use switchboard::host::{ObservedFrame, TrafficObserver, TrafficSource};
    /// use switchboard::{Host, InProcess, json};
    ///
    /// #[derive(Default)]
    /// struct Counter(AtomicUsize);
    ///
    /// impl TrafficObserver for Counter {
    ///     fn is_watching(&self) -> bool {
    ///         true
    ///     }
    ///     fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///         println!("{:?} {}", source.server, frame.text());
    ///     }
    /// }
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let counter = Arc::new(Counter::default());
    /// let host = Host::builder().with_traffic_observer(counter.clone()).build();
    /// host.connect("sums", InProcess::new(&demo::server())).await?;
    /// let opening = counter.0.load(Ordering::Relaxed);
    /// host.call_tool("sums", "add", json!({ "a": 1, "b": 2 })).await?;
    /// assert_eq!(counter.0.load(Ordering::Relaxed) - opening, 3); // request, progress, response
    /// # demo::done() });
    /// ```
    pub fn with_traffic_observer(mut self, observer: Arc<dyn TrafficObserver>) -> Self {
        self.connectors.traffic = Traffic::new(observer);
        self
    }

    /// Sets how many [keyed sessions](crate::SessionScope) the host holds at once.
    pub fn with_session_limits(mut self, limits: SessionLimits) -> Self {
        self.session_limits = limits;
        self
    }

    /// Builds the host. No task runs until a server is added, which needs a runtime.
    pub fn build(self) -> Host {
        let events = EventSender::new();
        let registry = Registry::new(events.clone(), self.name_limit, self.drift_policy, self.pins);
        let shared = SharedState {
            connectors: self.connectors,
            registry,
            events,
            keeps_all_lists: self.keeps_all_lists,
            retries_failed: self.retries_failed,
            client: self.client,
            limits: self.limits,
            roots: RwLock::new(self.roots),
            session_budget: Arc::new(SessionBudget::new(self.session_limits)),
            resumes: watch::Sender::new(0),
            detaches: AtomicBool::new(false),
        };
        let (local_tools, with_builtins) = (self.local_tools, self.has_resource_tools);
        let inner = Arc::new_cyclic(|host| {
            let builtin = with_builtins.then(|| builtin::tools(host)).into_iter().flatten();
            shared.registry.add_local_tools(builtin.chain(local_tools));
            HostState::new(Arc::new(shared), self.settings, self.abilities, self.gate)
                .with_handler(self.handler)
        });
        Host { inner }
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder").field("client", &self.client).finish_non_exhaustive()
    }
}
