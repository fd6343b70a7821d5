//! How a server is doing, and why it failed.

mod failure;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod status;

pub use failure::Failure;
pub use status::{Status, StatusKind};
