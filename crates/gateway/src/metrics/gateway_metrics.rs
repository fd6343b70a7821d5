//! The metrics of a gateway.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use switchboard_transport::http::server::SessionCounter;

use super::bounded_names::BoundedNames;
use super::label::{
    DenialLabels, DurationLabels, LimitLabels, MethodLabel, OutcomeLabel, PageLabels, PageSource,
    RequestLabels, ToolLabels,
};
use super::snapshot::GatewaySnapshot;
use super::snapshot_collector::SnapshotCollector;
use crate::audit::AuditOutcome;
use crate::policy::{Decision, DenyReason};

/// The buckets of durations, in seconds, by the OpenTelemetry conventions for MCP.
const DURATION_BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The limit of servers that have labels of their own.
const MAX_SERVERS: usize = 256;
/// The limit of tools that have labels of their own.
const MAX_TOOLS: usize = 1_000;
/// The limit of rules, and of rate limits, that have labels of their own.
const MAX_RULES: usize = 1_000;

/// The metrics of a gateway, for Prometheus.
///
/// ```
/// use std::sync::Arc;
///
/// use switchboard::gateway::metrics::GatewayMetrics;
/// use switchboard::gateway::{Gateway, GatewayOptions};
/// use switchboard::{Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let metrics = Arc::new(GatewayMetrics::new());
/// let host = Gateway::host_builder().build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let gateway = Gateway::new(host, GatewayOptions::default().with_metrics(Arc::clone(&metrics)));
///
/// let session = Client::new().connect(InProcess::new(gateway.server())).await?;
/// session.call_tool("sums__add", json!({ "a": 19, "b": 23 })).await?;
/// assert!(metrics.encode().contains(r#"mcp_gateway_tool_calls_total{server="sums",tool="add",outcome="ok"} 1"#));
/// # demo::done() });
/// ```
pub struct GatewayMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
    tool_calls: Family<ToolLabels, Counter>,
    denials: Family<DenialLabels, Counter>,
    rate_limited: Family<LimitLabels, Counter>,
    list_pages: Family<PageLabels, Counter>,
    servers: BoundedNames,
    tools: BoundedNames,
    rules: BoundedNames,
    limits: BoundedNames,
    source: Arc<SnapshotSource>,
}

/// Reads the state of a gateway; `None` when it has ended.
type ReadSnapshot = Arc<dyn Fn() -> Option<GatewaySnapshot> + Send + Sync>;

/// Where the state of the gateway is read at each scrape.
#[derive(Default)]
pub(super) struct SnapshotSource {
    // Held for a clone or a change, never across an await.
    read: Mutex<Option<ReadSnapshot>>,
    sessions: Mutex<Vec<SessionCounter>>,
}

impl GatewayMetrics {
    /// Creates metrics that are all zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("mcp_gateway");
        let histogram: fn() -> Histogram = || Histogram::new(DURATION_BUCKETS);
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            tool_calls: Family::default(),
            denials: Family::default(),
            rate_limited: Family::default(),
            list_pages: Family::default(),
            servers: BoundedNames::new(MAX_SERVERS),
            tools: BoundedNames::new(MAX_TOOLS),
            rules: BoundedNames::new(MAX_RULES),
            limits: BoundedNames::new(MAX_RULES),
            source: Arc::default(),
            registry: Registry::default(),
        };
        registry.register("requests", "Requests of clients", metrics.requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time until the response to a client",
            Unit::Seconds,
            metrics.durations.clone(),
        );
        registry.register("tool_calls", "Calls of tools", metrics.tool_calls.clone());
        registry.register("denials", "Requests that the policy denied", metrics.denials.clone());
        registry.register("rate_limited", "Requests beyond a rate limit", metrics.rate_limited.clone());
        registry.register("list_pages", "Pages of lists", metrics.list_pages.clone());
        registry.register_collector(Box::new(SnapshotCollector::new(Arc::clone(&metrics.source))));
        Self { registry, ..metrics }
    }

    /// Returns all metrics as OpenMetrics text, of the media type [`Self::CONTENT_TYPE`].
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// The media type of the text.
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Sets where the state of the gateway is read.
    pub(crate) fn set_source(&self, read: impl Fn() -> Option<GatewaySnapshot> + Send + Sync + 'static) {
        *self.source.read.lock() = Some(Arc::new(read));
    }

    /// Adds the sessions of an HTTP service.
    pub(crate) fn add_sessions(&self, counter: SessionCounter) {
        let mut sessions = self.source.sessions.lock();
        sessions.retain(SessionCounter::is_alive);
        sessions.push(counter);
    }

    /// Counts a page of a list.
    pub(crate) fn record_page(&self, source: PageSource) {
        self.list_pages.get_or_create(&PageLabels { source }).inc();
    }

    /// Counts a request that a rate limit refused.
    pub(crate) fn record_rate_limited(&self, limit: &str) {
        self.rate_limited.get_or_create(&LimitLabels { limit: self.limits.label(limit) }).inc();
    }

    /// Counts a decision, unless it allows the request.
    pub(crate) fn record_decision(&self, decision: &Decision) {
        let reason = match decision {
            Decision::Allow { .. } => return,
            Decision::Deny { reason, .. } => DenyReason::as_str(*reason),
            Decision::MissingScope { .. } => "missing_scope",
        };
        let rule = match decision.rule() {
            Some(rule) => match &rule.name {
                Some(name) => self.rules.label(name),
                None => self.rules.label(&format!("rule {}", rule.index + 1)),
            },
            None => self.rules.label("default"),
        };
        self.denials.get_or_create(&DenialLabels { rule, reason }).inc();
    }

    /// Returns the label of a server; `_other` if no server is known, empty if none is concerned.
    pub(super) fn server_label(&self, server: ServerName<'_>) -> Arc<str> {
        match server {
            ServerName::Known(server) => self.servers.label(server),
            ServerName::Unknown => self.servers.other(),
            ServerName::None => Arc::default(),
        }
    }

    /// Returns the labels of a tool. Beyond the limit, server and tool are `_other`.
    pub(super) fn tool_labels(&self, server: &str, tool: &str) -> (Arc<str>, Arc<str>) {
        let label = self.tools.label(&format!("{server}/{tool}"));
        if label == self.tools.other() {
            return (self.tools.other(), label);
        }
        (self.servers.label(server), tool.into())
    }

    pub(super) fn record_request(
        &self,
        (method, server): (MethodLabel, Arc<str>),
        tool: Option<(Arc<str>, Arc<str>)>,
        outcome: AuditOutcome,
        duration: Duration,
    ) {
        let outcome = OutcomeLabel(outcome);
        let labels = DurationLabels { method, server: Arc::clone(&server) };
        self.durations.get_or_create(&labels).observe(duration.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { method, server, outcome }).inc();
        if let Some((server, tool)) = tool {
            self.tool_calls.get_or_create(&ToolLabels { server, tool, outcome }).inc();
        }
    }
}

/// The server of a request.
#[derive(Clone, Copy)]
pub(super) enum ServerName<'a> {
    Known(&'a str),
    Unknown,
    None,
}

impl SnapshotSource {
    pub(super) fn read(&self) -> Option<GatewaySnapshot> {
        let read = self.read.lock().clone();
        let mut snapshot = read?()?;
        snapshot.sessions = self.sessions.lock().iter().map(SessionCounter::count).sum();
        Some(snapshot)
    }
}

impl Default for GatewayMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for GatewayMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayMetrics").finish_non_exhaustive()
    }
}

impl fmt::Debug for SnapshotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotSource").finish_non_exhaustive()
    }
}
