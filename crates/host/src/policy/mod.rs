//! What holds for all calls of a host: who permits them, what is repeated, and where large results go.

mod call_policy;
mod settings;
mod spill;

pub use call_policy::{CallDecision, CallPolicy, ProposedCall};
pub(crate) use settings::CallSettings;
pub use settings::{AmbiguousNames, Replay, TraceContext, Traced};
pub use spill::Spill;
