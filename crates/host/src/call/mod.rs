//! The one path of a tool call: resolve, check the arguments, permit, call, shape.
//!
//! ```text
//!   name ── resolve ──▶ CatalogTool ── validate ── permit ──▶ session ──▶ result
//!                          ▲                                 │
//!                       catalogue              shape: output, spill, errors for the model
//! ```

mod repair;
mod resolve;
mod shape;
mod span;
mod tool_call;

pub(crate) use resolve::Which;
pub(crate) use shape::failure;
pub use tool_call::ToolCall;
