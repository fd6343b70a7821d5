//! A server being put together from a service.

use std::sync::Arc;
use std::time::Duration;

use switchboard_design::{
    ArgumentErrors, Design, DesignErrors, Error, ErrorDetails, ErrorPolicy, GlobError, OutputSchemaPolicy,
    UriPolicy,
};
use switchboard_protocol::{CacheHints, Implementation};
use switchboard_session::server::{Publisher, Server, ServerLimits};
use switchboard_session::{OpeningPolicy, RevisionPolicy, StateKeys};

use crate::adapter::Adapter;
use crate::compose::{Collision, Collisions, Composed};
use crate::options::Options;
use crate::task::Tasks;
use crate::{AdapterEvent, Dispatch, EventFeed, StreamJson, StreamLimits, UnknownArguments, VersionPolicy};

/// A server being put together.
#[derive(Clone)]
pub struct ServiceBuilder {
    service: Arc<dyn Dispatch>,
    options: Options,
    collisions: Vec<Collision>,
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The design has mistakes.
    #[error("{0}")]
    Design(#[from] DesignErrors),
    /// What is allowed or denied is no glob over URIs.
    #[error("in the resources that are allowed or denied: {0}")]
    Policy(#[from] GlobError),
    /// The protocol has no such revision.
    #[error("the protocol has no revision {0:?}; a revision is named by its date")]
    Protocol(String),
    /// Services that are served as one have things of the same name.
    #[error("{0}")]
    Collisions(#[from] Collisions),
    /// A URI of the design is not a pattern.
    #[error("in the URI of a resource: {0}")]
    Pattern(#[from] switchboard_design::PatternError),
}

impl ServiceBuilder {
    /// A server of this service.
    pub fn new(service: Arc<dyn Dispatch>) -> Self {
        // What is listed as data must be given as data; older revisions take both out.
        let options = Options { outputs: OutputSchemaPolicy::AsIs, ..Options::default() };
        Self { service, options, collisions: Vec::new() }
    }

    fn with(mut self, set: impl FnOnce(&mut Options)) -> Self {
        set(&mut self.options);
        self
    }

    /// What the service is.
    pub fn design(&self) -> &Arc<Design> {
        self.service.design()
    }

    /// The service, and what was chosen for it.
    #[cfg(feature = "rpc")]
    pub(crate) fn parts(&self) -> (&Arc<dyn Dispatch>, &Options) {
        (&self.service, &self.options)
    }

    /// Serves another service too, as one server: its tools, resources and prompts come after these. Of the options of the
    /// other only its events and what it denies count.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.and_prefixed("", other)
    }

    /// As [`Self::and`], with a prefix before every name of the other, like `notes_`. URIs stay what they are.
    #[must_use]
    pub fn and_prefixed(mut self, prefix: &str, other: Self) -> Self {
        let composed = Composed::new(self.service, other.service, prefix);
        self.collisions.extend(composed.collisions.iter().cloned());
        self.collisions.extend(other.collisions);
        self.options.feeds.extend(other.options.feeds);
        // What one of them denies stays denied.
        self.options.deny.extend(other.options.deny);
        self.service = Arc::new(composed);
        self
    }

    /// The service, as it is served: to be wrapped in another.
    pub fn dispatch(&self) -> Arc<dyn Dispatch> {
        Arc::clone(&self.service)
    }

    /// Where what the service tells unasked comes from.
    #[must_use]
    pub fn events(self, feed: EventFeed) -> Self {
        self.with(|options| options.feeds.push(feed))
    }

    /// Hears of every request and how it ended. What they carry is not in it; see [`Self::log_payloads`].
    #[must_use]
    pub fn logger(self, logger: impl Fn(&AdapterEvent) + Send + Sync + 'static) -> Self {
        self.with(|options| options.logger = Some(Arc::new(logger)))
    }

    /// Whether the logger gets what requests and answers carry: arguments and results are often secret.
    #[must_use]
    pub fn log_payloads(self, yes: bool) -> Self {
        self.with(|options| options.log_payloads = yes)
    }

    /// Turns errors of the service into others before they are told. Asked once for each error.
    #[must_use]
    pub fn error_mapper(self, mapper: impl Fn(Error) -> Error + Send + Sync + 'static) -> Self {
        self.with(|options| options.mapper = Some(Arc::new(mapper)))
    }

    /// Which table of errors holds: the specification's unless set.
    #[must_use]
    pub fn error_policy(self, policy: ErrorPolicy) -> Self {
        self.with(|options| options.rules.policy = policy)
    }

    /// How arguments of a tool that do not fit are told: as the revision says unless set.
    #[must_use]
    pub fn argument_errors(self, told: ArgumentErrors) -> Self {
        self.with(|options| options.argument_errors = Some(told))
    }

    /// Whether callers see the text of our own failures.
    #[must_use]
    pub fn debug_errors(self, yes: bool) -> Self {
        self.with(|options| {
            options.rules.details = if yes { ErrorDetails::Shown } else { ErrorDetails::Hidden }
        })
    }

    /// Lets only these resources be listed, read and subscribed to: globs over URIs, as in [`UriPolicy`]. None allows
    /// all. What is denied stays so.
    #[must_use]
    pub fn allow_resources<G: Into<String>>(self, globs: impl IntoIterator<Item = G>) -> Self {
        self.with(|options| options.allow.extend(globs.into_iter().map(Into::into)))
    }

    /// Keeps these resources from being listed, read and subscribed to, whatever else allows them.
    #[must_use]
    pub fn deny_resources<G: Into<String>>(self, globs: impl IntoIterator<Item = G>) -> Self {
        self.with(|options| options.deny.extend(globs.into_iter().map(Into::into)))
    }

    /// How content items of streaming tools hold JSON.
    #[must_use]
    pub fn structured_stream_json(self, json: StreamJson) -> Self {
        self.with(|options| options.stream_json = json)
    }

    /// How many items of a streaming tool its result carries, for clients that do not get them one by one.
    #[must_use]
    pub fn stream_limits(self, limits: StreamLimits) -> Self {
        self.with(|options| options.stream_limits = limits)
    }

    /// How `serve --http` of [`serve_cli`](Self::serve_cli) serves: who is let in, limits, the path.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn http_options(self, http: switchboard_transport::http::server::HttpOptions) -> Self {
        self.with(|options| options.http = Some(http))
    }

    /// What becomes of arguments that a tool or prompt does not have, and of unknown members of nested objects: refused
    /// unless set.
    #[must_use]
    pub fn unknown_arguments(self, rule: UnknownArguments) -> Self {
        self.with(|options| options.unknown = rule)
    }

    /// How results that are data but no objects are told: as they are, in revisions that have that, unless set.
    #[must_use]
    pub fn output_rule(self, rule: OutputSchemaPolicy) -> Self {
        self.with(|options| options.outputs = rule)
    }

    /// How many items a page of a list has: all of them unless set.
    #[must_use]
    pub fn page_size(self, items: usize) -> Self {
        self.with(|options| options.page_size = Some(items))
    }

    /// How long clients may keep lists, and resources that do not say so themselves.
    #[must_use]
    pub fn cache_hints(self, hints: CacheHints) -> Self {
        self.with(|options| options.hints = Some(hints))
    }

    /// Whether clients are told that lists may change: when there are [`Self::events`], unless set.
    #[must_use]
    pub fn list_changed(self, yes: bool) -> Self {
        self.with(|options| options.list_changed = Some(yes))
    }

    /// Whether a caller without the scopes of a thing is told so. Unless set, it is as if there were no such thing.
    #[must_use]
    pub fn reveal_scopes(self, yes: bool) -> Self {
        self.with(|options| options.reveal_scopes = yes)
    }

    /// What callers without an identity may do, such as the one at the other end of stdio: nothing that needs scopes,
    /// unless set.
    #[must_use]
    pub fn anonymous_scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.with(|options| options.anonymous_scopes.extend(scopes.into_iter().map(Into::into)))
    }

    /// Whether clients may publish events of the design to all who listen: `notify_<name>`.
    #[must_use]
    pub fn accept_notifications(self, yes: bool) -> Self {
        self.with(|options| options.accept_notifications = yes)
    }

    /// How long one call may take: then it is dropped and told to have timed out. No limit unless set.
    #[must_use]
    pub fn call_timeout(self, timeout: Duration) -> Self {
        self.with(|options| options.timeout = Some(timeout))
    }

    /// How long calls that become tasks are kept, how many there may be, and where they are kept: in memory, with
    /// [`TaskLimits::default`](crate::task::TaskLimits), unless set. Only tools whose design says so become tasks.
    #[must_use]
    pub fn tasks(self, tasks: Tasks) -> Self {
        self.with(|options| options.tasks = Some(tasks))
    }

    /// What happens when a client asks for a revision that is not served.
    #[must_use]
    pub fn version_policy(self, policy: VersionPolicy) -> Self {
        self.with(|options| options.version_policy = policy)
    }

    /// Serves this revision and no other, whatever the design says: to test with it.
    #[must_use]
    pub fn protocol_version_override(self, revision: impl Into<String>) -> Self {
        self.with(|options| options.version_override = Some(revision.into()))
    }

    /// The keys that seal the state of questions, shared by replicas; one random key unless set.
    #[must_use]
    pub fn state_keys(self, keys: StateKeys) -> Self {
        self.with(|options| options.state_keys = Some(keys))
    }

    /// How much one connection may hold.
    #[must_use]
    pub fn limits(self, limits: ServerLimits) -> Self {
        self.with(|options| options.limits = Some(limits))
    }

    /// What the server tells the model about itself, instead of what the design says.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.with(|options| options.instructions = Some(instructions.into()))
    }

    /// Who the server says it is, instead of what the design says.
    #[must_use]
    pub fn info(self, info: Implementation) -> Self {
        self.with(|options| options.info = Some(info))
    }

    /// The server.
    ///
    /// # Errors
    /// All mistakes of the design at once, or an option that is none.
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
        let mut builder = Server::builder(info, adapter.capabilities()).revisions(offer).publisher(publisher);
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

/// Sessions open once, and in the preferred revision of the offer that has sessions.
fn opening(offer: RevisionPolicy) -> OpeningPolicy {
    let policy = OpeningPolicy::new().once();
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
