//! A limit on the requests that a server answers concurrently, over all its connections.

use std::sync::Arc;

use switchboard_protocol::RpcError;
use tokio::sync::Semaphore;

use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Rejects a request while too many others are being answered, over all connections of the server.
///
/// Long-lived streams do not count. The limit of one connection is
/// [`ServerLimits::requests`](crate::server::ServerLimits::requests).
///
/// ```
/// use switchboard::protocol::Implementation;
/// use switchboard::server::layer::ConcurrencyLimit;
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .layer(ConcurrencyLimit::new(1)) // of all connections together
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// let first = tokio::spawn(session.call_tool("wait", json!({})).into_future());
/// tokio::task::yield_now().await; // the first call is sent
/// assert!(session.call_tool("add", json!({ "a": 1, "b": 2 })).await.is_err());
/// first.abort();
/// # demo::done() });
/// ```
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
