//! The HTTP endpoint of a gateway: MCP, and two paths by which an operator sees whether it runs.

use std::net::IpAddr;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use switchboard_host::StatusKind;
use switchboard_transport::http::server::{Endpoint, HttpServerOptions, HttpService, ReplyBody};

use crate::gateway::Gateway;

/// Serves a gateway over HTTP, for [`HttpListener::serve`](switchboard_transport::http::server::HttpListener::serve).
///
/// `/healthz` answers as soon as the process does; `/readyz` once every server has been connected or has failed, until
/// the gateway drains. Both say nothing else, and need no authentication.
#[derive(Clone, Debug)]
pub struct GatewayEndpoint {
    service: HttpService,
    gateway: Gateway,
}

impl GatewayEndpoint {
    /// Creates the endpoint.
    pub fn new(gateway: &Gateway, options: HttpServerOptions) -> Self {
        let service = HttpService::new(gateway.server(), options);
        if let Some(metrics) = gateway.metrics() {
            metrics.add_sessions(service.session_counter());
        }
        Self { service, gateway: gateway.clone() }
    }

    fn is_ready(&self) -> bool {
        self.gateway.host().status().iter().all(|server| server.status != StatusKind::Pending)
    }
}

impl Endpoint for GatewayEndpoint {
    async fn answer(&self, request: Request<Incoming>, peer: IpAddr) -> Response<ReplyBody> {
        match request.uri().path() {
            "/healthz" => plain(StatusCode::OK, "ok\n"),
            "/readyz" if self.gateway.is_draining() => {
                plain(StatusCode::SERVICE_UNAVAILABLE, "shutting down\n")
            }
            "/readyz" if self.is_ready() => plain(StatusCode::OK, "ready\n"),
            "/readyz" => plain(StatusCode::SERVICE_UNAVAILABLE, "servers are starting\n"),
            _ => self.service.handle_from(request, Some(peer)).await,
        }
    }

    fn write_stall(&self) -> Duration {
        Endpoint::write_stall(&self.service)
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        Endpoint::is_proxy(&self.service, peer)
    }

    fn shut_down(&self) {
        Endpoint::shut_down(&self.service);
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
