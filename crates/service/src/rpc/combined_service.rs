//! MCP and the plain JSON-RPC endpoint on one listener, each at its path.

use std::convert::Infallible;
use std::net::IpAddr;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use switchboard_session::link::BoxFuture;
use switchboard_transport::http::server::{Endpoint, HttpServerOptions, HttpService, ReplyBody};

use super::RpcService;
use crate::{BuildError, ServiceBuilder};

/// A service over MCP and over its plain endpoint, on one listener. MCP handles requests for any other path. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct CombinedService {
    mcp: HttpService,
    rpc: RpcService,
}

impl CombinedService {
    /// Combines both. The plain endpoint also answers MCP methods, with the same sessions.
    pub fn new(mcp: HttpService, rpc: RpcService) -> Self {
        let rpc = rpc.with_mcp(mcp.clone());
        Self { mcp, rpc }
    }

    /// Serves a builder's service over both: MCP at the path of the options, the plain endpoint at the path of the
    /// design.
    ///
    /// # Errors
    /// As [`ServiceBuilder::build`].
    pub fn from_builder(builder: &ServiceBuilder, options: HttpServerOptions) -> Result<Self, BuildError> {
        let server = builder.clone().for_http(&options).build()?;
        let rpc = RpcService::new(builder, options.clone())?;
        Ok(Self::new(HttpService::new(&server, options), rpc))
    }

    /// Handles one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        self.handle_from(request, None).await
    }

    /// Handles one request from a connection of this peer address.
    pub async fn handle_from<B>(&self, request: Request<B>, peer: Option<IpAddr>) -> Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        if request.uri().path() == self.rpc.path() {
            self.rpc.handle_from(request, peer).await
        } else {
            self.mcp.handle_from(request, peer).await
        }
    }
}

impl Endpoint for CombinedService {
    fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ReplyBody>> + Send {
        self.handle_from(request, Some(peer))
    }

    fn write_stall(&self) -> Duration {
        self.mcp.write_stall()
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.mcp.is_proxy(peer)
    }

    fn shut_down(&self) {
        self.mcp.shut_down();
        Endpoint::shut_down(&self.rpc);
    }
}

impl<B> tower_service::Service<Request<B>> for CombinedService
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}
