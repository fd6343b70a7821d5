//! The plain JSON-RPC endpoint of a service: every method over one POST, for callers that do not speak MCP.
//!
//! A method is called by its name in Rust, alone or after the name of the service and a dot, with its arguments by name
//! or by position. It answers with its result as JSON, or with an error whose code says whose fault it is. Where the
//! caller takes an event stream, a streaming tool tells its events before its answer.
//!
//! ```text
//!   POST ─▶ admission (Host, Origin, type, size) ─▶ service ─▶ desk (method, arguments) ─▶ Dispatch::call_method
//! ```
//!
//! # Example
//! ```no_run
//! use switchboard::service::ServiceBuilder;
//! use switchboard::service::rpc::Mounted;
//! use switchboard::transport::http::server::{HttpListener, HttpServerOptions};
//!
//! # async fn serve(builder: ServiceBuilder) -> Result<(), Box<dyn std::error::Error>> {
//! // MCP at /mcp, the plain endpoint at the path of the design.
//! let both = Mounted::of(&builder, HttpServerOptions::default())?;
//! HttpListener::bind("127.0.0.1:8080".parse()?).await?.serve(both).await;
//! # Ok(()) }
//! ```

mod caller;
mod desk;
mod message;
mod method;
mod mount;
mod queue;
mod refusal;
mod service;
mod stream;

pub use caller::RpcCaller;
pub use mount::Mounted;
pub use refusal::Refused;
pub use service::{MAX_CALLS, RpcService};
