//! Shared code of the test programs. Depends on no crate of the workspace, so that each of them can use it.

mod harness;
mod reserved_port;

pub use harness::run;
pub use reserved_port::ReservedPort;
