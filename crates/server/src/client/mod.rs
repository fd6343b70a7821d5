//! The typed client of a service: the same trait over any session.

mod arguments;
mod caller;
mod stream;

pub use arguments::Arguments;
pub use caller::Caller;
pub use stream::{CallStream, Item};
