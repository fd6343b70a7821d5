//! The description of one server: how it is reached, when it is started, and which of its tools are shown.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_session::link::Dial;
use switchboard_session::server::InProcess;
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::config::{
    Configured, Fault, RESTARTS, Restart, STARTUP, ServerConfig, ServerPlan, Settings, Start,
};
use crate::manifest::Manifest;
use crate::transport::Transport;

/// The description of one server, for [`Host::connect`](crate::Host::connect), [`add`](crate::Host::add) and
/// [`set_servers`](crate::Host::set_servers).
///
/// Made from a [`Stdio`], an [`Http`], an [`InProcess`] server or a [`ServerConfig`]; those can be passed wherever a
/// `ServerSpec` is expected. References to variables (`${VAR}`) in a `ServerConfig` are filled in from the environment of
/// this process when it is converted; one that is not set is an error when the server is connected.
///
/// ```
/// use std::time::Duration;
/// use switchboard::host::ServerSpec;
/// use switchboard::transport::stdio::Stdio;
///
/// let spec = ServerSpec::from(Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-memory"]))
///     .call_timeout(Duration::from_secs(20))
///     .deny_tools(["delete_*"]);
/// assert!(!spec.required);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerSpec {
    /// How the server is reached.
    pub transport: Transport,
    /// Whether it is started, and when.
    pub start: Start,
    /// What happens when the connection is lost.
    pub restart: Restart,
    /// Whether [`Host::required`](crate::Host::required) waits for it.
    pub required: bool,
    /// Whether permission rules believe what its tools say of their effects.
    pub trust: bool,
    /// How long connecting may take in all.
    pub startup_timeout: Duration,
    /// How long one call may take in all; without one, the limit of the session.
    pub call_timeout: Option<Duration>,
    /// Globs of the tools that are shown; without any, all are.
    pub allow_tools: Vec<String>,
    /// Globs of the tools that are hidden; they win over `allow_tools`.
    pub deny_tools: Vec<String>,
    /// The configuration as it was written, secrets masked; without one, a status describes the transport.
    pub written: Option<Arc<Value>>,
    /// Where it was configured: `project`, `user`, `local`, `claudeai`, `managed`.
    pub scope: Option<Arc<str>>,
    /// The tools it listed when it last ran.
    pub manifest: Option<Arc<Manifest>>,
}

impl ServerSpec {
    /// Describes a server that is reached over this transport, with default settings: started at once, reconnected when
    /// the connection is lost.
    pub fn new(transport: impl Into<Transport>) -> Self {
        Self {
            transport: transport.into(),
            start: Start::AtOnce,
            restart: Restart::WithBackoff { most: RESTARTS },
            required: false,
            trust: false,
            startup_timeout: STARTUP,
            call_timeout: None,
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            written: None,
            scope: None,
            manifest: None,
        }
    }

    /// A configured server, with what a status shows of its entry.
    ///
    /// # Errors
    /// When its entry cannot be run.
    pub fn of(server: &Configured) -> Result<Self, Fault> {
        server.plan.as_ref().map(Self::from).map_err(Clone::clone)
    }

    /// Describes a server that is reached over a transport of the application's own. To have
    /// [`set_servers`](crate::Host::set_servers) recognize it, clone the spec, or make it from an `Arc<impl Dial>`: custom
    /// dials compare by identity.
    pub fn custom(dial: impl Dial) -> Self {
        Self::from(Arc::new(dial))
    }

    /// Describes a claude.ai connector: HTTP with a bearer token that the host's [`TokenSource`](crate::TokenSource)
    /// gives for this id.
    pub fn claudeai_proxy(url: impl Into<String>, id: impl Into<String>) -> Self {
        Self::new(Transport::Proxy { url: url.into(), id: id.into() })
    }

    /// Describes a server in this process by the name it was [registered](crate::Host::register) under.
    pub fn registered(name: impl Into<String>) -> Self {
        Self::new(Transport::Registered { name: name.into() })
    }

    /// Sets when it is started.
    #[must_use]
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Sets what happens when the connection is lost.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = restart;
        self
    }

    /// Makes [`Host::required`](crate::Host::required) wait for it.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Lets permission rules believe what its tools say of their effects.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.trust = true;
        self
    }

    /// Sets how long connecting may take in all.
    #[must_use]
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.startup_timeout = timeout;
        self
    }

    /// Sets how long one call may take in all.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Shows only the tools that match one of these globs.
    #[must_use]
    pub fn allow_tools<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.allow_tools = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Hides the tools that match one of these globs.
    #[must_use]
    pub fn deny_tools<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.deny_tools = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the configuration that a status shows; secrets must be masked.
    #[must_use]
    pub fn with_written(mut self, written: Value) -> Self {
        self.written = Some(Arc::new(written));
        self
    }

    /// Sets where it was configured.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<Arc<str>>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Sets the tools it listed when it last ran, so that it need not be started before it is used.
    #[must_use]
    pub fn with_manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(Arc::new(manifest));
        self
    }

    /// Whether a connection made for `other` serves this description too. What only a status or a permission shows does
    /// not count.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        let Self { transport, start, restart, required, startup_timeout, call_timeout, .. } = self;
        *transport == other.transport
            && *start == other.start
            && *restart == other.restart
            && *required == other.required
            && *startup_timeout == other.startup_timeout
            && *call_timeout == other.call_timeout
            && self.allow_tools == other.allow_tools
            && self.deny_tools == other.deny_tools
    }

    /// The configuration that a status shows: as it was written, or else made from the transport and the settings.
    pub(crate) fn shown_config(&self) -> Arc<Value> {
        let settings = || {
            let mut settings = Settings::default();
            settings.required = self.required;
            settings.lazy = self.start == Start::WhenUsed;
            settings.disabled = matches!(self.start, Start::Off(_));
            settings.trust = self.trust;
            settings.timeout = self.call_timeout;
            settings.startup_timeout = (self.startup_timeout != STARTUP).then_some(self.startup_timeout);
            settings.restart =
                (self.restart != Restart::WithBackoff { most: RESTARTS }).then_some(self.restart);
            settings.allow_tools.clone_from(&self.allow_tools);
            settings.deny_tools.clone_from(&self.deny_tools);
            settings
        };
        self.written.clone().unwrap_or_else(|| Arc::new(self.transport.masked(&settings())))
    }
}

impl From<Transport> for ServerSpec {
    fn from(transport: Transport) -> Self {
        Self::new(transport)
    }
}

impl From<Stdio> for ServerSpec {
    fn from(stdio: Stdio) -> Self {
        Self::new(stdio)
    }
}

impl From<Http> for ServerSpec {
    fn from(http: Http) -> Self {
        Self::new(http)
    }
}

impl From<InProcess> for ServerSpec {
    fn from(server: InProcess) -> Self {
        Self::new(server)
    }
}

/// A transport of the application's own; compared by the identity of the `Arc`.
impl<D: Dial> From<Arc<D>> for ServerSpec {
    fn from(dial: Arc<D>) -> Self {
        Self::new(Transport::Custom(dial))
    }
}

impl From<ServerPlan> for ServerSpec {
    fn from(plan: ServerPlan) -> Self {
        Self::from(&plan)
    }
}

impl From<&ServerPlan> for ServerSpec {
    fn from(plan: &ServerPlan) -> Self {
        let settings = &plan.settings;
        Self {
            transport: Transport::of(&plan.kind, plan.base_directory.as_deref()),
            start: plan.start,
            restart: settings.restart.unwrap_or(Restart::WithBackoff { most: RESTARTS }),
            required: settings.required,
            trust: settings.trust,
            startup_timeout: settings.startup_timeout.unwrap_or(STARTUP),
            call_timeout: settings.timeout,
            allow_tools: settings.allow_tools.clone(),
            deny_tools: settings.deny_tools.clone(),
            written: Some(Arc::clone(&plan.written)),
            scope: plan.scope.map(|scope| scope.word().into()),
            manifest: None,
        }
    }
}

/// Fills in variables from the environment of this process. A configuration that cannot be used becomes a spec whose
/// connection fails with the fault.
impl From<ServerConfig> for ServerSpec {
    fn from(config: ServerConfig) -> Self {
        Self::from(&config)
    }
}

impl From<&ServerConfig> for ServerSpec {
    fn from(config: &ServerConfig) -> Self {
        let variables = |name: &str| std::env::var(name).ok();
        match config.resolve(&variables) {
            Ok(plan) => Self::from(plan),
            Err(fault) => Self::new(Transport::Invalid(fault)).with_written(config.masked()),
        }
    }
}
