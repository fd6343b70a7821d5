//! The one path of a tool call: resolve, check the arguments, permit, call, shape.
//!
//! ```text
//!   name ── resolve ──▶ Listed ── validate ── permit ──▶ session ──▶ result
//!                          ▲                                 │
//!                       catalogue              shape: output, spill, errors for the model
//! ```

mod guard;
mod own;
mod permit;
mod repair;
mod run;
mod shape;
mod spill;
mod tool_call;
mod validate;

pub use own::OwnTool;
pub use permit::{Permit, Permitted, Proposed};
pub use run::Run;
pub(crate) use shape::failure;
pub use spill::Spill;
pub(crate) use tool_call::{CallPolicy, Which, not_ready};
pub use tool_call::{Replay, ToolCall, TraceContext, Traced};
pub(crate) use validate::Checks;
pub use validate::Validation;
