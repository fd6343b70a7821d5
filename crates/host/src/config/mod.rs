//! From what a person wrote to what will be run.

mod plan;

pub use plan::{Off, Plan, Reach, Restart, Start};
