//! Spans and counters of a host, sent to an OpenTelemetry collector where the usual variables name one.
//!
//! Invariant: without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is sent and nothing is gathered. What is said in a call is in
//! neither.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::HttpError;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use switchboard::Host;
use switchboard::host::CallMetrics;
use switchboard::http::{Address, HttpClient, HttpClientOptions, PlainHttp, Request};
use tracing_subscriber::layer::SubscriberExt;

use crate::failure::{Failure, Status};

/// Names the collector: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The most that is read of what a collector answers.
const ANSWER: usize = 64 * 1024;

/// What gathers spans and counters; [`finish`](Self::finish) sends what is left.
pub(crate) struct Telemetry {
    spans: SdkTracerProvider,
    counters: SdkMeterProvider,
    _here: tracing::subscriber::DefaultGuard,
}

impl Telemetry {
    /// Begins to gather, for this thread and this host. None when no collector is named.
    ///
    /// # Errors
    /// When what is named cannot be a collector.
    pub(crate) fn start(host: &Host) -> Result<Option<Self>, Failure> {
        if std::env::var_os(ENDPOINT).is_none_or(|endpoint| endpoint.is_empty()) {
            return Ok(None);
        }
        let odd = |error: &dyn fmt::Display| {
            Failure::new(Status::Usage, "bad_collector", format!("no telemetry can be sent: {error}"))
                .hint("set OTEL_EXPORTER_OTLP_ENDPOINT to an address like http://localhost:4318, or unset it")
        };
        let post = Post::new().map_err(|error| odd(&error))?;
        let spans = SpanExporter::builder().with_http().with_http_client(post.clone()).build();
        let counters = MetricExporter::builder().with_http().with_http_client(post).build();
        let about = Resource::builder().with_service_name("switchboard").build();
        let spans = SdkTracerProvider::builder()
            .with_batch_exporter(spans.map_err(|error| odd(&error))?)
            .with_resource(about.clone())
            .build();
        let counters = SdkMeterProvider::builder()
            .with_periodic_exporter(counters.map_err(|error| odd(&error))?)
            .with_resource(about)
            .build();
        count(&counters, host);
        let layer = tracing_opentelemetry::layer().with_tracer(spans.tracer("switchboard"));
        let _here = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        Ok(Some(Self { spans, counters, _here }))
    }

    /// Sends what is left. A collector that is not there is said, and fails nothing.
    pub(crate) async fn finish(self) -> Result<(), String> {
        let Self { spans, counters, _here } = self;
        drop(_here);
        // Elsewhere: both wait for threads of their own.
        let sent = tokio::task::spawn_blocking(move || {
            let (counted, traced) = (counters.shutdown(), spans.shutdown());
            counted.and(traced).map_err(|error| error.to_string())
        });
        sent.await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Counters that are read off the host whenever they are sent.
fn count(counters: &SdkMeterProvider, host: &Host) {
    let meter = counters.meter("switchboard");
    type Read = fn(&CallMetrics) -> u64;
    let rows: [(&str, &str, Read); 5] = [
        ("mcp.host.calls", "Calls that have ended", |metrics| metrics.calls),
        ("mcp.host.failures", "Calls without a result", |metrics| metrics.failures),
        ("mcp.host.tool_errors", "Calls whose result says that the tool failed", |metrics| {
            metrics.tool_errors
        }),
        ("mcp.host.reconnects", "How often a server was opened again", |metrics| metrics.reconnects),
        ("mcp.host.time", "Microseconds that all calls took together", |metrics| metrics.total_micros),
    ];
    for (name, about, read) in rows {
        let host = host.clone();
        let counter = meter.u64_observable_counter(name).with_description(about);
        counter.with_callback(move |observer| observer.observe(read(&host.metrics()), &[])).build();
    }
    for (name, share) in [("mcp.host.latency.p50", 0.5), ("mcp.host.latency.p99", 0.99)] {
        let host = host.clone();
        let gauge = meter
            .f64_observable_gauge(name)
            .with_unit("s")
            .with_description("What so many calls did not exceed");
        gauge
            .with_callback(move |observer| {
                if let Some(latency) = host.metrics().latency(share) {
                    observer.observe(latency.as_secs_f64(), &[]);
                }
            })
            .build();
    }
}

/// Our own HTTP client, for threads that have no runtime.
#[derive(Clone)]
struct Post {
    client: HttpClient,
}

impl Post {
    fn new() -> Result<Self, switchboard::http::HttpError> {
        Ok(Self { client: HttpClient::new(HttpClientOptions::from_environment())? })
    }

    fn send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (head, body) = request.into_parts();
            // A collector on another machine is named on purpose.
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
            Ok(response.body(answer.body.collect(ANSWER).await?)?)
        })
    }
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post")
    }
}

impl opentelemetry_http::HttpClient for Post {
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
