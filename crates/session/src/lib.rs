//! A session between two MCP peers, from the pipe up to typed requests, in every protocol revision.
//!
//! Layers without cycles: each knows those to its left, and none to its right.
//!
//! ```text
//!          ┌── mux ◀─────┐                     ┌── client   ClientSession: typed requests
//!   link ◀─┤             ├── era ◀─────────────┤
//!     ▲    └── request ◀─┘                     └── server   Server, Handler, RequestContext
//!     └── Pipe { Outlet, Inlet }: yours to implement
//! ```
//!
//! 1. [`link`]: the interface of a transport. The unit is the exchange: one request, its notifications, one response. Knows no mux and no tools.
//! 2. [`mux`]: turns a pipe into a link: request ids, the table of requests in flight, the reading task. Knows no MCP method:
//!    the rules for notifications are passed in.
//! 3. `request`: the parts of a request common to both eras: caller, reply channel, cancellation, errors, limits.
//! 4. `era`: opening a session, and the operations that differ between the two eras. Knows a server as data.
//! 5. [`client`]: connect, list, call, read, subscribe, and answer the server's requests.
//! 6. [`server`]: a handler, its context, and serving any number of connections with it, also in the same process.
//!
//! **Invariants.** Nothing here knows HTTP, processes or files. Every wait has a timeout, every queue a limit. An entry
//! for a request is in the table before its first byte is written and leaves it on every exit. Dropping a call cancels
//! it. No lock is held across an await. A payload is validated in one scan and decoded once, into exactly the type
//! that was asked for; a modern result is also walked for its `resultType`.
//!
//! # A session in one process
//!
//! ```
//! use switchboard::protocol::{CallToolResult, Content, Implementation, ListCapability, ServerCapabilities};
//! use switchboard::Client;
//! use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
//! use switchboard::{InProcess, Server};
//!
//! struct Greeter;
//! impl Handler for Greeter {
//!     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//!         match request {
//!             ServerRequest::CallTool(call) => HandlerOutcome::now(CallToolResult::new([Content::text(call.name)])),
//!             other => HandlerOutcome::error(switchboard::protocol::RpcError::method_not_found(other.method())),
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let offers = ServerCapabilities::new().with_tools(ListCapability::new());
//! let server = Server::builder(Implementation::new("greeter", "1.0.0"), offers).build(Greeter);
//! let session = Client::new().connect(InProcess::new(&server)).await?;
//! assert_eq!(session.call_tool("hello", ()).await?.text(), "hello");
//! session.close().await;
//! # Ok::<(), switchboard::CallError>(()) }).unwrap();
//! ```
//!
//! # A transport of your own
//!
//! A transport is a pair: an [`Outlet`](link::Outlet) that sends whole frames, an [`Inlet`](link::Inlet) that
//! receives them. Here each is an end of a channel; a WebSocket or a message queue looks the same.
//!
//! ```
//! use std::task::{Context, Poll, ready};
//! use switchboard::transport::link::{Frame, FrameQueue, Inlet, LinkError, Outlet, Pipe, SingleLink};
//! use switchboard::transport::{ConnectionLimits, MuxLink};
//! use switchboard::Client;
//! use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
//!
//! struct Sends(Option<UnboundedSender<bytes::Bytes>>);
//! impl Outlet for Sends {
//!     fn poll_send(&mut self, _: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
//!         let Some(channel) = &self.0 else { return Poll::Ready(Err(LinkError::Closed)) };
//!         while let Some(frame) = queue.pop_frame() {
//!             channel.send(frame).map_err(|_| LinkError::lost("the other side is gone"))?;
//!         }
//!         Poll::Ready(Ok(()))
//!     }
//!     fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
//!         self.0 = None;
//!         Poll::Ready(Ok(()))
//!     }
//! }
//!
//! struct Receives(UnboundedReceiver<bytes::Bytes>);
//! impl Inlet for Receives {
//!     fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
//!         match ready!(self.0.poll_recv(cx)) {
//!             Some(frame) => into.push(Frame::Message(frame)),
//!             None => return Poll::Ready(Err(LinkError::lost("the other side is gone"))),
//!         }
//!         Poll::Ready(Ok(()))
//!     }
//! }
//!
//! # use switchboard::protocol::{Implementation, RpcError, ServerCapabilities};
//! # use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
//! # use switchboard::Server;
//! # struct NoMethods;
//! # impl Handler for NoMethods {
//! #     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
//! #         HandlerOutcome::error(RpcError::method_not_found(request.method()))
//! #     }
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let server = Server::builder(Implementation::new("s", "1"), ServerCapabilities::new()).build(NoMethods);
//! let ((to_server, at_server), (to_client, at_client)) = (unbounded_channel(), unbounded_channel());
//! let serving = Pipe::new(Sends(Some(to_client)), Receives(at_server));
//! tokio::spawn(async move { server.serve(serving).await });
//!
//! let pipe = Pipe::new(Sends(Some(to_server)), Receives(at_client));
//! let session = Client::new().connect(SingleLink::new(MuxLink::start(pipe, ConnectionLimits::default()))).await?;
//! session.ping().await?;
//! session.close().await;
//! # Ok::<(), switchboard::CallError>(()) }).unwrap();
//! ```

#[cfg(feature = "client")]
pub mod client;
mod era;
pub mod link;
pub mod mux;
mod request;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub use client::{Client, ClientSession};
#[cfg(any(feature = "client", feature = "server"))]
pub use era::TaskProtocol;
pub use era::{EraHint, RevisionList, RevisionPolicy, SessionInfo};
#[cfg(feature = "server")]
pub use era::{OpeningPolicy, StateKeys, VersionPolicy};
pub use mux::{ConnectionLimits, MuxLink};
pub use request::{CallError, TimeoutKind};
