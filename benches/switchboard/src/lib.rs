//! The programs of the benchmark, written with switchboard as its users would write them.

mod handler;
mod initializing;
mod serving;
mod session;

pub use handler::server;
pub use initializing::Initializing;
pub use serving::serve;
pub use session::{Calling, client};
