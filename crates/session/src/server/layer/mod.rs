//! Layers: middleware around every request that a server answers.
//!
//! A layer gets a request and the rest of the stack ([`Next`]). It sees every request: those of the handler, those of the
//! protocol itself (`initialize`, `server/discover`, `ping`, subscriptions, log levels), and those that are rejected. It may
//! answer without calling `next`, and sees or changes the reply with [`HandlerOutcome::inspect`] and
//! [`HandlerOutcome::map`]. An immediate reply passes through without a box.
//!
//! # The stack
//!
//! ```text
//!   CatchPanic         always, if there is any layer
//!   layers             in the order of `ServerBuilder::layer`: the first is the outermost
//!   dispatch           admission, the surface table, built-in methods
//!   Handler::handle    its panics are caught here, so that every layer sees them as an error
//! ```
//!
//! The result is encoded outside of the stack: a layer is independent of the revision. A panic of a layer fails its request
//! with an internal error.
//!
//! Ready to use: [`AccessLog`], [`Metrics`], [`ConcurrencyLimit`], [`Timeout`].
//!
//! # An audit trail
//!
//! ```
//! use switchboard::protocol::{Implementation, RpcError, ServerCapabilities};
//! use switchboard::Client;
//! use switchboard::server::{
//!     Handler, HandlerOutcome, IncomingRequest, Layer, Next, RequestContext, ServerRequest,
//! };
//! use switchboard::{InProcess, Server};
//!
//! struct Audit;
//!
//! impl Layer for Audit {
//!     fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
//!         let caller = request.caller().map_or("anonymous", |caller| &caller.subject).to_owned();
//!         let method = request.method().to_owned();
//!         if method == "prompts/get" {
//!             return HandlerOutcome::error(RpcError::invalid_request("prompts are disabled"));
//!         }
//!         next.call(request).inspect(move |reply| match reply {
//!             Ok(_) => println!("{caller} {method}: ok"),
//!             Err(error) => println!("{caller} {method}: {}", error.code),
//!         })
//!     }
//! }
//!
//! # struct Nothing;
//! # impl Handler for Nothing {
//! #     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//! #         HandlerOutcome::error(RpcError::method_not_found(request.method()))
//! #     }
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::builder(Implementation::new("audited", "1.0.0"), ServerCapabilities::new())
//!     .layer(Audit)
//!     .build(Nothing);
//! let session = Client::new().connect(InProcess::new(&server)).await?; // "anonymous server/discover: ok"
//! # session.close().await;
//! # Ok::<(), switchboard::CallError>(()) }).unwrap();
//! ```
//!
//! [`HandlerOutcome::inspect`]: crate::server::HandlerOutcome::inspect
//! [`HandlerOutcome::map`]: crate::server::HandlerOutcome::map

mod access_log;
mod catch_panic;
mod concurrency_limit;
mod incoming_request;
#[expect(clippy::module_inception, reason = "the trait this folder is named for")]
mod layer;
mod metrics;
mod timeout;

pub use access_log::{AccessEvent, AccessEventKind, AccessLog, AccessRecord};
pub use catch_panic::CatchPanic;
pub(crate) use catch_panic::{call_guarded, panic_error};
pub use concurrency_limit::ConcurrencyLimit;
pub(crate) use concurrency_limit::too_many_requests;
pub use incoming_request::IncomingRequest;
pub use layer::{Layer, Next};
pub use metrics::{MethodMetrics, Metrics};
pub use timeout::Timeout;
