//! The operator: its planner, and the toolsets that it uses.
//!
//! Written once by `switchboard new --agent`; it is yours.

pub mod planner;
pub mod toolsets;
