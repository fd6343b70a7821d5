//! What the programs written with a host share.

mod figures;
mod plan;
mod session;

pub use figures::{Figures, median, run};
pub use plan::{http, in_process, stdio};
pub use session::Hosted;
