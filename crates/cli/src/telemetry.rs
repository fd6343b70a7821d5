//! OpenTelemetry export: sends spans and metrics of the host to the collector named by the standard variables.
//!
//! Invariant: without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is collected or sent. Arguments and results of calls are
//! never included.

mod duration_layer;
mod measured_fields;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::HttpError;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use switchboard::Host;
use switchboard::gateway::TraceParent;
use switchboard::host::{CallMetrics, TraceContext, TraceHeaders};
use switchboard::transport::http_client::{Address, HttpClient, HttpClientOptions, PlainHttp, Request};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::layer::SubscriberExt;

use crate::error::{CommandError, ExitKind};
use crate::telemetry::duration_layer::DurationLayer;

/// Variable with the collector's URL: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// Maximum size of a collector's response.
const MAX_RESPONSE: usize = 64 * 1024;

/// Collects spans and metrics; [`finish`](Self::finish) sends the remaining ones.
pub(crate) struct Telemetry {
    spans: SdkTracerProvider,
    counters: SdkMeterProvider,
    host: Arc<ExportedHost>,
    _subscriber: tracing::subscriber::DefaultGuard,
}

impl Telemetry {
    /// Starts collecting for this thread and this host. Returns `None` if no collector is configured.
    ///
    /// # Errors
    /// Returns an error if the collector's URL is not valid.
    pub(crate) fn start(host: &Host) -> Result<Option<Self>, CommandError> {
        if !is_configured() {
            return Ok(None);
        }
        let config_error = |error: &dyn fmt::Display| {
            CommandError::new(
                ExitKind::Usage,
                "bad_collector",
                format!("the telemetry endpoint is not valid: {error}"),
            )
            .hint("set OTEL_EXPORTER_OTLP_ENDPOINT to a URL like http://localhost:4318, or unset it")
        };
        let client = CollectorClient::new().map_err(|error| config_error(&error))?;
        let spans = SpanExporter::builder().with_http().with_http_client(client.clone()).build();
        let counters = MetricExporter::builder().with_http().with_http_client(client).build();
        let about = Resource::builder().with_service_name("switchboard").build();
        let spans = SdkTracerProvider::builder()
            .with_batch_exporter(spans.map_err(|error| config_error(&error))?)
            .with_resource(about.clone())
            .build();
        let counters = SdkMeterProvider::builder()
            .with_periodic_exporter(counters.map_err(|error| config_error(&error))?)
            .with_resource(about)
            .build();
        let host = Arc::new(ExportedHost { host: host.clone(), last: OnceLock::new() });
        register_metrics(&counters, &host);
        let layer = tracing_opentelemetry::layer().with_tracer(spans.tracer("switchboard"));
        let durations = DurationLayer::new(&counters.meter("switchboard"));
        let subscriber = tracing_subscriber::registry().with(layer).with(durations);
        let _subscriber = tracing::subscriber::set_default(subscriber);
        Ok(Some(Self { spans, counters, host, _subscriber }))
    }

    /// Keeps the metrics of the host as they are now: a host that is being closed forgets those of its servers.
    pub(crate) fn keep_host_metrics(&self) {
        self.host.last.get_or_init(|| self.host.host.metrics());
    }

    /// Sends the remaining spans and metrics. Returns an error if the collector cannot be reached.
    pub(crate) async fn finish(self) -> Result<(), String> {
        let Self { spans, counters, _subscriber, .. } = self;
        drop(_subscriber);
        // On another thread: both block on threads of their own.
        let sent = tokio::task::spawn_blocking(move || {
            let (counted, traced) = (counters.shutdown(), spans.shutdown());
            counted.and(traced).map_err(|error| error.to_string())
        });
        sent.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Returns whether a collector is configured.
pub(crate) fn is_configured() -> bool {
    std::env::var_os(ENDPOINT).is_some_and(|endpoint| !endpoint.is_empty())
}

/// The W3C trace context of spans: from clients, and to servers.
#[derive(Debug)]
pub(crate) struct TracePropagation;

impl TraceContext for TracePropagation {
    fn current(&self) -> Option<TraceHeaders> {
        let mut headers = HashMap::new();
        TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut headers);
        let parent = headers.remove("traceparent")?;
        Some(TraceHeaders { parent, state: headers.remove("tracestate").filter(|state| !state.is_empty()) })
    }
}

impl TraceParent for TracePropagation {
    fn set_parent(&self, span: &tracing::Span, parent: &TraceHeaders) {
        let state = parent.state.iter().map(|state| ("tracestate".to_owned(), state.clone()));
        let headers: HashMap<String, String> =
            [("traceparent".to_owned(), parent.parent.clone())].into_iter().chain(state).collect();
        // A span that is not exported has no parent.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    }
}

/// The host whose metrics are exported.
struct ExportedHost {
    host: Host,
    /// The metrics before it was closed.
    last: OnceLock<CallMetrics>,
}

impl ExportedHost {
    fn metrics(&self) -> CallMetrics {
        self.last.get().cloned().unwrap_or_else(|| self.host.metrics())
    }
}

/// Registers metrics that are read from the host at each export.
fn register_metrics(counters: &SdkMeterProvider, host: &Arc<ExportedHost>) {
    let meter = counters.meter("switchboard");
    type Read = fn(&CallMetrics) -> u64;
    let rows: [(&str, &str, Read); 5] = [
        ("mcp.host.calls", "Finished calls", |metrics| metrics.calls),
        ("mcp.host.failures", "Calls without a result", |metrics| metrics.failures),
        ("mcp.host.tool_errors", "Calls whose result is a tool error", |metrics| metrics.tool_errors),
        ("mcp.host.reconnects", "Reconnections of servers", |metrics| metrics.reconnects),
        ("mcp.host.time", "Total duration of calls in microseconds", |metrics| metrics.total_micros),
    ];
    for (name, about, read) in rows {
        let host = Arc::clone(host);
        let counter = meter.u64_observable_counter(name).with_description(about);
        counter.with_callback(move |observer| observer.observe(read(&host.metrics()), &[])).build();
    }
    for (name, share) in [("mcp.host.latency.p50", 0.5), ("mcp.host.latency.p99", 0.99)] {
        let host = Arc::clone(host);
        let gauge =
            meter.f64_observable_gauge(name).with_unit("s").with_description("Latency percentile of calls");
        gauge
            .with_callback(move |observer| {
                if let Some(latency) = host.metrics().latency(share) {
                    observer.observe(latency.as_secs_f64(), &[]);
                }
            })
            .build();
    }
}

/// HTTP client for exporter threads, which have no async runtime.
#[derive(Clone)]
struct CollectorClient {
    client: HttpClient,
}

impl CollectorClient {
    fn new() -> Result<Self, switchboard::transport::http_client::HttpError> {
        Ok(Self { client: HttpClient::new(HttpClientOptions::from_environment())? })
    }

    fn send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (head, body) = request.into_parts();
            // The user chose the collector explicitly, so plain http is allowed.
            let address = Address::parse(&head.uri.to_string(), PlainHttp::Allowed)?;
            let mut ours = Request::new(head.method, address).with_body(body);
            for (name, value) in &head.headers {
                ours = ours.with_header(name.clone(), value.clone());
            }
            let answer = self.client.send(ours).await?;
            let mut response = http::Response::builder().status(answer.status);
            if let Some(headers) = response.headers_mut() {
                *headers = answer.headers.clone();
            }
            Ok(response.body(answer.body.collect(MAX_RESPONSE).await?)?)
        })
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CollectorClient")
    }
}

impl opentelemetry_http::HttpClient for CollectorClient {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: http::Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move { self.send(request) })
    }
}
