//! The status of a server, and connection errors.

mod connection_error;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod status;

pub use connection_error::ConnectionError;
pub use status::{Status, StatusKind};
