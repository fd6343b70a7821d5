//! The client: the settings of its sessions, and how a session is opened.

use std::sync::{Arc, OnceLock};

use switchboard_protocol::{
    ClientCapabilities, ElicitationCapability, Implementation, Root, RootsCapability, SamplingCapability,
    Settings,
};

use crate::client::ClientHandler;
use crate::client::session::ClientSession;
use crate::era::{EraHint, RevisionPolicy, SessionConfig};
use crate::link::Dial;
use crate::request::{CallError, Limits};

/// The id of the extension for tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A client: its name, its handler, the revisions it speaks, its limits.
///
/// One client can open any number of sessions.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::client::Limits;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let mut limits = Limits::default();
/// limits.call_total = Duration::from_secs(120);
/// let client = Client::new().with_name("editor", "2.1.0").with_limits(limits);
/// let session = client.connect(InProcess::new(&demo::server())).await?;
/// assert!(session.is_ready());
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Client {
    settings: Box<ClientSettings>,
    /// The configuration of all sessions, built for the first one.
    config: OnceLock<Arc<SessionConfig>>,
}

/// The settings of a client, as set by its builder methods.
#[derive(Clone)]
struct ClientSettings {
    implementation: Implementation,
    revisions: RevisionPolicy,
    era_hint: Option<EraHint>,
    capabilities: Option<ClientCapabilities>,
    extensions: Settings,
    handler: Arc<dyn ClientHandler>,
    roots: Option<Vec<Root>>,
    limits: Limits,
}

impl Client {
    /// Creates a client that speaks every revision and has no handler.
    pub fn new() -> Self {
        let settings = ClientSettings {
            implementation: Implementation::new("switchboard", env!("CARGO_PKG_VERSION")),
            revisions: RevisionPolicy::Any,
            era_hint: None,
            capabilities: None,
            extensions: Settings::new(),
            handler: Arc::new(()),
            roots: None,
            limits: Limits::default(),
        };
        Self { settings: Box::new(settings), config: OnceLock::new() }
    }

    /// Returns the settings for a change, and discards the configuration built from them.
    fn settings_mut(&mut self) -> &mut ClientSettings {
        self.config = OnceLock::new();
        &mut self.settings
    }

    /// Sets the client name and version sent to servers.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.settings_mut().implementation = Implementation::new(name, version);
        self
    }

    /// Sets the implementation info sent to servers.
    #[must_use]
    pub fn with_implementation(mut self, implementation: Implementation) -> Self {
        self.settings_mut().implementation = implementation;
        self
    }

    /// Sets the revisions that the client speaks; all of them by default.
    #[must_use]
    pub fn with_revisions(mut self, revisions: RevisionPolicy) -> Self {
        self.settings_mut().revisions = revisions;
        self
    }

    /// Sets the era of the server as found by an earlier session, so that no probe is needed.
    #[must_use]
    pub fn with_era_hint(mut self, era_hint: EraHint) -> Self {
        self.settings_mut().era_hint = Some(era_hint);
        self
    }

    /// Sets the handler of requests from servers. Its capabilities are declared to them.
    #[must_use]
    pub fn with_answers(mut self, answers: impl ClientHandler) -> Self {
        self.settings_mut().handler = Arc::new(answers);
        self
    }

    /// Sets the roots of all sessions, in either era; each session can [change its own](ClientSession::set_roots).
    #[must_use]
    pub fn with_roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.settings_mut().roots = Some(roots.into());
        self
    }

    /// Declares exactly these capabilities instead of those of the handler.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.settings_mut().capabilities = Some(capabilities);
        self
    }

    /// Lets servers of the modern era turn a long call into a task, which is then polled until its result.
    #[must_use]
    pub fn with_tasks(mut self) -> Self {
        self.settings_mut().extensions.insert(TASKS, switchboard_protocol::Raw::empty_object());
        self
    }

    /// Declares an extension, with its settings: an object, mostly an empty one.
    #[must_use]
    pub fn with_extension(mut self, id: impl Into<String>, settings: switchboard_protocol::Raw) -> Self {
        self.settings_mut().extensions.insert(id.into(), settings);
        self
    }

    /// Sets timeouts and size limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.settings_mut().limits = limits;
        self
    }

    /// Connects to a server and opens a session.
    ///
    /// # Errors
    /// When the server does not start, does not answer, or shares no revision.
    ///
    /// # Cancellation
    /// Dropping the future stops the server that was started for it.
    ///
    /// The future borrows nothing, so that it can be spawned:
    ///
    /// ```
    /// # use switchboard::transport::link::Dial;
    /// # use switchboard::Client;
    /// # fn spawn(server: impl Dial) {
    /// let opening = tokio::spawn(Client::new().connect(server));
    /// # }
    /// ```
    pub fn connect<D: Dial>(
        &self,
        dial: D,
    ) -> impl Future<Output = Result<ClientSession, CallError>> + Send + use<D> {
        // Not an async fn: the future would hold `dial` twice.
        let session = self.session(dial);
        async move {
            session.initialize().await?;
            Ok(session)
        }
    }

    /// Creates a session that is not open yet: [`ClientSession::initialize`] opens it.
    pub fn session(&self, dial: impl Dial) -> ClientSession {
        let config = self.config.get_or_init(|| Arc::new(self.settings.config()));
        ClientSession::new(Arc::new(dial), Arc::clone(config), Arc::clone(&self.settings.handler))
    }
}

impl ClientSettings {
    fn config(&self) -> SessionConfig {
        let derived = || {
            let handler_capabilities = self.handler.capabilities();
            let mut capabilities = ClientCapabilities::new();
            if handler_capabilities.forms || handler_capabilities.urls {
                let mut elicitation = ElicitationCapability::new();
                elicitation.form = handler_capabilities.forms.then(Settings::new);
                elicitation.url = handler_capabilities.urls.then(Settings::new);
                capabilities.elicitation = Some(elicitation);
            }
            if handler_capabilities.sampling {
                let mut sampling = SamplingCapability::new();
                sampling.tools = handler_capabilities.sampling_tools.then(Settings::new);
                capabilities.sampling = Some(sampling);
            }
            capabilities
        };
        let base = self.capabilities.clone().unwrap_or_else(derived);
        let mut legacy_capabilities = base.clone();
        if self.capabilities.is_none() {
            // Every session answers `roots/list`. In the modern era the feature is deprecated, and declared only where there
            // are roots.
            legacy_capabilities.roots = Some(RootsCapability::new().with_list_changed(true));
        }
        let mut modern_capabilities = base;
        if self.capabilities.is_none() && (self.roots.is_some() || self.handler.capabilities().roots) {
            modern_capabilities.roots = Some(RootsCapability::new());
        }
        for (id, settings) in self.extensions.iter() {
            modern_capabilities.extensions.get_or_insert_default().insert(id, settings.clone());
            // `lower` removes the ones that the negotiated revision does not have.
            legacy_capabilities.extensions.get_or_insert_default().insert(id, settings.clone());
        }
        SessionConfig {
            revisions: self.revisions,
            era_hint: self.era_hint,
            implementation: self.implementation.clone(),
            legacy_capabilities,
            modern_capabilities,
            limits: self.limits.clone(),
            roots: self.roots.clone().unwrap_or_default(),
        }
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("implementation", &self.settings.implementation.name)
            .field("revisions", &self.settings.revisions)
            .finish_non_exhaustive()
    }
}
