//! A host of many servers: takes a desired set of servers and provides one live catalog of their tools.
//!
//! ```text
//!   ServerSpec ──▶ slot (one task per server) ──▶ session
//!                      │ lists                      ▲
//!                      ▼                            │
//!                   registry ──▶ Catalog ──▶ call: resolve, validate, decide, send, spill
//! ```
//!
//! A server is described by a [`ServerSpec`], converted from a [`Stdio`](switchboard_transport::stdio::Stdio), an
//! [`Http`](switchboard_transport::http::client::Http), an [`InProcess`](switchboard_session::server::InProcess) server or
//! a [`config::ServerConfig`]. Its connection task connects and reconnects it; its tools are published in the [`Catalog`]; a
//! call is resolved there, checked against the policy, and sent over the session of the slot.
//!
//! **Invariants.** Operations on one server never wait for another. Reading a status does not contact the server. A catalog
//! is immutable. A withheld tool cannot be called. A call is sent once, unless nothing of it was sent, or its tool is
//! idempotent and the replay policy allows it. Arguments and results are never logged.
//!
//! ```
//! use switchboard::{Host, InProcess};
//! # use switchboard::protocol::{CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities, Tool};
//! # use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
//! # use switchboard::Server;
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
mod manifest_store;
mod policy;
mod question_router;
mod registry;
mod report;
mod resources;
mod run;
mod server_spec;
mod session_lease;
mod session_scope;
mod session_use;
mod set;
mod slot;
mod status;
mod telemetry;
mod traffic;
mod transport;
mod validation;

pub use call::{HostRequest, ToolCall};
pub use connection::{CredentialProvider, TokenSource};
pub use error::HostError;
pub use event::{Drift, HostEvent, HostEvents, ToolsChanged};
pub use host::{Host, HostBuilder, HostSubscription, ToolHandle};
pub use local_tool::LocalTool;
pub use manifest::Manifest;
pub use manifest_store::ManifestStore;
pub use policy::{
    AmbiguousNamePolicy, CallDecision, CallPolicy, ProposedCall, ReplayPolicy, SpanNames, SpillPolicy,
    TraceContext, TraceHeaders,
};
pub use registry::{
    Catalog, CatalogTool, DefinitionChange, DriftPolicy, ListLifetimes, ModelTool, ModelTools, PinFile, Pins,
    ServerListing, ServerLists, ToolEffects, ToolExplanation, ToolInfo, ToolListIssues, ToolMatch,
    WithheldReason,
};
pub use registry::{name, profile};
pub use report::{LoginReport, MaskedConfig, ServerInfo, ServerStatus, SetServersOutcome, ToolInfoList};
pub use resources::{FromServer, MergedList};
pub use run::Run;
pub use server_spec::ServerSpec;
pub use session_lease::SessionLease;
pub use session_scope::{SessionKey, SessionLimit, SessionLimits, SessionScope};
pub use status::{ConnectionError, Status, StatusKind};
/// Observers of the messages of a host's sessions.
pub use switchboard_session::link::{CallNumber, FrameBody, ObservedFrame, TrafficObserver, TrafficSource};
pub use telemetry::{CallMetrics, RecentCall, RecentCalls};
pub use transport::Transport;
pub use validation::Validation;
