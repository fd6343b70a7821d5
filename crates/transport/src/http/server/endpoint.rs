//! The trait of whatever a listener serves.

use std::net::IpAddr;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::http::server::{HttpService, ReplyBody};

/// Answers the requests of a listener. Cheap to clone: every connection has its own.
pub trait Endpoint: Clone + Send + Sync + 'static {
    /// Answers one request that came on a connection from `peer`.
    fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ReplyBody>> + Send;

    /// Returns how long a write may stall before the connection is closed.
    fn write_stall(&self) -> Duration;

    /// Returns whether this address is a trusted proxy, whose connections many clients share.
    fn is_proxy(&self, _peer: IpAddr) -> bool {
        false
    }

    /// Ends sessions and streams.
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
        self.inner.options().write_stall
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.inner.options().trusted_proxies.iter().any(|range| range.contains(peer))
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}
