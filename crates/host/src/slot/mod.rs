//! One slot for each server: what everybody but its connection task sees of it, and the state desired of that task.

mod child_slot;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;
mod turns;

pub(crate) use child_slot::ChildSlot;
pub(crate) use slot::{DesiredState, Outset, Run, Slot, Switch};
