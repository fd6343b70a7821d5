//! A limit on the requests that a server answers concurrently, over all its connections.

use std::sync::Arc;

use switchboard_protocol::RpcError;
use tokio::sync::Semaphore;

use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Rejects a request while too many others are being answered, over all connections of the server.
///
/// Long-lived streams do not count. The limit of one connection is
/// [`ServerLimits::requests`](crate::server::ServerLimits::requests).
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    /// Answers at most this many requests concurrently.
    pub fn new(requests: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(requests.min(Semaphore::MAX_PERMITS))) }
    }
}

impl Layer for ConcurrencyLimit {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        if request.is_long_lived() {
            return next.call(request);
        }
        match Arc::clone(&self.permits).try_acquire_owned() {
            // Held until the request is answered or cancelled.
            Ok(permit) => next.call(request).inspect(move |_| drop(permit)),
            Err(_) => HandlerOutcome::error(too_many_requests()),
        }
    }
}

/// Creates the error for a request beyond a limit.
pub(crate) fn too_many_requests() -> RpcError {
    RpcError::internal("too many requests are under way; wait for some to be answered")
}
