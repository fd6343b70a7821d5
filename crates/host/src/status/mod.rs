//! The status of a server, and connection errors.

mod connection_error;
mod error_type;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod status;

pub use connection_error::ConnectionError;
pub(crate) use error_type::call_error_type;
pub use status::{Status, StatusKind};
