//! Transport bindings. A binding turns a byte stream or an HTTP server into a
//! [`Pipe`](switchboard_session::link::Pipe) or a [`Link`](switchboard_session::link::Link); it knows no tools,
//! no hosts and no sessions. The bindings are [`stdio`], on Linux, and HTTP.
//!
//! ```text
//!   client:  Stdio ── spawn ──▶ Pipe ──▶ MuxLink ──▶ session
//!                              │
//!                              └─ supervisor ─▶ server ─▶ its children      (all end together)
//!   server:  our stdin, stdout ── take_stdio ──▶ Pipe ──▶ session::server
//! ```
//!
//! # Invariants
//! - A server's process ends when its pipe is closed or dropped, with everything in its process group; with the
//!   supervisor every descendant ends, also when this process is killed.
//! - The pipes cannot deadlock: stdout, stdin and stderr each have a task.
//! - Memory is bounded whatever a server sends, and a message beyond the limit fails its own call only.
//! - Nothing but messages reaches our own stdout once it is taken.
//! - No pid is signalled after its process was reaped.
//!
//! # Example
//! ```
//! use std::time::Duration;
//! use switchboard::transport::link::{CloseOutcome, ExchangeKind, Link, Mirror, OutgoingRequest};
//! use switchboard::transport::{ConnectionLimits, MuxLink};
//! use switchboard::transport::stdio::{self, Stdio};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A program calls stdio::run_supervisor_if_requested() first in main.
//! let script = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat > /dev/null"#;
//! let (pipe, child) = stdio::spawn(&Stdio::new("sh").args(["-c", script]))?;
//! let link = MuxLink::start(pipe, ConnectionLimits::default());
//! let mut ping = link.open(OutgoingRequest { id: 1.into(), method: "ping", params: "{}", mirror: Mirror::default(), kind: ExchangeKind::Call, call: None });
//! ping.done().await??;
//! assert!(child.root_pid() > 0);
//! assert!(matches!(link.close(Duration::from_secs(5)).await, CloseOutcome::Exited(exit) if exit.code == Some(0)));
//! # Ok(()) }
//! ```

#[cfg(any(feature = "http-client", feature = "http-server"))]
pub mod http;
#[cfg(any(feature = "http-client", feature = "http-server"))]
pub mod sse;
pub mod stdio;
