//! The options of a gateway.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::Implementation;
use switchboard_session::StateKeys;

use crate::audit::AuditLog;
use crate::limits::RateLimiter;
use crate::metrics::GatewayMetrics;
use crate::names::PrefixPolicy;
use crate::policy::Policy;
use crate::results::ResultLimits;
use crate::trace_parent::TraceParent;
use crate::view::View;

/// The options of a gateway.
///
/// ```
/// use switchboard::gateway::{GatewayOptions, PrefixPolicy};
///
/// let options = GatewayOptions::default().with_prefix(PrefixPolicy::Conflict).with_page_size(100);
/// assert_eq!(options.page_size, 100);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The name and version that clients receive.
    pub info: Implementation,
    /// Whether exposed names of tools and prompts begin with the name of their server.
    pub prefix: PrefixPolicy,
    /// Entries of one page of a list.
    pub page_size: usize,
    /// Text in front of the instructions of the servers.
    pub instructions: Option<String>,
    /// How long the first lists wait for servers that are starting.
    pub startup_wait: Duration,
    /// How long a call may be silent before its client, if it asked for progress, gets a progress notification of the gateway.
    pub keep_alive: Duration,
    /// The limits of calls that wait for the answer to a question.
    pub parked: ParkedLimits,
    /// The limits of large results that are kept.
    pub results: ResultLimits,
    /// The views.
    pub views: Vec<View>,
    /// Who may call what.
    pub policy: Arc<Policy>,
    /// How often.
    pub limits: Option<Arc<RateLimiter>>,
    /// Where every call is recorded.
    pub audit: Option<AuditLog>,
    /// Where requests are counted and measured.
    pub metrics: Option<Arc<GatewayMetrics>>,
    /// Whether every request is a tracing span.
    pub spans: bool,
    /// Makes these spans children of the spans of clients.
    pub trace_parent: Option<Arc<dyn TraceParent>>,
    /// Whether [`Gateway::set_access`](crate::Gateway::set_access) may add limits and an audit log later.
    pub is_replaceable: bool,
    /// The keys that seal request states and task ids; one random key by default.
    pub state_keys: StateKeys,
    /// The name of this process among those that share its keys; random by default.
    pub replica: Arc<str>,
}

/// The limits of parked calls: those that wait, without a request of their client, for the answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParkedLimits {
    /// Parked calls in all.
    pub total: usize,
    /// Parked calls of one principal; of callers without an identity, of one connection or address.
    pub per_principal: usize,
    /// Parked calls on one server: each takes one of the calls that may be under way on it. One caller has at most as many as
    /// are left for the others, which is half of them while it is alone.
    pub per_server: usize,
    /// How long a call stays parked; then it is cancelled.
    pub lifetime: Duration,
}

impl Default for ParkedLimits {
    fn default() -> Self {
        Self { total: 1_000, per_principal: 100, per_server: 64, lifetime: Duration::from_secs(600) }
    }
}

impl ParkedLimits {
    /// Sets the number of parked calls in all.
    #[must_use]
    pub fn with_total(mut self, total: usize) -> Self {
        self.total = total;
        self
    }

    /// Sets the number of parked calls of one principal.
    #[must_use]
    pub fn with_per_principal(mut self, most: usize) -> Self {
        self.per_principal = most;
        self
    }

    /// Sets the number of parked calls on one server.
    #[must_use]
    pub fn with_per_server(mut self, most: usize) -> Self {
        self.per_server = most;
        self
    }

    /// Sets how long a call stays parked. A client cannot answer after 10 minutes, however long this is.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            info: Implementation::new("switchboard-gateway", env!("CARGO_PKG_VERSION")),
            prefix: PrefixPolicy::Always,
            page_size: 1_000,
            instructions: None,
            startup_wait: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            parked: ParkedLimits::default(),
            results: ResultLimits::default(),
            views: Vec::new(),
            policy: Arc::new(Policy::allow_all()),
            limits: None,
            audit: None,
            metrics: None,
            spans: false,
            trace_parent: None,
            is_replaceable: false,
            state_keys: StateKeys::random(),
            replica: random_replica(),
        }
    }
}

/// Returns 64 random bits as text.
fn random_replica() -> Arc<str> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    format!("{:016x}", u64::from_le_bytes(bytes)).into()
}

impl GatewayOptions {
    /// Sets the name and version that clients receive.
    #[must_use]
    pub fn with_info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Sets whether exposed names begin with the name of their server.
    #[must_use]
    pub fn with_prefix(mut self, prefix: PrefixPolicy) -> Self {
        self.prefix = prefix;
        self
    }

    /// Sets the entries of one page of a list; at least one.
    #[must_use]
    pub fn with_page_size(mut self, entries: usize) -> Self {
        self.page_size = entries.max(1);
        self
    }

    /// Sets the text in front of the instructions of the servers.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets how long the first lists wait for servers that are starting.
    #[must_use]
    pub fn with_startup_wait(mut self, wait: Duration) -> Self {
        self.startup_wait = wait;
        self
    }

    /// Sets how long a call may be silent before the gateway reports progress itself.
    #[must_use]
    pub fn with_keep_alive(mut self, silence: Duration) -> Self {
        self.keep_alive = silence;
        self
    }

    /// Sets the limits of parked calls.
    #[must_use]
    pub fn with_parked(mut self, limits: ParkedLimits) -> Self {
        self.parked = limits;
        self
    }

    /// Sets the limits of large results that are kept.
    #[must_use]
    pub fn with_results(mut self, limits: ResultLimits) -> Self {
        self.results = limits;
        self
    }

    /// Sets the views; [`Gateway::set_views`](crate::Gateway::set_views) replaces them.
    #[must_use]
    pub fn with_views(mut self, views: impl IntoIterator<Item = View>) -> Self {
        self.views = views.into_iter().collect();
        self
    }

    /// Sets who may call what; by default everything is allowed.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Sets how often calls, lists and discovery are allowed; by default without limit.
    #[must_use]
    pub fn with_limits(mut self, limits: RateLimiter) -> Self {
        self.limits = Some(Arc::new(limits));
        self
    }

    /// Sets the keys that seal request states and task ids. Replicas share them, and rotate by putting a new key first.
    #[must_use]
    pub fn with_state_keys(mut self, keys: StateKeys) -> Self {
        self.state_keys = keys;
        self
    }

    /// Sets the name of this process among the replicas that share its keys. Sealed into what only this process can continue:
    /// a parked call, a task of a session. The ids of HTTP sessions begin with it, if it has only letters, digits, `-` and `_`.
    #[must_use]
    pub fn with_replica(mut self, name: impl Into<Arc<str>>) -> Self {
        self.replica = name.into();
        self
    }

    /// Sets where every call is recorded; by default nowhere.
    #[must_use]
    pub fn with_audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// Sets where requests are counted and measured; by default nowhere.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Arc<GatewayMetrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Creates a tracing span for every request, by the OpenTelemetry conventions for MCP; by default none. The spans of the
    /// requests to servers, which the host creates, are their children.
    #[must_use]
    pub fn with_spans(mut self) -> Self {
        self.spans = true;
        self
    }

    /// As [`Self::with_spans`], with the spans of clients as parents. Towards servers, set
    /// [`HostBuilder::with_trace_context`](switchboard_host::HostBuilder::with_trace_context).
    #[must_use]
    pub fn with_trace_parent(mut self, parent: Arc<dyn TraceParent>) -> Self {
        self.trace_parent = Some(parent);
        self.with_spans()
    }

    /// Prepares the gateway for limits and an audit log that are added later, by
    /// [`Gateway::set_access`](crate::Gateway::set_access). Costs one step for every list.
    #[must_use]
    pub fn with_replaceable_access(mut self) -> Self {
        self.is_replaceable = true;
        self
    }
}
