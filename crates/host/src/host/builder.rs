//! A host being put together.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::RwLock;
use switchboard_protocol::Root;
use switchboard_session::client::{HandlerCapabilities, Limits};
use switchboard_session::server::Server;
use switchboard_session::{Client, RevisionPolicy};
use tokio::sync::watch;

use crate::builtin;
use crate::connection::{Connectors, CredentialProvider, SharedState, TokenSource};
use crate::event::Announcer;
use crate::host::Host;
use crate::local_tool::LocalTool;
use crate::permission::Gate;
use crate::policy::{AmbiguousNames, CallPolicy, CallSettings, Replay, Spill, TraceContext};
use crate::registry::name::NameLimit;
use crate::registry::profile::Profile;
use crate::registry::{Naming, OnDrift, Pins, Registry};
use crate::set::Inner;
use crate::validation::Validation;

/// A host being put together.
#[must_use = "a builder does nothing until it builds"]
pub struct HostBuilder {
    client: Client,
    limits: Limits,
    abilities: HandlerCapabilities,
    roots: Option<Vec<Root>>,
    connectors: Connectors,
    naming: Naming,
    on_drift: OnDrift,
    pins: Pins,
    settings: CallSettings,
    gate: Option<Arc<Gate>>,
    own: Vec<Arc<dyn LocalTool>>,
    resources: Builtins,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Builtins {
    With,
    Without,
}

impl HostBuilder {
    pub(crate) fn new() -> Self {
        Self {
            client: Client::new(),
            limits: Limits::default(),
            abilities: HandlerCapabilities::none(),
            roots: None,
            connectors: Connectors::default(),
            naming: Naming { limit: NameLimit::default() },
            on_drift: OnDrift::default(),
            pins: Pins::new(),
            settings: CallSettings::default(),
            gate: None,
            own: Vec::new(),
            resources: Builtins::With,
        }
    }

    /// Who this is, for servers to show.
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = self.client.with_name(name, version);
        self
    }

    /// Which revisions are spoken: all of them unless set.
    pub fn with_revisions(mut self, offer: RevisionPolicy) -> Self {
        self.client = self.client.with_revisions(offer);
        self
    }

    /// How long sessions wait and how much they take; the timeouts of a server's description win.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What the runs of this host can be asked by servers. Nothing, unless set: servers are told when they connect.
    pub fn with_abilities(mut self, abilities: HandlerCapabilities) -> Self {
        self.abilities = abilities;
        self
    }

    /// The roots that every server is told; [`Host::set_roots`] changes them.
    pub fn with_roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// A server in this program, to be reached by name.
    pub fn with_server(self, name: impl Into<String>, server: &Arc<Server>) -> Self {
        self.connectors.in_process.write().insert(name.into(), Arc::clone(server));
        self
    }

    /// Who gives tokens for connectors.
    pub fn with_token_source(mut self, tokens: Arc<dyn TokenSource>) -> Self {
        self.connectors.tokens = Some(tokens);
        self
    }

    /// Who gives credentials for servers over HTTP.
    pub fn with_credentials(mut self, credentials: Arc<dyn CredentialProvider>) -> Self {
        self.connectors.credentials = Some(credentials);
        self
    }

    /// The longest name a model is given; 64 unless set.
    pub fn with_name_limit(mut self, limit: NameLimit) -> Self {
        self.naming = Naming { limit };
        self
    }

    /// For the models of a provider: names are as long as it takes. [`Catalog::for_models`] gives the schemas.
    ///
    /// [`Catalog::for_models`]: crate::Catalog::for_models
    pub fn with_profile(self, profile: Profile) -> Self {
        self.with_name_limit(profile.name_limit())
    }

    /// Definitions as they were first seen, from an earlier run; and what happens to one that is another now.
    pub fn with_pins(mut self, pins: Pins, on_drift: OnDrift) -> Self {
        self.pins = pins;
        self.on_drift = on_drift;
        self
    }

    /// Decides about calls by a policy, or by a [`Gate`] with remembered answers and somebody to ask. The host tells it
    /// which servers there are and whether they are trusted; nothing has to be registered.
    ///
    /// ```
    /// use switchboard::host::Host;
    /// use switchboard::host::permission::{Policy, Rules, Stance};
    ///
    /// let host = Host::builder().permissions(Policy::new(Rules::new([])).with_stance(Stance::ByEffects)).build();
    /// assert!(host.permissions().is_some());
    /// ```
    pub fn permissions(mut self, gate: impl Into<Gate>) -> Self {
        let gate = Arc::new(gate.into());
        let policy: Arc<Gate> = Arc::clone(&gate);
        self.settings.policy = Some(policy);
        self.gate = Some(gate);
        self
    }

    /// What happens to a call by a name that several servers have for a tool; it is refused unless set.
    pub fn ambiguous_names(mut self, names: AmbiguousNames) -> Self {
        self.settings.ambiguous = names;
        self
    }

    /// Who decides whether a call may be made; every one may, unless set. [`Self::permissions`] is all that most hosts need.
    pub fn with_call_policy(mut self, policy: Arc<dyn CallPolicy>) -> Self {
        self.settings.policy = Some(policy);
        self
    }

    /// Whether a call whose outcome is unknown is made again; never, unless set.
    pub fn with_replay(mut self, replay: Replay) -> Self {
        self.settings.replay = replay;
        self
    }

    /// Whether arguments and structured results are checked against their schemas; they are, unless set.
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.settings.validation = validation;
        self
    }

    /// Where results too large for a model go; nowhere, unless set.
    pub fn with_spill(mut self, spill: Spill) -> Self {
        self.settings.spill = Some(spill);
        self
    }

    /// Who says which trace a call belongs to, for servers to join.
    pub fn with_trace_context(mut self, trace: Arc<dyn TraceContext>) -> Self {
        self.settings.trace = Some(trace);
        self
    }

    /// A tool of the application itself.
    pub fn with_tool(mut self, tool: Arc<dyn LocalTool>) -> Self {
        self.own.push(tool);
        self
    }

    /// Without the two tools that let a model read resources.
    pub fn without_resource_tools(mut self) -> Self {
        self.resources = Builtins::Without;
        self
    }

    /// The host. Nothing runs until servers are connected, which needs a runtime.
    pub fn build(self) -> Host {
        let events = Announcer::new();
        let registry = Registry::new(events.clone(), self.naming, self.on_drift, self.pins);
        let shared = SharedState {
            connectors: self.connectors,
            registry,
            events,
            client: self.client,
            limits: self.limits,
            roots: RwLock::new(self.roots),
            woken: watch::Sender::new(0),
            detaches: AtomicBool::new(false),
        };
        let (own, with) = (self.own, self.resources == Builtins::With);
        let inner = Arc::new_cyclic(|host| {
            let builtin = with.then(|| builtin::tools(host)).into_iter().flatten();
            shared.registry.add_own(builtin.chain(own));
            Inner::new(Arc::new(shared), self.settings, self.abilities, self.gate)
        });
        Host { inner }
    }
}

impl std::fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBuilder").field("client", &self.client).finish_non_exhaustive()
    }
}
