//! The façade: one dependency for clients, servers and transports. It re-exports, and holds no logic of its own.
//!
#![doc = include_str!("../README.md")]

pub use switchboard_protocol as protocol;
pub use switchboard_session as session;
pub use switchboard_transport as transport;

#[cfg(feature = "host")]
pub use switchboard_host as host;
#[cfg(feature = "host")]
pub use switchboard_host::config::ServerConfig;
#[cfg(feature = "host")]
pub use switchboard_host::{Host, HostError, ServerSpec};
#[cfg(feature = "http-client")]
pub use switchboard_http as http;
pub use switchboard_protocol::{
    CallToolParams, CallToolResult, Content, ErrorCode, GetPromptResult, Implementation, Level, ListenFilter,
    Meta, Prompt, Raw, ReadResourceResult, Resource, ResourceTemplate, Revision, RpcError,
    ServerCapabilities, Tool, ToolAnnotations,
};
#[cfg(feature = "server")]
pub use switchboard_session::StateKeys;
#[cfg(feature = "client")]
pub use switchboard_session::client::{
    CallTool, Change, ChangeStream, Client, ClientHandler, ClientSession, HandlerCapabilities, HandlerError,
    Limits, List, RequestingServer, SessionState, Subscription,
};
pub use switchboard_session::link::{CloseOutcome, Dial, Direction, LinkError, Pipe, ServerExit, Tap};
#[cfg(feature = "server")]
pub use switchboard_session::server::{
    AskError, CachedResult, Handler, HandlerOutcome, InProcess, Publisher, Reply, RequestContext, Server,
    ServerBuilder, ServerLimits, ServerRequest,
};
pub use switchboard_session::{
    CallError, ConnectionLimits, EraHint, RevisionPolicy, SessionInfo, TimeoutKind,
};
#[cfg(feature = "http-client")]
pub use switchboard_transport::http::client::{Http, HttpBinding, HttpLimits};
#[cfg(feature = "http-server")]
pub use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService, ListenerLimits};
#[cfg(feature = "server")]
pub use switchboard_transport::stdio::take_stdio;
pub use switchboard_transport::stdio::{Stdio, run_supervisor_if_requested};

#[cfg(feature = "service")]
pub use switchboard_design as design;
#[cfg(feature = "service")]
pub use switchboard_design::{Design, Error, Result, ServiceError, ToolError};
#[cfg(feature = "service")]
pub use switchboard_macros::{Form, FormChoice, ServiceError, server, service};
/// Services: a Rust trait is the design of a server.
///
/// As a module, what the methods of a service use; as an attribute, what makes a trait one. Most of it is in [`prelude`].
#[cfg(feature = "service")]
#[doc(inline)]
pub use switchboard_service as service;
#[cfg(feature = "service")]
#[doc(hidden)]
pub use switchboard_service::rt as __rt;

/// Builds JSON in place: arguments, schemas, log data.
pub use serde_json::json;

#[cfg(feature = "service")]
pub mod prelude;
#[cfg(feature = "server")]
mod serve;

#[cfg(feature = "server")]
pub use serve::serve_stdio;

/// What is shown of services compiles.
#[cfg(all(doctest, feature = "service-client"))]
#[doc = include_str!("../../../docs/services.md")]
struct Services;
