//! The HTTP endpoint of the metrics.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use switchboard_transport::http::server::{Endpoint, ReplyBody};

use super::gateway_metrics::GatewayMetrics;

/// How long a scraper may stall.
const WRITE_STALL: Duration = Duration::from_secs(10);

/// Serves `GET /metrics`, for [`HttpListener::serve`](switchboard_transport::http::server::HttpListener::serve).
///
/// Metrics name servers, tools and rules, and scrapers rarely authenticate: serve them on an address that only the operator
/// reaches, never beside the MCP endpoint. A page in a browser is refused: requests have to name a loopback host, unless others
/// are allowed.
#[derive(Clone, Debug)]
pub struct MetricsEndpoint {
    metrics: Arc<GatewayMetrics>,
    allowed_hosts: Arc<[String]>,
}

impl MetricsEndpoint {
    /// Creates the endpoint.
    pub fn new(metrics: Arc<GatewayMetrics>) -> Self {
        Self { metrics, allowed_hosts: Arc::default() }
    }

    /// Allows requests that name these hosts, without port.
    #[must_use]
    pub fn with_allowed_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    fn allows(&self, request: &Request<Incoming>) -> bool {
        let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = header.or(request.uri().authority().map(|authority| authority.as_str())) else {
            return false;
        };
        let host = match host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => host,
        };
        let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        host.eq_ignore_ascii_case("localhost")
            || address.is_some_and(|address| address.is_loopback())
            || self.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

impl Endpoint for MetricsEndpoint {
    async fn answer(&self, request: Request<Incoming>, _: IpAddr) -> Response<ReplyBody> {
        if !self.allows(&request) {
            return plain(StatusCode::FORBIDDEN, "this host is not allowed\n");
        }
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "metrics are at /metrics\n");
        }
        if request.method() != Method::GET {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
            return response;
        }
        let mut response = Response::new(ReplyBody::full(self.metrics.encode()));
        let kind = HeaderValue::from_static(GatewayMetrics::CONTENT_TYPE);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    fn write_stall(&self) -> Duration {
        WRITE_STALL
    }

    fn shut_down(&self) {}
}

fn plain(status: StatusCode, text: &'static str) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
