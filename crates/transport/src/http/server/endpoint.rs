//! What a listener serves: an endpoint, or several behind one door.

use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;

use crate::http::server::body::ReplyBody;
use crate::http::server::door::HttpService;

/// Answers the requests of a listener. Cheap to clone: every connection has its own.
pub trait Endpoint: Clone + Send + Sync + 'static {
    /// Answers one request.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<ReplyBody>> + Send;

    /// How long a client may read nothing of what it is sent before its connection is given up.
    fn write_stall(&self) -> Duration;

    /// Ends what goes on between requests, such as sessions and streams.
    fn shut_down(&self);
}

impl Endpoint for HttpService {
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<ReplyBody>> + Send {
        self.handle(request)
    }

    fn write_stall(&self) -> Duration {
        self.inner.options.write_stall
    }

    fn shut_down(&self) {
        Self::shut_down(self);
    }
}
