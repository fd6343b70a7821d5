//! What a listener serves: an endpoint, or several behind one door.

use std::net::IpAddr;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::http::server::body::ReplyBody;
use crate::http::server::door::HttpService;

/// Answers the requests of a listener. Cheap to clone: every connection has its own.
pub trait Endpoint: Clone + Send + Sync + 'static {
    /// Answers one request that came on a connection from `peer`.
    fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ReplyBody>> + Send;

    /// How long a client may read nothing of what it is sent before its connection is given up.
    fn write_stall(&self) -> Duration;

    /// Whether connections from this address are those of a trusted proxy, which many clients share.
    fn is_proxy(&self, _peer: IpAddr) -> bool {
        false
    }

    /// Ends what goes on between requests, such as sessions and streams.
    fn shut_down(&self);
}

impl Endpoint for HttpService {
    fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ReplyBody>> + Send {
        self.handle_from(request, Some(peer))
    }

    fn write_stall(&self) -> Duration {
        self.inner.options.write_stall
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.inner.options.trusted_proxies.iter().any(|range| range.contains(peer))
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}
