//! What the test programs of the workspace share. Knows none of our crates, so that each of them can use it.

mod harness;
mod reserved_port;

pub use harness::run;
pub use reserved_port::ReservedPort;
