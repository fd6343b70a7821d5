//! A limit on the time that the answer to a request may take.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::RpcError;

use crate::request::Reply;
use crate::server::{HandlerOutcome, IncomingRequest, Layer, Next};

/// Drops the handler of a request that takes too long, and answers with an error. Long-lived streams have no timeout.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::protocol::Implementation;
/// use switchboard::server::layer::Timeout;
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let timeout = Timeout::new(Duration::from_millis(10)).only(|request| request.method() == "tools/call");
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .layer(timeout)
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// let error = session.call_tool("wait", json!({})).await.unwrap_err();
/// assert_eq!(error.remote().map(|error| error.message.as_str()), Some("timed out"));
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct Timeout {
    within: Duration,
    applies: Arc<dyn Fn(&IncomingRequest) -> bool + Send + Sync>,
    reply: Arc<dyn Fn(&str) -> Reply + Send + Sync>,
}

impl Timeout {
    /// Limits every request to this time. The error is an internal error, `timed out`.
    pub fn new(within: Duration) -> Self {
        let reply = |_: &str| Err(RpcError::internal("timed out"));
        Self { within, applies: Arc::new(|_| true), reply: Arc::new(reply) }
    }

    /// Limits only these requests.
    #[must_use]
    pub fn only(mut self, applies: impl Fn(&IncomingRequest) -> bool + Send + Sync + 'static) -> Self {
        self.applies = Arc::new(applies);
        self
    }

    /// Sets the reply to a request that took too long; it gets the method.
    #[must_use]
    pub fn with_reply(mut self, reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        self.reply = Arc::new(reply);
        self
    }
}

impl Layer for Timeout {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        if request.is_long_lived() || !(self.applies)(&request) {
            return next.call(request);
        }
        let method = request.method().to_owned();
        let outcome = next.call(request);
        if outcome.is_immediate() {
            return outcome;
        }
        let Self { within, reply, .. } = self.clone();
        HandlerOutcome::later(async move {
            tokio::time::timeout(within, outcome.into_reply()).await.unwrap_or_else(|_| reply(&method))
        })
    }
}

impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").field("within", &self.within).finish_non_exhaustive()
    }
}
