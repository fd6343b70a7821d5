//! The programs of the benchmark, written with switchboard as its users would write them.

mod handler;
mod session;

pub use handler::server;
pub use session::{Calling, client};
