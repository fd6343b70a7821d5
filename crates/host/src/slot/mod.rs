//! One slot for each server: what everybody but its connection task sees of it, and what is wanted of that task.

mod sight;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;
mod turns;

pub(crate) use sight::Sight;
pub(crate) use slot::{Outset, Run, Slot, Switch, Wanted};
