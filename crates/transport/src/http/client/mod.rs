//! Reaching a server over HTTP: a link for each rung, over one checked address.
//!
//! ```text
//!   Http ─ dial ─▶ Modern: stateless   each request alone, hanging up cancels
//!                  Legacy: stateful    a session id, a stream for what the server starts, resuming
//!                  Oldest: sse_2024    the two endpoints of 2024
//! ```

mod endpoint;
mod failure;
mod flow;
mod hearing;
mod post;
mod sse_2024;
mod stateful;
mod stateless;

pub use endpoint::{EndpointError, Http, HttpLimits, Way};
