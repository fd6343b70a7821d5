//! The server side: one [`Handler`] that answers every revision, on any transport.
//!
//! A [`Server`] is a handler with an identity and capabilities. [`serve_stdio`] serves it on stdin and stdout,
//! [`HttpListener`] over HTTP, [`InProcess`] to a client in the same program. A [`Layer`] wraps every request. To have the
//! handler generated from a Rust trait, with schemas, argument checks, a typed client and a command line, use a
//! [service](mod@crate::service).
//!
//! ```no_run
//! use switchboard::protocol::{
//!     CallToolResult, Content, Implementation, ListCapability, RpcError, ServerCapabilities,
//! };
//! use switchboard::server::{
//!     Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, RequestContext, Server,
//!     ServerRequest,
//! };
//!
//! struct Greeter;
//!
//! impl Handler for Greeter {
//!     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//!         match request {
//!             ServerRequest::CallTool(call) => {
//!                 HandlerOutcome::now(CallToolResult::new([Content::text(call.name)]))
//!             }
//!             other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
//!         }
//!     }
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let capabilities = ServerCapabilities::new().with_tools(ListCapability::new());
//! let identity = Implementation::new("greeter", "1.0.0");
//! let server = Server::builder(identity, capabilities).build(Greeter);
//! let listener = HttpListener::bind(([127, 0, 0, 1], 8080).into()).await?;
//! listener.serve(HttpService::new(&server, HttpServerOptions::default())).await;
//! # Ok(()) }
//! ```

use std::io;
use std::sync::Arc;

use switchboard_session::link::LinkError;
pub use switchboard_session::server::{
    AskError, CachedResult, Caller, Extensions, Handler, HandlerOutcome, InProcess, IncomingRequest, Layer,
    Next, Publisher, RelayedAnswers, Reply, ReplyChannel, RequestContext, Server, ServerBuilder,
    ServerLimits, ServerRequest, TaskProtocol, layer,
};
pub use switchboard_session::{OpeningPolicy, RevisionList, StateKeys, VersionPolicy};
#[cfg(feature = "http-server")]
pub use switchboard_transport::http::server::{
    AcceptPolicy, AuthRejection, Authenticate, DpopSupport, HttpListener, HttpServerOptions, HttpService,
    LegacySse, ListenerLimits, MemoryStore, PresentedToken, ProtectedResource, ReplicaName, ReplicaNameError,
    RequestHead, SessionStore, ShutdownHandle, TokenScheme, VerifiedCaller, Verifier, VerifyError,
};
#[cfg(feature = "http-tls")]
pub use switchboard_transport::http::server::{TlsError, TlsIdentity};
use switchboard_transport::stdio::take_stdio;

/// Serves on stdin and stdout of this process until the client closes them.
///
/// # Errors
/// Fails if stdin and stdout cannot be taken over, or if the connection breaks in any other way than by the client
/// closing it.
///
/// # Examples
/// ```no_run
/// use switchboard::protocol::{Implementation, RpcError, ServerCapabilities};
/// use switchboard::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest, serve_stdio};
///
/// struct Empty;
///
/// impl Handler for Empty {
///     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
///         HandlerOutcome::error(RpcError::method_not_found(request.method()))
///     }
/// }
///
/// # async fn example() -> std::io::Result<()> {
/// let server = Server::builder(Implementation::new("empty", "1.0.0"), ServerCapabilities::new()).build(Empty);
/// serve_stdio(&server).await
/// # }
/// ```
pub async fn serve_stdio(server: &Arc<Server>) -> io::Result<()> {
    match server.serve(take_stdio()?).await {
        LinkError::Closed => Ok(()),
        broken => Err(io::Error::other(broken)),
    }
}
