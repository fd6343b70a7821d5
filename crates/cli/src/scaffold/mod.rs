//! New projects: their templates, and writing them without changing an existing file.

mod agent;
mod files;
mod names;
mod write;

pub(crate) use agent::agent_files;
pub(crate) use files::{DESIGN_TEMPLATE, Dependency, SERVICE_TEMPLATES};
pub(crate) use names::ProjectNames;
pub(crate) use write::{WriteOutcome, format_source, write_new};
