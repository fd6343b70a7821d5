//! The one path of a tool call: resolve, check the arguments, permit, call, shape.
//!
//! ```text
//!   name ── resolve ──▶ Listed ── validate ── permit ──▶ session ──▶ result
//!                          ▲                                 │
//!                       catalogue              shape: output, spill, errors for the model
//! ```

mod flat;
mod own;
mod permit;
mod policy;
mod repair;
mod resolve;
mod run;
mod shape;
mod span;
mod spill;
mod tool_call;
mod validate;
mod weight;

pub use own::OwnTool;
pub use permit::{Permit, Permitted, Proposed};
pub(crate) use policy::CallPolicy;
pub use policy::{AmbiguousNames, Replay, TraceContext, Traced};
pub(crate) use resolve::Which;
pub use run::Run;
pub(crate) use shape::failure;
pub use spill::Spill;
pub use tool_call::ToolCall;
pub(crate) use validate::Checks;
pub use validate::Validation;
