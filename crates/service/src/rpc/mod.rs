//! The plain JSON-RPC endpoint of a service: every method over one POST, for callers that do not speak MCP.
//!
//! A method is called by its Rust name, optionally prefixed with the service name and a dot, with named or positional
//! arguments. It returns its result as JSON, or an error whose code tells the cause. If the caller accepts an event
//! stream, a streaming tool sends its events before the response.
//!
//! ```text
//!   POST ─▶ admission (Host, Origin, type, size) ─▶ service ─▶ dispatcher (method, arguments)
//!                                                                └─▶ Dispatch::call_method
//! ```
//!
//! # Example
//! ```no_run
//! use switchboard::service::ServiceBuilder;
//! use switchboard::service::rpc::CombinedService;
//! use switchboard::transport::http::server::{HttpListener, HttpServerOptions};
//!
//! # async fn serve(builder: ServiceBuilder) -> Result<(), Box<dyn std::error::Error>> {
//! // MCP at /mcp, the plain endpoint at the path of the design.
//! let both = CombinedService::from_builder(&builder, HttpServerOptions::default())?;
//! HttpListener::bind("127.0.0.1:8080".parse()?).await?.serve(both).await;
//! # Ok(()) }
//! ```

mod caller;
mod combined_service;
mod dispatcher;
mod event_queue;
mod event_stream;
mod http_status_error;
mod message;
mod method;
mod service;

pub use caller::RpcCaller;
pub use combined_service::CombinedService;
pub use http_status_error::HttpStatusError;
pub use service::{MAX_CALLS, RpcService};
