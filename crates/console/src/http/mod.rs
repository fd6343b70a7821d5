//! HTTP: admits requests, serves the page, runs the handlers of the API, streams events.
//!
//! ```text
//!   request ─▶ Host, Origin ─▶ page
//!                           └▶ key ─▶ route ─▶ read-only? ─▶ content type ─▶ body ─▶ handler
//! ```
//!
//! Invariant: every response has the headers of `security_headers`, also an error.

mod access_keys;
mod assets;
mod attempt_limit;
mod compression;
mod endpoint;
mod event_stream;
mod origin_check;
mod reply;
mod request_body;
mod router;

pub(crate) use access_keys::{AccessKeys, KeyLimits};
pub(crate) use endpoint::ConsoleEndpoint;
