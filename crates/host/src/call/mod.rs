//! The path of a tool call: resolve, validate, decide, send, spill.
//!
//! ```text
//!   name ── resolve ──▶ CatalogTool ── validate ── decide ──▶ session ──▶ result
//!                          ▲                                 │
//!                       catalog                output check, spill, errors for the model
//! ```

mod error_result;
mod host_request;
mod repair;
mod resolve;
mod span;
mod tool_call;

pub(crate) use error_result::error_result;
pub use host_request::HostRequest;
pub(crate) use resolve::ToolSelector;
pub use tool_call::ToolCall;
