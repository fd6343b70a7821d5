//! Slots: the shared state of one server each, between its connection task and its users.

mod call_limiter;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;

pub(crate) use slot::{DesiredState, InitialTools, RunState, Slot, Switch};
