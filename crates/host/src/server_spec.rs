//! The specification of one server: transport, start policy and tool filters.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_session::link::{Challenge, Dial, LoginRequirement};
use switchboard_session::server::InProcess;
use switchboard_transport::http::client::{HeaderHelper, Http};
use switchboard_transport::stdio::Stdio;

use crate::config::{
    ConfigError, ConfiguredServer, DEFAULT_MAX_FAILURES, DEFAULT_STARTUP_TIMEOUT, HeadersHelperConfig,
    OAuthConfig, RestartPolicy, ServerConfig, ServerPlan, Settings, SharePolicy, StartPolicy,
};
use crate::manifest::Manifest;
use crate::transport::Transport;

/// The specification of one server, for [`Host::connect`](crate::Host::connect), [`add`](crate::Host::add) and
/// [`set_servers`](crate::Host::set_servers).
///
/// Converted from a [`Stdio`], an [`Http`], an [`InProcess`] server or a [`ServerConfig`]; those can be passed wherever a
/// `ServerSpec` is expected. References to variables (`${VAR}`) in a `ServerConfig` are substituted from the environment of
/// this process during the conversion; one that is not set is an error when the server is connected.
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
#[must_use = "a server is not connected until its spec is given to a host"]
#[non_exhaustive]
pub struct ServerSpec {
    /// The transport.
    pub transport: Transport,
    /// The settings of logins to it, for the host's [`CredentialProvider`](crate::CredentialProvider).
    pub oauth: Option<Arc<OAuthConfig>>,
    /// The command that prints headers of its requests.
    pub header_helper: Option<HeaderHelper>,
    /// The start policy.
    pub start: StartPolicy,
    /// The restart policy.
    pub restart: RestartPolicy,
    /// Whether [`Host::required`](crate::Host::required) waits for it.
    pub required: bool,
    /// Whether permission policies trust the annotations of its tools.
    pub trust: bool,
    /// The timeout for connecting.
    pub startup_timeout: Duration,
    /// The total timeout of one call; without one, the limit of the session.
    pub call_timeout: Option<Duration>,
    /// How long a session may be unused before it is closed: a keyed one, and that of a server that starts when it is used.
    /// Without one, keyed sessions are closed after 10 minutes, and others stay open.
    pub idle_timeout: Option<Duration>,
    /// Which callers of a gateway share a session with it; see [`Self::share_policy`].
    pub share: Option<SharePolicy>,
    /// Globs of the tools that are shown; empty means all.
    pub allow_tools: Vec<String>,
    /// Globs of the tools that are hidden; they win over `allow_tools`.
    pub deny_tools: Vec<String>,
    /// The configuration as written, secrets masked; without one, a status describes the transport.
    pub written: Option<Arc<Value>>,
    /// Where it was configured: `project`, `user`, `local`, `claudeai`, `managed`.
    pub scope: Option<Arc<str>>,
    /// The tools that it listed when it last ran.
    pub manifest: Option<Arc<Manifest>>,
}

impl ServerSpec {
    /// Creates a spec with default settings: started immediately, reconnected after the connection is lost.
    pub fn new(transport: impl Into<Transport>) -> Self {
        Self {
            transport: transport.into(),
            oauth: None,
            header_helper: None,
            start: StartPolicy::AtOnce,
            restart: RestartPolicy::WithBackoff { max_failures: DEFAULT_MAX_FAILURES },
            required: false,
            trust: false,
            startup_timeout: DEFAULT_STARTUP_TIMEOUT,
            call_timeout: None,
            idle_timeout: None,
            share: None,
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            written: None,
            scope: None,
            manifest: None,
        }
    }

    /// Returns the spec of a configured server.
    ///
    /// # Errors
    /// When its entry is invalid.
    pub fn from_configured(server: &ConfiguredServer) -> Result<Self, ConfigError> {
        server.plan.as_ref().map(Self::from).map_err(Clone::clone)
    }

    /// Creates a spec with a transport of the application. To have
    /// [`set_servers`](crate::Host::set_servers) recognize it, clone the spec, or create it from an `Arc<impl Dial>`: custom
    /// dials compare by identity.
    pub fn custom(dial: impl Dial) -> Self {
        Self::from(Arc::new(dial))
    }

    /// Creates the spec of a claude.ai connector: HTTP with a bearer token from the host's
    /// [`TokenSource`](crate::TokenSource).
    pub fn claudeai_proxy(url: impl Into<String>, id: impl Into<String>) -> Self {
        Self::new(Transport::Proxy { url: url.into(), id: id.into() })
    }

    /// Creates the spec of a server that is [registered](crate::Host::register) in this process.
    pub fn registered(name: impl Into<String>) -> Self {
        Self::new(Transport::Registered { name: name.into() })
    }

    /// Sets how logins to it are made.
    pub fn oauth(mut self, oauth: OAuthConfig) -> Self {
        self.oauth = Some(Arc::new(oauth));
        self
    }

    /// Sets a command that prints headers: it runs when the server is connected, and again when the server refuses them.
    /// Not used if the transport is not HTTP, or has an authorizer of its own.
    pub fn header_helper(mut self, helper: HeaderHelper) -> Self {
        self.header_helper = Some(helper);
        self
    }

    /// Sets the start policy.
    pub fn start(mut self, start: StartPolicy) -> Self {
        self.start = start;
        self
    }

    /// Sets the restart policy.
    pub fn restart(mut self, restart: RestartPolicy) -> Self {
        self.restart = restart;
        self
    }

    /// Makes [`Host::required`](crate::Host::required) wait for it.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Lets permission policies trust the annotations of its tools.
    pub fn trusted(mut self) -> Self {
        self.trust = true;
        self
    }

    /// Sets the timeout for connecting.
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.startup_timeout = timeout;
        self
    }

    /// Sets the total timeout of one call.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Sets how long a session may be unused before it is closed.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets which callers of a gateway share a session with it.
    pub fn share(mut self, policy: SharePolicy) -> Self {
        self.share = Some(policy);
        self
    }

    /// Returns which callers of a gateway share a session with it; by default those of one principal share a child process, and
    /// all share any other server.
    pub fn share_policy(&self) -> SharePolicy {
        let default = match self.transport {
            Transport::Stdio(_) => SharePolicy::PerPrincipal,
            _ => SharePolicy::Always,
        };
        self.share.unwrap_or(default)
    }

    /// Shows only the tools that match one of these globs.
    pub fn allow_tools<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.allow_tools = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Hides the tools that match one of these globs.
    pub fn deny_tools<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Self {
        self.deny_tools = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the configuration that a status shows; secrets must be masked.
    pub fn with_written(mut self, written: Value) -> Self {
        self.written = Some(Arc::new(written));
        self
    }

    /// Sets where it was configured.
    pub fn with_scope(mut self, scope: impl Into<Arc<str>>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Sets the tools that it listed when it last ran, so that it need not be started before it is used.
    pub fn with_manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(Arc::new(manifest));
        self
    }

    /// Returns the challenge with what has to happen next: credentials of the configuration are sent instead of a login.
    pub(crate) fn explain_challenge(&self, mut challenge: Challenge) -> Challenge {
        let has_own = match &self.transport {
            Transport::Http(http) => {
                http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
            }
            _ => false,
        };
        let has_helper = self.header_helper.is_some() && self.oauth.is_none();
        if (has_own || has_helper) && challenge.requirement == LoginRequirement::Login {
            challenge.requirement = LoginRequirement::OtherCredentials;
        }
        challenge
    }

    /// Returns whether a connection made for `other` can be kept for this spec. Fields for display and permissions do not
    /// matter.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        let Self { transport, start, restart, required, startup_timeout, call_timeout, .. } = self;
        *transport == other.transport
            && self.oauth == other.oauth
            && self.header_helper == other.header_helper
            && *start == other.start
            && *restart == other.restart
            && *required == other.required
            && *startup_timeout == other.startup_timeout
            && *call_timeout == other.call_timeout
            && self.idle_timeout == other.idle_timeout
            && self.share == other.share
            && self.allow_tools == other.allow_tools
            && self.deny_tools == other.deny_tools
    }

    /// Returns the configuration that a status shows: as written, or else derived from the transport and the settings.
    pub(crate) fn shown_config(&self) -> Arc<Value> {
        let settings = || {
            let mut settings = Settings::default();
            settings.required = self.required;
            settings.lazy = self.start == StartPolicy::WhenUsed;
            settings.disabled = matches!(self.start, StartPolicy::Off(_));
            settings.trust = self.trust;
            settings.timeout = self.call_timeout;
            (settings.share, settings.idle_timeout) = (self.share, self.idle_timeout);
            settings.startup_timeout =
                (self.startup_timeout != DEFAULT_STARTUP_TIMEOUT).then_some(self.startup_timeout);
            settings.restart = (self.restart
                != RestartPolicy::WithBackoff { max_failures: DEFAULT_MAX_FAILURES })
            .then_some(self.restart);
            settings.allow_tools.clone_from(&self.allow_tools);
            settings.deny_tools.clone_from(&self.deny_tools);
            settings
        };
        self.written
            .clone()
            .unwrap_or_else(|| Arc::new(self.transport.masked(&settings(), self.oauth.as_deref())))
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

/// A transport of the application; compared by the identity of the `Arc`.
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
            transport: Transport::from_config(&plan.transport, plan.base_directory.as_deref()),
            oauth: plan.oauth.clone(),
            header_helper: plan
                .headers_helper
                .as_ref()
                .map(|helper| header_helper(helper, plan.base_directory.as_deref())),
            start: plan.start,
            restart: settings
                .restart
                .unwrap_or(RestartPolicy::WithBackoff { max_failures: DEFAULT_MAX_FAILURES }),
            required: settings.required,
            trust: settings.trust,
            startup_timeout: settings.startup_timeout.unwrap_or(DEFAULT_STARTUP_TIMEOUT),
            call_timeout: settings.timeout,
            idle_timeout: settings.idle_timeout,
            share: settings.share,
            allow_tools: settings.allow_tools.clone(),
            deny_tools: settings.deny_tools.clone(),
            written: Some(Arc::clone(&plan.written)),
            scope: plan.scope.map(|scope| scope.as_str().into()),
            manifest: None,
        }
    }
}

/// Returns the helper of a configuration. It runs in the directory of the project, like the programs of its file.
fn header_helper(config: &HeadersHelperConfig, directory: Option<&Path>) -> HeaderHelper {
    let mut helper = HeaderHelper::new(&config.command);
    for (name, value) in &config.env {
        helper = helper.with_env(name, value.expose());
    }
    for name in &config.inherit_env {
        helper = helper.with_inherited_env(name);
    }
    if let Some(timeout) = config.timeout {
        helper = helper.with_timeout(timeout);
    }
    match directory {
        Some(directory) => helper.with_directory(directory),
        None => helper,
    }
}

/// Substitutes variables from the environment of this process. An invalid configuration becomes a spec whose connection
/// fails with the error.
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
            Err(error) => Self::new(Transport::Invalid(error)).with_written(config.masked()),
        }
    }
}
