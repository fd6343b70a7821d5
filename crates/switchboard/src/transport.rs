//! Transports, and the interface for a transport of your own.
//!
//! | module | contents |
//! |---|---|
//! | [`stdio`] | a child process and its supervisor; stdin and stdout of this process |
//! | [`http`] | streamable HTTP, client and server, and the HTTP+SSE transport of 2024-11-05 |
//! | [`http_client`] | the HTTP client beneath it: limits, TLS, proxies, credentials |
//! | [`sse`] | encoding and decoding of event streams |
//! | [`link`] | the interface: [`Outlet`](link::Outlet) and [`Inlet`](link::Inlet) for a pipe, [`Dial`] to open links |

#[cfg(feature = "http-client")]
#[doc(inline)]
pub use switchboard_http as http_client;
pub use switchboard_session::link;
pub use switchboard_session::link::{CloseOutcome, Dial, Direction, LinkError, Pipe, ServerExit, Tap};
pub use switchboard_session::{ConnectionLimits, MuxLink};
pub use switchboard_transport::stdio;
#[cfg(any(feature = "http-client", feature = "http-server"))]
pub use switchboard_transport::{http, sse};
