//! A server: its info, its capabilities, its handler. One value serves any number of connections.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{CacheHints, CacheScope, Implementation, Meta, Raw, ServerCapabilities};

use crate::era::{
    ClientMetaCache, ComputeCapabilities, Instructions, OpeningPolicy, RevisionPolicy, ServerProfile,
    StateKeys, SubscriptionObserver, UsedStates,
};
use crate::link::TrafficObserver;
use crate::mux::ConnectionLimits;
use crate::request::Caller;
use crate::server::cached_result::ServerId;
use crate::server::layer::{CatchPanic, Layer};
use crate::server::{Handler, Publisher};

/// A server. Cheap to share: build one and serve it on every connection.
///
/// ```
/// use switchboard::protocol::Implementation;
/// use switchboard::{Client, InProcess, Server};
/// # use demo::Demo;
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities()).build(Demo);
/// assert_eq!(server.info().version, "1.0.0");
///
/// let one = Client::new().connect(InProcess::new(&server)).await?; // any number of connections
/// let two = Client::new().connect(InProcess::new(&server)).await?;
/// assert!(one.is_ready() && two.is_ready());
/// # demo::done() });
/// ```
pub struct Server {
    profile: Arc<ServerProfile>,
    handler: Arc<dyn Handler>,
    /// Reports subscriptions to the handler.
    observer: Arc<dyn SubscriptionObserver>,
    /// Outermost first.
    layers: Vec<Arc<dyn Layer>>,
    limits: ServerLimits,
    pub(crate) client_metas: ClientMetaCache,
    id: ServerId,
    pub(crate) publisher: Publisher,
    /// Observes the messages of all connections.
    pub(super) traffic: Option<Arc<dyn TrafficObserver>>,
}

/// The limits of one connection of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Requests of one connection answered concurrently.
    pub requests: usize,
    /// How long requests in flight may still finish after the client has disconnected.
    pub drain: Duration,
    /// How long a client may take to answer a request of the server.
    pub ask: Duration,
    /// The limits of the connection itself.
    pub connection: ConnectionLimits,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            requests: 1024,
            drain: Duration::from_secs(1),
            ask: Duration::from_secs(15 * 60),
            connection: ConnectionLimits::default(),
        }
    }
}

impl Server {
    /// Creates a builder for a server with this info and these capabilities.
    pub fn builder(info: Implementation, capabilities: ServerCapabilities) -> ServerBuilder {
        ServerBuilder {
            info,
            capabilities,
            advertised_capabilities: None,
            instructions: Instructions::Fixed(None),
            revisions: RevisionPolicy::Any,
            opening: OpeningPolicy::default(),
            hints: CacheHints::new(0, CacheScope::Private),
            state_keys: None,
            limits: ServerLimits::default(),
            publisher: Publisher::default(),
            layers: Vec::new(),
            traffic: None,
        }
    }

    /// Returns the name and version.
    pub fn info(&self) -> &Implementation {
        &self.profile.info
    }

    /// Returns the capabilities.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.profile.capabilities
    }

    /// Returns the instructions for the model, as a caller without an identity gets them.
    pub fn instructions(&self) -> Option<String> {
        self.profile.instructions.get(None)
    }

    /// Returns the publisher of changes.
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Returns the data for the era layer.
    pub(crate) fn profile(&self) -> &Arc<ServerProfile> {
        &self.profile
    }

    pub(crate) fn id(&self) -> ServerId {
        self.id
    }

    pub(crate) fn handler(&self) -> &Arc<dyn Handler> {
        &self.handler
    }

    /// Returns the layers, outermost first.
    pub(crate) fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.layers
    }

    /// Returns the observer of subscriptions.
    pub(crate) fn observer(&self) -> &Arc<dyn SubscriptionObserver> {
        &self.observer
    }

    /// Returns whether the server accepts modern revisions.
    pub(crate) fn serves_modern(&self) -> bool {
        !self.profile.revisions.modern().is_empty()
    }

    /// Returns how many requests of one connection are answered concurrently.
    pub fn most_requests(&self) -> usize {
        self.limits.requests
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("info", self.info()).finish_non_exhaustive()
    }
}

/// Builds a [`Server`].
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::protocol::{CacheHints, CacheScope, Implementation};
/// use switchboard::server::layer::Timeout;
/// use switchboard::{Client, InProcess, Server};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .instructions("Call `add` for sums.")
///     .cache_hints(CacheHints::new(60_000, CacheScope::Public))
///     .layer(Timeout::new(Duration::from_secs(30)))
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// assert_eq!(session.info()?.instructions.as_deref(), Some("Call `add` for sums."));
/// # demo::done() });
/// ```
pub struct ServerBuilder {
    info: Implementation,
    capabilities: ServerCapabilities,
    advertised_capabilities: Option<Arc<ComputeCapabilities>>,
    instructions: Instructions,
    revisions: RevisionPolicy,
    opening: OpeningPolicy,
    hints: CacheHints,
    state_keys: Option<StateKeys>,
    limits: ServerLimits,
    publisher: Publisher,
    layers: Vec<Arc<dyn Layer>>,
    traffic: Option<Arc<dyn TrafficObserver>>,
}

impl ServerBuilder {
    /// Sets the instructions for the model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Instructions::Fixed(Some(instructions.into()));
        self
    }

    /// Computes the instructions anew for every client that asks for them; must not block.
    #[must_use]
    pub fn instructions_from(self, compute: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.instructions_for(move |_| compute())
    }

    /// As [`Self::instructions_from`], by the caller of the request.
    #[must_use]
    pub fn instructions_for(
        mut self,
        compute: impl Fn(Option<&Caller>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.instructions = Instructions::Computed(Arc::new(compute));
        self
    }

    /// Computes the capabilities that are advertised to a client, by the caller of its request; `None` for all of them. For
    /// servers that offer less to some callers: what is not advertised is served all the same, so the handler has to refuse
    /// it. Must not block.
    #[must_use]
    pub fn capabilities_for(
        mut self,
        compute: impl Fn(Option<&Caller>) -> Option<ServerCapabilities> + Send + Sync + 'static,
    ) -> Self {
        self.advertised_capabilities = Some(Arc::new(compute));
        self
    }

    /// Sets the accepted revisions; all by default.
    #[must_use]
    pub fn revisions(mut self, revisions: RevisionPolicy) -> Self {
        self.revisions = revisions;
        self
    }

    /// Sets the policy for opening a session.
    #[must_use]
    pub fn opening(mut self, policy: OpeningPolicy) -> Self {
        self.opening = policy;
        self
    }

    /// Sets the default cache hints of lists and resources.
    #[must_use]
    pub fn cache_hints(mut self, hints: CacheHints) -> Self {
        self.hints = hints;
        self
    }

    /// Sets the keys that seal request states; one random key by default.
    #[must_use]
    pub fn state_keys(mut self, keys: StateKeys) -> Self {
        self.state_keys = Some(keys);
        self
    }

    /// Sets the limits of a connection.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the publisher of changes; for a handler that needs it before the server is built.
    #[must_use]
    pub fn publisher(mut self, publisher: Publisher) -> Self {
        self.publisher = publisher;
        self
    }

    /// Adds a layer inside of those added before: the first one is the outermost. It sees every request, also those that the
    /// protocol answers itself. See [`layer`](crate::server::layer) for the stack and an example.
    #[must_use]
    pub fn layer(mut self, layer: impl Layer) -> Self {
        if self.layers.is_empty() {
            self.layers.push(Arc::new(CatchPanic));
        }
        self.layers.push(Arc::new(layer));
        self
    }

    /// Shows the messages of all connections to this observer, over every binding: pipes, HTTP in both eras with its streams, and
    /// in-process. Requests that the binding rejects before it reads their body are not shown.
    ///
    /// The frames have the number of their session and the principal of their client, where they are known. What is sent for a
    /// request shares a call number with it.
    #[must_use]
    pub fn traffic_observer(mut self, observer: Arc<dyn TrafficObserver>) -> Self {
        self.traffic = Some(observer);
        self
    }

    /// Builds the server with its handler.
    pub fn build(self, handler: impl Handler) -> Arc<Server> {
        let info_text = Raw::encode(&self.info).unwrap_or_else(|_| Raw::empty_object());
        let signature = format!(r#","_meta":{{"{}":{}}}}}"#, Meta::SERVER_INFO, info_text.as_str());
        let profile = ServerProfile {
            info: self.info,
            info_text,
            signature,
            capabilities: self.capabilities,
            advertised_capabilities: self.advertised_capabilities,
            instructions: self.instructions,
            revisions: self.revisions,
            opening: self.opening,
            hints: self.hints,
            state_keys: self.state_keys.unwrap_or_else(StateKeys::random),
            used_states: UsedStates::default(),
        };
        let handler: Arc<dyn Handler> = Arc::new(handler);
        Arc::new(Server {
            profile: Arc::new(profile),
            observer: Arc::new(HandlerObserver(Arc::clone(&handler))),
            handler,
            layers: self.layers,
            limits: self.limits,
            client_metas: ClientMetaCache::default(),
            id: ServerId::new(),
            publisher: self.publisher,
            traffic: self.traffic,
        })
    }
}

impl std::fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerBuilder").field("info", &self.info).finish_non_exhaustive()
    }
}

/// Reports subscriptions to a handler.
struct HandlerObserver(Arc<dyn Handler>);

impl SubscriptionObserver for HandlerObserver {
    fn subscribed(&self, uri: &str) {
        self.0.subscribed(uri);
    }

    fn unsubscribed(&self, uri: &str) {
        self.0.unsubscribed(uri);
    }

    fn task_followed(&self, task: &str) {
        self.0.task_followed(task);
    }

    fn task_unfollowed(&self, task: &str) {
        self.0.task_unfollowed(task);
    }
}
