//! Policies for all calls of a host: permission, replay, and spilling of large results.

mod call_policy;
mod settings;
mod spill;

pub use call_policy::{CallDecision, CallPolicy, ProposedCall};
pub(crate) use settings::CallSettings;
pub use settings::{AmbiguousNamePolicy, ReplayPolicy, SpanNames, TraceContext, TraceHeaders};
pub use spill::SpillPolicy;
