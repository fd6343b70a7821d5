//! One slot for each server: what everybody but its connection task sees of it, and what is wanted of that task.

mod child_slot;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod slot;
mod turns;

pub(crate) use child_slot::ChildSlot;
pub(crate) use slot::{Outset, Run, Slot, Switch, Wanted};
