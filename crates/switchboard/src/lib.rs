//! Switchboard implements the [Model Context Protocol](https://modelcontextprotocol.io) (MCP): clients, hosts with
//! many servers, servers, and services designed as Rust traits, in all five revisions of the protocol, from 2024-11-05
//! to 2026-07-28. A program is written once; the session negotiates the revision.
//!
//! | to | use | guide |
//! |---|---|---|
//! | connect to one server | [`Client`], [`client`] | [A client](#a-client) |
//! | connect to many servers and offer their tools to a model | [`Host`], [`host`] | [A host](#a-host) |
//! | answer requests with a handler of your own | [`Server`], [`mod@server`] | [A server](#a-server) |
//! | have a server, a typed client and a command line from a trait | [`#[service]`](macro@service), [`service`](mod@service) | [A service](#a-service) |
//! | choose or write a transport | [`Stdio`], [`Http`], [`InProcess`], [`transport`] | [`transport`] |
//! | read and write messages | [`protocol`] | [`protocol`] |
//!
//! # A client
//!
//! [`Client::connect`](client::Client::connect) starts or reaches a server and opens a session with it. [`Stdio`] is a
//! child process, [`Http`] an address, [`InProcess`] a server in this program.
//!
//! ```no_run
//! use switchboard::{CallError, Client, Stdio, json};
//!
//! # async fn example() -> Result<(), CallError> {
//! let session = Client::new().connect(Stdio::new("uvx").arg("mcp-server-fetch")).await?;
//!
//! for tool in session.list_tools().await?.iter() {
//!     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
//! }
//! let result = session.call_tool("fetch", json!({ "url": "https://example.org" })).await?;
//! println!("{}", result.text());
//!
//! session.close().await;
//! # Ok(()) }
//! ```
//!
//! Dropping the future of a call cancels the call. Errors are variants of [`CallError`]; a tool that fails returns a
//! result with `is_error`.
//!
//! # A host
//!
//! A [`Host`] keeps many servers connected and merges their tools into one catalog. Names are `mcp__server__tool`.
//!
//! ```
//! use switchboard::{Host, InProcess, Stdio, json};
//! # use switchboard::Server;
//! # use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
//! # use switchboard::protocol::{CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities, Tool};
//! # struct Adder;
//! # impl Handler for Adder {
//! #     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//! #         match request {
//! #             ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new([Tool::new("add", json!({ "type": "object" }))])),
//! #             ServerRequest::CallTool(_) => HandlerOutcome::now(CallToolResult::new([Content::text("42")])),
//! #             other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
//! #         }
//! #     }
//! # }
//! # let capabilities = ServerCapabilities::new().with_tools(ListCapability::new());
//! # let server = Server::builder(Implementation::new("adder", "1.0.0"), capabilities).build(Adder);
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let host = Host::new();
//! // Fails if the server cannot be reached.
//! host.connect("sums", InProcess::new(&server)).await?;
//! // Returns at once and keeps trying.
//! let files = Stdio::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]);
//! host.add("files", files);
//!
//! for tool in host.all_tools() {
//!     println!("{}", tool.name());
//! }
//! // For a model: every failure is a result that says what to do next.
//! let result = host.execute("mcp__sums__add", json!({ "a": 19, "b": 23 })).await;
//! assert_eq!(result.text(), "42");
//! host.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A server
//!
//! A [`Handler`](server::Handler) answers requests. The same [`Server`] serves stdin and stdout, HTTP, and clients in this
//! program.
//!
//! ```
//! use switchboard::protocol::{
//!     CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError,
//!     ServerCapabilities, Tool,
//! };
//! use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
//! use switchboard::{Client, InProcess, Server, json};
//!
//! struct Clock;
//!
//! impl Handler for Clock {
//!     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//!         match request {
//!             ServerRequest::ListTools(_) => {
//!                 let schema = json!({ "type": "object" });
//!                 let tool = Tool::new("now", schema).with_description("Returns the time.");
//!                 HandlerOutcome::now(ListToolsResult::new([tool]))
//!             }
//!             ServerRequest::CallTool(_) => {
//!                 HandlerOutcome::now(CallToolResult::new([Content::text("10:30")]))
//!             }
//!             other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let capabilities = ServerCapabilities::new().with_tools(ListCapability::new());
//! let server = Server::builder(Implementation::new("clock", "1.0.0"), capabilities).build(Clock);
//! // On stdin and stdout: switchboard::serve_stdio(&server).await
//!
//! let session = Client::new().connect(InProcess::new(&server)).await?;
//! assert_eq!(session.call_tool("now", json!({})).await?.text(), "10:30");
//! # Ok::<(), switchboard::CallError>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A service
//!
//! A trait is the design: doc comments become descriptions, parameters become schemas, and the same trait is the typed
//! client.
//!
//! ```
//! use switchboard::service::Result;
//!
//! /// Tells the time.
//! #[switchboard::service(name = "clock", version = "1.0.0")]
//! pub trait Clock {
//!     /// Returns the time in a zone.
//!     #[tool(read_only)]
//!     async fn now(&self, /** Like Europe/Oslo */ zone: String) -> Result<String>;
//! }
//!
//! struct HalfPastTen;
//!
//! impl Clock for HalfPastTen {
//!     async fn now(&self, zone: String) -> Result<String> {
//!         Ok(format!("10:30 in {zone}"))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let session = ClockServer::builder(HalfPastTen).connect().await?; // a server in this program
//! let clock = ClockClient::new(session);
//! assert_eq!(clock.now("Oslo".into()).await?, "10:30 in Oslo"); // the same trait, over MCP
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Supervised child processes
//!
//! Call [`run_supervisor_if_requested`] first in `main`: every server started with [`Stdio`] then has a supervisor process
//! that ends it, and all its children, when this program ends, even after `kill -9`. Without it, the process group of a
//! server is ended when its session is closed or dropped.
//!
//! # Features
//!
//! Every feature is additive. The default has all but the command line of services.
//!
//! | feature | adds |
//! |---|---|
//! | `client` | [`client`] |
//! | `server` | [`mod@server`], [`serve_stdio`] |
//! | `http-client`, `http-server` | [`Http`], [`HttpListener`](server::HttpListener) |
//! | `http-tls` | [`TlsIdentity`](server::TlsIdentity): TLS of the HTTP server |
//! | `oauth` | [`auth`]: logging in to servers; with `host` also [`login`]: stored logins for the servers of a host |
//! | `host` | [`host`] |
//! | `gateway` | [`gateway`] |
//! | `service`, `service-client`, `service-rpc`, `service-validate` | [`mod@service`], its typed client, its plain JSON-RPC endpoint, checks of `pattern` and `format` |
//! | `service-cli` | `service::cli`: the command line of a service |
//! | `anyhow` | conversion of `service::Error` into `anyhow::Error` |
//!
//! # Where to go next
//!
//! The guide has one chapter and one program for each feature: `docs/guide` in the repository. `docs/services.md` is the
//! reference of the attribute, `docs/limits.md` lists every limit and timeout, `docs/commands.md` describes the
//! `switchboard` command.

#[cfg(feature = "oauth")]
#[doc(inline)]
pub use switchboard_auth as auth;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "console")]
#[doc(inline)]
pub use switchboard_console as console;
#[cfg(feature = "gateway")]
#[doc(inline)]
pub use switchboard_gateway as gateway;
#[cfg(feature = "host")]
#[doc(inline)]
pub use switchboard_host as host;
#[cfg(all(feature = "host", feature = "oauth"))]
pub mod login;
#[doc(inline)]
pub use switchboard_protocol as protocol;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "service")]
pub mod service;
pub mod transport;

#[cfg(feature = "client")]
pub use self::client::{CallError, Client};
#[cfg(feature = "server")]
#[doc(inline)]
pub use self::server::{InProcess, Server, serve_stdio};
/// Builds JSON in place: arguments, schemas, log data.
pub use serde_json::json;
#[cfg(feature = "host")]
pub use switchboard_host::config::ServerConfig;
#[cfg(feature = "host")]
pub use switchboard_host::{Host, ServerSpec};
#[cfg(feature = "service")]
pub use switchboard_macros::{server, service};
#[cfg(feature = "http-client")]
pub use switchboard_transport::http::client::Http;
pub use switchboard_transport::stdio::{Stdio, run_supervisor_if_requested};

#[cfg(feature = "service")]
#[doc(hidden)]
pub use switchboard_service::rt as __rt;

/// Compiles the examples of the documents.
#[cfg(all(doctest, feature = "service-client"))]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/services.md")]
    struct Services;
    #[cfg(all(feature = "host", feature = "oauth"))]
    #[doc = include_str!("../../../docs/login.md")]
    struct Login;
}
