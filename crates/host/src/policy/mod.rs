//! What holds for all calls of a host: who permits them, what is repeated, and where large results go.

mod permit;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod policy;
mod spill;

pub use permit::{Permit, Permitted, Proposed};
pub(crate) use policy::CallPolicy;
pub use policy::{AmbiguousNames, Replay, TraceContext, Traced};
pub use spill::Spill;
