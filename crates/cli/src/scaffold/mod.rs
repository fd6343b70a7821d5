//! New projects: the files that are written, and writing them without ever touching one that is there.

mod files;
mod names;
mod write;

pub(crate) use files::{Dependency, agent, service};
pub(crate) use names::Names;
pub(crate) use write::{Outcome, write};
