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
//! use switchboard_host::Host;
//! use switchboard_session::link::InProcess;
//! # use switchboard_protocol::{CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities, Tool};
//! # use switchboard_session::answering::{Cx, Handled, Handler, Server, ServerRequest};
//! # struct Greeter;
//! # impl Handler for Greeter {
//! #     fn handle(&self, request: ServerRequest, _: Cx) -> Handled {
//! #         match request {
//! #             ServerRequest::ListTools(_) => Handled::now(ListToolsResult::new([Tool::new("hello", serde_json::json!({"type": "object"}))])),
//! #             ServerRequest::CallTool(_) => Handled::now(CallToolResult::new([Content::text("hello!")])),
//! #             other => Handled::error(RpcError::method_not_found(other.method())),
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
//! # Ok::<(), switchboard_host::HostError>(()) }).unwrap();
//! ```

pub mod config;
pub mod permission;

mod answers;
mod apply;
mod builder;
mod builtin;
mod call;
mod connecting;
mod error;
mod event;
mod handle;
mod host;
mod registry;
mod report;
mod resources;
mod server_spec;
mod set;
mod slot;
mod telemetry;
mod transport;

pub use builder::HostBuilder;
pub use call::{
    AmbiguousNames, OwnTool, Permit, Permitted, Proposed, Replay, Run, Spill, ToolCall, TraceContext, Traced,
    Validation,
};
pub use error::HostError;
pub use event::{Event, Events, ToolsChanged};
pub use handle::ToolHandle;
pub use host::Host;
pub use registry::{
    Catalog, DefinitionChange, Drift, ForModels, Found, Listed, Offered, OnDrift, PinFile, Pins, ToolEffects,
    ToolInfo, Unlisted, Why, Withheld,
};
pub use registry::{name, profile};
pub use report::{ServerInfo, ServerStatus, SetServers, Tools, Written};
pub use resources::{Gathered, Of};
pub use server_spec::ServerSpec;
pub use slot::{Failure, Logins, Manifest, Status, TokenSource, Word};
pub use telemetry::Readings;
pub use transport::Transport;
