//! Counters and times of requests, by method.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_protocol::{RpcError, ServerResult, surface};

use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Counts requests and their times by method. Cheap to clone: all clones count together.
///
/// ```
/// use switchboard::protocol::Implementation;
/// use switchboard::server::layer::Metrics;
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let metrics = Metrics::new();
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .layer(metrics.clone())
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// session.call_tool("add", json!({ "a": 1, "b": 2 })).await?;
/// assert_eq!(metrics.snapshot()["tools/call"].results, 1);
/// # demo::done() });
/// ```
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    // Held for a few additions, never across an await.
    methods: Arc<Mutex<BTreeMap<&'static str, MethodMetrics>>>,
}

/// The metrics of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodMetrics {
    /// Requests being answered.
    pub in_flight: u64,
    /// Requests answered with a result.
    pub results: u64,
    /// Results of tools that say that the tool failed; also counted as results.
    pub tool_errors: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// Requests cancelled before they were answered.
    pub cancelled: u64,
    /// The time of all answered requests together.
    pub total_time: Duration,
    /// The time of the slowest answered request.
    pub max_time: Duration,
}

impl Metrics {
    /// The name under which the methods of extensions are counted: a client may send any name.
    pub const OTHER: &str = "other";

    /// Creates metrics with nothing counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the metrics of every method that was requested; methods that no revision defines are counted as
    /// [`Metrics::OTHER`].
    pub fn snapshot(&self) -> BTreeMap<&'static str, MethodMetrics> {
        self.methods.lock().clone()
    }
}

impl Layer for Metrics {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let method = surface::find(request.method()).next().map_or(Self::OTHER, |row| row.method);
        self.methods.lock().entry(method).or_default().in_flight += 1;
        let counted = CountedRequest { metrics: self.clone(), method, since: Instant::now(), is_over: false };
        next.call(request).inspect(move |reply| counted.end(reply))
    }
}

/// A request in flight. Counts as cancelled when it is dropped without a reply.
struct CountedRequest {
    metrics: Metrics,
    method: &'static str,
    since: Instant,
    is_over: bool,
}

impl CountedRequest {
    fn end(mut self, reply: Result<&ServerResult, &RpcError>) {
        self.is_over = true;
        let took = self.since.elapsed();
        let mut methods = self.metrics.methods.lock();
        let counted = methods.entry(self.method).or_default();
        match reply {
            Ok(result) => {
                counted.results += 1;
                let failed = matches!(result, ServerResult::CallTool(result) if result.is_error);
                counted.tool_errors += u64::from(failed);
            }
            Err(_) => counted.errors += 1,
        }
        counted.total_time += took;
        counted.max_time = counted.max_time.max(took);
    }
}

impl Drop for CountedRequest {
    fn drop(&mut self) {
        let mut methods = self.metrics.methods.lock();
        let counted = methods.entry(self.method).or_default();
        counted.in_flight -= 1;
        counted.cancelled += u64::from(!self.is_over);
    }
}
