//! What a changed configuration of a gateway would change: two sides, their differences, and the report.
//!
//! Invariant: no secret is in it. Entries are masked, and a changed secret is only said to have changed.

mod decision_change;
mod differences;
mod known_callers;
mod plan_side;
mod policy_change;
mod render;

pub(crate) use differences::Differences;
pub(crate) use plan_side::PlanSide;
pub(crate) use render::render;
