//! Builder that configures a service and builds its MCP server.

use std::sync::Arc;
use std::time::Duration;

use switchboard_design::{
    ArgumentErrors, Design, DesignErrors, Error, ErrorDetails, ErrorPolicy, GlobError, OutputSchemaPolicy,
    UriPolicy,
};
use switchboard_protocol::{CacheHints, Implementation};
use switchboard_session::server::layer::{AccessLog, Layer};
use switchboard_session::server::{Publisher, Server, ServerLimits};
use switchboard_session::{OpeningPolicy, RevisionPolicy, StateKeys};

use crate::adapter::Adapter;
use crate::compose::{Collision, Collisions, ComposedService};
use crate::options::BuilderOptions;
use crate::task::Tasks;
use crate::{AccessEvent, Dispatch, EventFeed, StreamJson, StreamLimits, UnknownArguments, VersionPolicy};

/// Builder for the server of a service.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::service::Result;
///
/// /// Tells the time.
/// #[switchboard::service(name = "clock", version = "1.0.0")]
/// pub trait Clock {
///     /// Returns the time.
///     #[tool(read_only)]
///     async fn now(&self) -> Result<String>;
/// }
/// # struct Station;
/// # impl Clock for Station { async fn now(&self) -> Result<String> { Ok("10:30".into()) } }
///
/// let server = ClockServer::builder(Station)
///     .instructions("Times are in UTC.")
///     .call_timeout(Duration::from_secs(10))
///     .logger(|event| println!("{} {:?}", event.method, event.duration))
///     .build()?;
/// assert_eq!(server.info().name, "clock");
/// # Ok::<(), switchboard::service::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it builds"]
pub struct ServiceBuilder {
    service: Arc<dyn Dispatch>,
    options: BuilderOptions,
    collisions: Vec<Collision>,
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The design is invalid.
    #[error("{0}")]
    Design(#[from] DesignErrors),
    /// An allowed or denied resource pattern is not a valid URI glob.
    #[error("in the resources that are allowed or denied: {0}")]
    Policy(#[from] GlobError),
    /// The protocol revision does not exist.
    #[error("the protocol has no revision {0:?}; a revision is named by its date")]
    Protocol(String),
    /// Composed services define items with the same name.
    #[error("{0}")]
    Collisions(#[from] Collisions),
    /// A resource URI of the design is not a valid pattern.
    #[error("in the URI of a resource: {0}")]
    Pattern(#[from] switchboard_design::PatternError),
}

impl ServiceBuilder {
    /// Creates a builder for a service.
    pub fn new(service: Arc<dyn Dispatch>) -> Self {
        // Structured outputs are listed and returned as they are; sessions of older revisions drop both.
        let options = BuilderOptions { outputs: OutputSchemaPolicy::AsIs, ..BuilderOptions::default() };
        Self { service, options, collisions: Vec::new() }
    }

    fn with(mut self, set: impl FnOnce(&mut BuilderOptions)) -> Self {
        set(&mut self.options);
        self
    }

    /// Returns the design of the service.
    pub fn design(&self) -> &Arc<Design> {
        self.service.design()
    }

    /// Returns the service and its options.
    #[cfg(feature = "rpc")]
    pub(crate) fn parts(&self) -> (&Arc<dyn Dispatch>, &BuilderOptions) {
        (&self.service, &self.options)
    }

    /// Also serves another service from the same server; its tools, resources and prompts are listed after these. Of
    /// the other builder's options, only event feeds and denied resources are kept.
    pub fn and(self, other: Self) -> Self {
        self.and_prefixed("", other)
    }

    /// As [`Self::and`], with a prefix such as `notes_` for every name of the other service. URIs are unchanged.
    pub fn and_prefixed(mut self, prefix: &str, other: Self) -> Self {
        let composed = ComposedService::new(self.service, other.service, prefix);
        self.collisions.extend(composed.collisions.iter().cloned());
        self.collisions.extend(other.collisions);
        self.options.feeds.extend(other.options.feeds);
        // A resource denied by either service stays denied.
        self.options.deny.extend(other.options.deny);
        self.service = Arc::new(composed);
        self
    }

    /// Returns the composed service, for example to wrap it in another [`Dispatch`].
    pub fn dispatch(&self) -> Arc<dyn Dispatch> {
        Arc::clone(&self.service)
    }

    /// Adds a source of events and change notifications.
    pub fn events(self, feed: EventFeed) -> Self {
        self.with(|options| options.feeds.push(feed))
    }

    /// Sets the access log: it reports every request when it arrives and when it is answered, without payloads unless
    /// [`Self::log_payloads`] is set.
    pub fn logger(self, logger: impl Fn(&AccessEvent) + Send + Sync + 'static) -> Self {
        self.with(|options| options.access_log = Some(AccessLog::new(logger)))
    }

    /// Adds a layer around every request, inside of those added before. It sees what the protocol answers itself, too. Outside
    /// of it are panic catching and the access log, inside of it the call timeout.
    pub fn layer(self, layer: impl Layer) -> Self {
        self.with(|options| options.layers.push(Arc::new(layer)))
    }

    /// Sets whether log events contain arguments and results, which are often secret. Off by default.
    pub fn log_payloads(self, yes: bool) -> Self {
        self.with(|options| options.log_payloads = yes)
    }

    /// Sets a function that maps errors of the service before they are sent. Called once per error.
    pub fn error_mapper(self, mapper: impl Fn(Error) -> Error + Send + Sync + 'static) -> Self {
        self.with(|options| options.mapper = Some(Arc::new(mapper)))
    }

    /// Sets how errors map to responses: as the specification says by default.
    pub fn error_policy(self, policy: ErrorPolicy) -> Self {
        self.with(|options| options.rules.policy = policy)
    }

    /// Sets how invalid tool arguments are reported. The default depends on the protocol revision.
    pub fn argument_errors(self, errors: ArgumentErrors) -> Self {
        self.with(|options| options.argument_errors = Some(errors))
    }

    /// Sets whether clients see the text of internal errors. Off by default.
    pub fn debug_errors(self, yes: bool) -> Self {
        self.with(|options| {
            options.rules.details = if yes { ErrorDetails::Shown } else { ErrorDetails::Hidden }
        })
    }

    /// Allows only these resources to be listed, read and subscribed to: URI globs as in [`UriPolicy`]. Without any,
    /// all are allowed. Denied resources stay denied.
    pub fn allow_resources<G: Into<String>>(self, globs: impl IntoIterator<Item = G>) -> Self {
        self.with(|options| options.allow.extend(globs.into_iter().map(Into::into)))
    }

    /// Denies listing, reading and subscribing to these resources. Takes precedence over [`Self::allow_resources`].
    pub fn deny_resources<G: Into<String>>(self, globs: impl IntoIterator<Item = G>) -> Self {
        self.with(|options| options.deny.extend(globs.into_iter().map(Into::into)))
    }

    /// Sets how stream items encode JSON.
    pub fn structured_stream_json(self, json: StreamJson) -> Self {
        self.with(|options| options.stream_json = json)
    }

    /// Sets how many stream items a result carries for clients that do not declare the stream extension.
    pub fn stream_limits(self, limits: StreamLimits) -> Self {
        self.with(|options| options.stream_limits = limits)
    }

    /// Sets the HTTP options of `serve --http` in [`serve_cli`](Self::serve_cli): authentication, limits, path.
    #[cfg(feature = "http")]
    pub fn http_options(self, http: switchboard_transport::http::server::HttpServerOptions) -> Self {
        self.with(|options| options.http = Some(http))
    }

    /// Sets how unknown arguments of tools and prompts, and unknown members of nested objects, are treated: rejected
    /// by default.
    pub fn unknown_arguments(self, rule: UnknownArguments) -> Self {
        self.with(|options| options.unknown = rule)
    }

    /// Sets how structured outputs that are not objects are sent. By default they are sent as they are where the
    /// protocol revision allows it.
    pub fn output_rule(self, rule: OutputSchemaPolicy) -> Self {
        self.with(|options| options.outputs = rule)
    }

    /// Sets the page size of lists: unlimited by default.
    pub fn page_size(self, items: usize) -> Self {
        self.with(|options| options.page_size = Some(items))
    }

    /// Sets the cache hints of lists, and of resources without their own.
    pub fn cache_hints(self, hints: CacheHints) -> Self {
        self.with(|options| options.hints = Some(hints))
    }

    /// Sets whether the server declares `listChanged`: by default, if there are [`Self::events`].
    pub fn list_changed(self, yes: bool) -> Self {
        self.with(|options| options.list_changed = Some(yes))
    }

    /// Sets whether a caller without the required scopes of an item sees it in lists, and gets an authorization error that
    /// names them. By default this is so over HTTP with a verifier that describes the resource, because clients can then
    /// ask for more scopes; otherwise, the item appears not to exist.
    pub fn reveal_scopes(self, yes: bool) -> Self {
        self.with(|options| options.reveal_scopes = Some(yes))
    }

    /// Returns the builder of a server with these options: where clients can log in, they learn which scopes they lack.
    #[cfg(any(feature = "http", feature = "rpc"))]
    pub(crate) fn for_http(self, http: &switchboard_transport::http::server::HttpServerOptions) -> Self {
        let reveals = self.options.reveal_scopes.or(http.is_protected_resource().then_some(true));
        self.with(|options| options.reveal_scopes = reveals)
    }

    /// Grants scopes to callers without an identity, such as the client of a stdio server. By default they have none.
    pub fn anonymous_scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.with(|options| options.anonymous_scopes.extend(scopes.into_iter().map(Into::into)))
    }

    /// Sets whether clients may publish events of the design to all listeners with `notify_<name>`.
    pub fn accept_notifications(self, yes: bool) -> Self {
        self.with(|options| options.accept_notifications = yes)
    }

    /// Sets the maximum duration of one call, after which it is dropped and fails with a timeout. Unlimited by
    /// default. Work that continues as
    /// a task has the time of its task.
    pub fn call_timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.timeout = Some(timeout))
    }

    /// Sets the limits and the store of tasks: in memory with [`TaskLimits::default`](crate::task::TaskLimits) by
    /// default. Only tools whose design allows it run as tasks.
    pub fn tasks(self, tasks: Tasks) -> Self {
        self.with(|options| options.tasks = Some(tasks))
    }

    /// Sets how a session opens when the client requests an unsupported revision.
    pub fn version_policy(self, policy: VersionPolicy) -> Self {
        self.with(|options| options.version_policy = policy)
    }

    /// Serves only this revision, whatever the design says. For tests.
    pub fn protocol_version_override(self, revision: impl Into<String>) -> Self {
        self.with(|options| options.version_override = Some(revision.into()))
    }

    /// Sets the keys that seal the state of input requests, shared by replicas. By default, one random key.
    pub fn state_keys(self, keys: StateKeys) -> Self {
        self.with(|options| options.state_keys = Some(keys))
    }

    /// Sets the limits of one connection.
    pub fn limits(self, limits: ServerLimits) -> Self {
        self.with(|options| options.limits = Some(limits))
    }

    /// Sets the instructions for the model, instead of those of the design.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.with(|options| options.instructions = Some(instructions.into()))
    }

    /// Sets the name and version of the server, instead of those of the design.
    pub fn info(self, info: Implementation) -> Self {
        self.with(|options| options.info = Some(info))
    }

    /// Builds the server.
    ///
    /// # Errors
    /// All mistakes of the design at once, or an invalid option.
    pub fn build(self) -> Result<Arc<Server>, BuildError> {
        let Self { service, options, collisions } = self;
        if !collisions.is_empty() {
            return Err(BuildError::Collisions(Collisions(collisions)));
        }
        let design = Arc::clone(service.design());
        design.check()?;
        let policy = UriPolicy::new(&options.allow, &options.deny)?;
        let offer = match &options.version_override {
            Some(only) => RevisionPolicy::from_names([only]),
            None => RevisionPolicy::from_names(&design.protocols),
        };
        let offer = offer.map_err(|unknown| BuildError::Protocol(unknown.0))?;
        let info = options.info.clone().unwrap_or_else(|| design.implementation());
        let (hints, keys, limits) = (options.hints, options.state_keys.clone(), options.limits.clone());
        let instructions = options.instructions.clone().or_else(|| design.instructions.clone());
        let exact = options.version_policy == VersionPolicy::Exact;
        let publisher = Publisher::default();
        let adapter = Adapter::new(service, policy, options, publisher.clone())?;
        let builder = Server::builder(info, adapter.capabilities()).revisions(offer).publisher(publisher);
        let mut builder = adapter.add_layers(builder);
        if exact {
            builder = builder.opening(opening(offer));
        }
        if let Some(instructions) = instructions {
            builder = builder.instructions(instructions);
        }
        if let Some(hints) = hints {
            builder = builder.cache_hints(hints);
        }
        if let Some(keys) = keys {
            builder = builder.state_keys(keys);
        }
        if let Some(limits) = limits {
            builder = builder.limits(limits);
        }
        Ok(builder.build(adapter))
    }
}

/// Sessions open once, in the preferred revision that has a handshake.
fn opening(offer: RevisionPolicy) -> OpeningPolicy {
    let policy = OpeningPolicy::new().reject_repeated();
    match offer.with_handshake().first() {
        Some(only) => policy.with_version(switchboard_session::VersionPolicy::Exact(*only)),
        None => policy,
    }
}

impl std::fmt::Debug for ServiceBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceBuilder")
            .field("design", &self.service.design().name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
