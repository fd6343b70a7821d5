//! Reaching a server over HTTP: a link for each rung, over one checked address.
//!
//! ```text
//!   Http ─ dial ─▶ Modern: stateless   each request alone, hanging up cancels
//!                  Legacy: stateful    a session id, a stream for what the server starts, resuming
//!                  Oldest: sse         the two endpoints of 2024
//! ```

mod endpoint;
mod failure;
mod flow;
mod hearing;
mod post;
mod stateful;
mod stateless;

pub use endpoint::{Http, HttpLimits, Way};
pub(crate) use failure::refusal;
pub(crate) use post::{Brought, EVENTS, Events, Wire};

use switchboard_protocol::RequestId;

/// The text of a request; the parameters are text already.
pub(crate) fn request_text(id: &RequestId, method: &str, params: &str) -> String {
    let (id, method) = (serde_json::json!(id), serde_json::Value::from(method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}
