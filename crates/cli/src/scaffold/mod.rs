//! New projects: the files that are written, and writing them without ever touching one that is there.

mod agent;
mod files;
mod names;
mod write;

pub(crate) use agent::agent;
pub(crate) use files::{Dependency, design, service};
pub(crate) use names::Names;
pub(crate) use write::{Outcome, formatted, write};
