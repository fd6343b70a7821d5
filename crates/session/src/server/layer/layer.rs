//! The trait of a layer, and the rest of the stack that it calls.

use std::fmt;
use std::sync::Arc;

use crate::server::answer::dispatch;
use crate::server::{HandlerOutcome, IncomingRequest, Server};

/// Middleware around every request of a server. See the [module](crate::server::layer) for the stack and an example.
///
/// A function of the same signature is a layer too.
///
/// ```
/// use switchboard::protocol::{Implementation, RpcError};
/// use switchboard::server::{HandlerOutcome, IncomingRequest, Layer, Next};
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// struct ReadOnly;
///
/// impl Layer for ReadOnly {
///     fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
///         match request.method() {
///             "tools/call" => HandlerOutcome::error(RpcError::invalid_request("tools are disabled")),
///             _ => next.call(request),
///         }
///     }
/// }
///
/// let server = Server::builder(Implementation::new("demo", "1.0.0"), demo::capabilities())
///     .layer(ReadOnly)
///     .build(demo::Demo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// assert!(session.list_tools().await.is_ok());
/// assert!(session.call_tool("add", json!({ "a": 1, "b": 2 })).await.is_err());
/// # demo::done() });
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Answers a request, as a rule with [`Next::call`]. Must not block: it runs in the task that reads the connection. To
    /// wait first, return [`HandlerOutcome::later`] and await [`HandlerOutcome::into_reply`] in it.
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome;
}

impl<F> Layer for F
where
    F: Fn(IncomingRequest, Next) -> HandlerOutcome + Send + Sync + 'static,
{
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        self(request, next)
    }
}

impl<L: Layer + ?Sized> Layer for Arc<L> {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        (**self).call(request, next)
    }
}

/// The rest of the stack: the layers further inside, then the server itself.
pub struct Next {
    server: Arc<Server>,
    /// The position of the next layer.
    position: usize,
}

impl Next {
    /// Starts at the outermost layer.
    pub(crate) fn outermost(server: &Arc<Server>) -> Self {
        Self { server: Arc::clone(server), position: 0 }
    }

    /// Answers a request. Dropping the outcome cancels it.
    pub fn call(self, request: IncomingRequest) -> HandlerOutcome {
        let Self { server, position } = self;
        match server.layers().get(position) {
            Some(layer) => layer.call(request, Self { server: Arc::clone(&server), position: position + 1 }),
            None => dispatch(&server, request),
        }
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.server.layers().len().saturating_sub(self.position);
        f.debug_struct("Next").field("inner_layers", &inner).finish_non_exhaustive()
    }
}
