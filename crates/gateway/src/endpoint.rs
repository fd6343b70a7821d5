//! The HTTP endpoint of a gateway: MCP for each view, and two paths by which an operator sees whether it runs.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use switchboard_host::{ServerStatus, StatusKind};
use switchboard_transport::http::server::{Endpoint, HttpServerOptions, HttpService, ReplicaName, ReplyBody};

use crate::gateway::Gateway;
use crate::view_services::ViewServices;

/// Serves a gateway over HTTP, for [`HttpListener::serve`](switchboard_transport::http::server::HttpListener::serve).
///
/// `/mcp` is the view of everything, `/mcp/NAME` the view of that name. `/healthz` answers as soon as the process does;
/// `/readyz` once every server has been connected or has failed, until the gateway drains. Both say nothing else, and need no
/// authentication.
#[derive(Clone)]
pub struct GatewayEndpoint {
    service: HttpService,
    views: Arc<ViewServices>,
    gateway: Gateway,
    /// Whether all servers have had their first chance: one that is added or restarts later changes nothing.
    was_ready: Arc<AtomicBool>,
}

impl GatewayEndpoint {
    /// Creates the endpoint. The ids of its sessions begin with the name of the replica in the HTTP options; if these have the
    /// default of the process, with the name of the gateway among its replicas, if that can be the name of a replica of an HTTP
    /// server.
    pub fn new(gateway: &Gateway, options: HttpServerOptions) -> Self {
        let options = match gateway.replica().parse() {
            // A name that the program has chosen stays.
            Ok(replica) if options.replica == ReplicaName::of_process() => options.with_replica(replica),
            Ok(_) | Err(_) => options,
        };
        let views = Arc::new(ViewServices::new(options.clone()));
        let service = HttpService::new(gateway.server(), options);
        gateway.count_sessions(service.session_counter());
        if let Some(metrics) = gateway.metrics() {
            metrics.add_sessions(service.session_counter());
        }
        Self { service, views, gateway: gateway.clone(), was_ready: Arc::default() }
    }

    fn is_ready(&self) -> bool {
        let is_pending = |server: &ServerStatus| server.status == StatusKind::Pending;
        if !self.was_ready.load(Ordering::Relaxed) && !self.gateway.host().status().iter().any(is_pending) {
            self.was_ready.store(true, Ordering::Relaxed);
        }
        self.was_ready.load(Ordering::Relaxed)
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
            path => {
                let service = self.views.find(&self.gateway, path);
                service.as_ref().unwrap_or(&self.service).handle_from(request, Some(peer)).await
            }
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
        self.views.shut_down();
    }
}

impl std::fmt::Debug for GatewayEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewayEndpoint").field("gateway", &self.gateway).finish_non_exhaustive()
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
