//! Many servers at once: a desired set of servers goes in, one live catalogue of what they offer comes out.
//!
//! ```text
//!   ServerSpec ──▶ slot (one task a server) ──▶ session
//!                      │ lists                      ▲
//!                      ▼                            │
//!                   registry ──▶ Catalog ──▶ call: resolve, check, permit, send, shape
//! ```
//!
//! A server is described by a [`ServerSpec`], made from a `Stdio`, an `Http`, an `InProcess` server or a
//! [`config::ServerConfig`]. A slot connects it and keeps it connected; what the server lists goes into the [`Catalog`]; a call is resolved there, permitted, and sent through the slot.
//!
//! **Invariants.** What is wanted of one server never waits for another. A status is read, never asked for. A catalogue
//! does not change: the next one is another. A tool that is not shown cannot be called. A call is made once, unless
//! nothing of it ever left, or its tool may be repeated and the policy says so. Arguments and results are never logged.
//!
//! ```
//! use switchboard::host::Host;
//! use switchboard::session::server::InProcess;
//! # use switchboard::protocol::{CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities, Tool};
//! # use switchboard::session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
//! # struct Greeter;
//! # impl Handler for Greeter {
//! #     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//! #         match request {
//! #             ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new([Tool::new("hello", serde_json::json!({"type": "object"}))])),
//! #             ServerRequest::CallTool(_) => HandlerOutcome::now(CallToolResult::new([Content::text("hello!")])),
//! #             other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
//! #         }
//! #     }
//! # }
//! # let offers = ServerCapabilities::new().with_tools(ListCapability::new());
//! # let greeter = Server::builder(Implementation::new("greeter", "1.0.0"), offers).build(Greeter);
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let host = Host::new();
//! host.connect("greeter", InProcess::new(&greeter)).await?;
//! let result = host.execute("mcp__greeter__hello", ()).await;
//! assert_eq!(result.text(), "hello!");
//! host.close().await;
//! # Ok::<(), switchboard::host::HostError>(()) }).unwrap();
//! ```

pub mod config;
pub mod permission;

mod attempt;
mod builtin;
mod call;
mod connection;
mod error;
mod event;
mod host;
mod local_tool;
mod manifest;
mod policy;
mod question_router;
mod registry;
mod report;
mod resources;
mod run;
mod server_spec;
mod set;
mod slot;
mod status;
mod telemetry;
mod transport;
mod validation;

pub use call::ToolCall;
pub use connection::{CredentialProvider, TokenSource};
pub use error::HostError;
pub use event::{Drift, Event, Events, ToolsChanged};
pub use host::{Host, HostBuilder, ToolHandle};
pub use local_tool::LocalTool;
pub use manifest::Manifest;
pub use policy::{
    AmbiguousNames, CallDecision, CallPolicy, ProposedCall, Replay, Spill, TraceContext, Traced,
};
pub use registry::{
    Catalog, CatalogTool, DefinitionChange, ForModels, Found, Offered, OnDrift, PinFile, Pins, ToolEffects,
    ToolInfo, Unlisted, Why, Withheld,
};
pub use registry::{name, profile};
pub use report::{ServerInfo, ServerStatus, SetServers, Tools, Written};
pub use resources::{FromServer, Gathered};
pub use run::Run;
pub use server_spec::ServerSpec;
pub use status::{Failure, Status, StatusKind};
pub use telemetry::CallMetrics;
pub use transport::Transport;
pub use validation::Validation;
