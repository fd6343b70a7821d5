//! What a client brings to its sessions, and how one is opened.

use std::sync::{Arc, OnceLock};

use switchboard_protocol::{
    ClientCapabilities, ElicitationCapability, Implementation, Root, RootsCapability, SamplingCapability,
    Settings,
};

use crate::client::ClientHandler;
use crate::client::session::ClientSession;
use crate::era::{EraHint, Opening, RevisionPolicy};
use crate::link::Dial;
use crate::request::{CallError, Limits};

/// The id of the extension for tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A client: who it is, what it can be asked, which revisions it speaks, how long it waits.
///
/// Open as many sessions with it as there are servers.
#[derive(Clone)]
pub struct Client {
    brings: Box<Brings>,
    /// What all its sessions open with, made for the first of them.
    opening: OnceLock<Arc<Opening>>,
}

#[derive(Clone)]
struct Brings {
    who: Implementation,
    offer: RevisionPolicy,
    known: Option<EraHint>,
    capabilities: Option<ClientCapabilities>,
    extensions: Settings,
    answers: Arc<dyn ClientHandler>,
    roots: Option<Vec<Root>>,
    limits: Limits,
}

impl Client {
    /// A client that speaks every revision and answers nothing.
    pub fn new() -> Self {
        let brings = Brings {
            who: Implementation::new("switchboard", env!("CARGO_PKG_VERSION")),
            offer: RevisionPolicy::Any,
            known: None,
            capabilities: None,
            extensions: Settings::new(),
            answers: Arc::new(()),
            roots: None,
            limits: Limits::default(),
        };
        Self { brings: Box::new(brings), opening: OnceLock::new() }
    }

    /// To change what it brings: sessions opened from now on open with that.
    fn brings(&mut self) -> &mut Brings {
        self.opening = OnceLock::new();
        &mut self.brings
    }

    /// Who this is, for servers to show.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.brings().who = Implementation::new(name, version);
        self
    }

    /// Who this is, in full.
    #[must_use]
    pub fn with_implementation(mut self, who: Implementation) -> Self {
        self.brings().who = who;
        self
    }

    /// Which revisions are spoken: all of them unless set.
    #[must_use]
    pub fn with_offer(mut self, offer: RevisionPolicy) -> Self {
        self.brings().offer = offer;
        self
    }

    /// What is known of the server from an earlier session, so that no probe is needed.
    #[must_use]
    pub fn with_verdict(mut self, verdict: EraHint) -> Self {
        self.brings().known = Some(verdict);
        self
    }

    /// Who answers what servers ask. What it can answer is declared to them.
    #[must_use]
    pub fn with_answers(mut self, answers: impl ClientHandler) -> Self {
        self.brings().answers = Arc::new(answers);
        self
    }

    /// The roots that sessions answer for, in either era; each session can
    /// [change its own](ClientSession::set_roots).
    #[must_use]
    pub fn with_roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        self.brings().roots = Some(roots.into());
        self
    }

    /// Declares exactly these capabilities instead of those that follow from the answers.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.brings().capabilities = Some(capabilities);
        self
    }

    /// Lets servers of the modern era turn a long call into a task, which is then followed to its result.
    #[must_use]
    pub fn with_tasks(mut self) -> Self {
        self.brings().extensions.insert(TASKS, switchboard_protocol::Raw::empty_object());
        self
    }

    /// Declares an extension, with its settings: an object, mostly an empty one.
    #[must_use]
    pub fn with_extension(mut self, id: impl Into<String>, settings: switchboard_protocol::Raw) -> Self {
        self.brings().extensions.insert(id.into(), settings);
        self
    }

    /// How long to wait and how much to take.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.brings().limits = limits;
        self
    }

    /// Connects to a server and opens a session.
    ///
    /// # Errors
    /// When the server does not start, does not answer, or shares no revision.
    ///
    /// # Cancellation
    /// Dropping the future ends the server that was started for it.
    ///
    /// The future borrows nothing, so that it can be spawned:
    ///
    /// ```
    /// # use switchboard::session::{Client, link::Dial};
    /// # fn spawn(server: impl Dial) {
    /// let opening = tokio::spawn(Client::new().connect(server));
    /// # }
    /// ```
    pub fn connect<D: Dial>(
        &self,
        dial: D,
    ) -> impl Future<Output = Result<ClientSession, CallError>> + Send + use<D> {
        // Not an async fn: the future would have room for what it dials, twice.
        let session = self.session(dial);
        async move {
            session.initialize().await?;
            Ok(session)
        }
    }

    /// A session that is not open yet: [`ClientSession::initialize`] opens it.
    pub fn session(&self, dial: impl Dial) -> ClientSession {
        let opening = self.opening.get_or_init(|| Arc::new(self.brings.opening()));
        ClientSession::new(Arc::new(dial), Arc::clone(opening), Arc::clone(&self.brings.answers))
    }
}

impl Brings {
    fn opening(&self) -> Opening {
        let derived = || {
            let abilities = self.answers.abilities();
            let mut capabilities = ClientCapabilities::new();
            if abilities.forms || abilities.urls {
                let mut elicitation = ElicitationCapability::new();
                elicitation.form = abilities.forms.then(Settings::new);
                elicitation.url = abilities.urls.then(Settings::new);
                capabilities.elicitation = Some(elicitation);
            }
            if abilities.sampling {
                let mut sampling = SamplingCapability::new();
                sampling.tools = abilities.sampling_tools.then(Settings::new);
                capabilities.sampling = Some(sampling);
            }
            capabilities
        };
        let base = self.capabilities.clone().unwrap_or_else(derived);
        let mut legacy_capabilities = base.clone();
        if self.capabilities.is_none() {
            // Every session answers for its roots. In the modern era the feature is on its way out, and so is declared
            // only where there are some.
            legacy_capabilities.roots = Some(RootsCapability::new().with_list_changed(true));
        }
        let mut modern_capabilities = base;
        if self.capabilities.is_none() && self.roots.is_some() {
            modern_capabilities.roots = Some(RootsCapability::new());
        }
        for (id, settings) in self.extensions.iter() {
            modern_capabilities.extensions.get_or_insert_default().insert(id, settings.clone());
            // What has no place there is left out when the session opens.
            legacy_capabilities.extensions.get_or_insert_default().insert(id, settings.clone());
        }
        Opening {
            offer: self.offer,
            known: self.known,
            who: self.who.clone(),
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
            .field("who", &self.brings.who.name)
            .field("offer", &self.brings.offer)
            .finish_non_exhaustive()
    }
}
