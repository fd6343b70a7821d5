//! The typed client of a service: the same trait over any session.

mod arguments;
mod caller;
mod declare;
mod failure;
mod held;
pub(crate) mod listening;
mod reading;
mod repair;
pub(crate) mod stream;
mod watching;

pub use arguments::Arguments;
pub use caller::Caller;
pub use declare::client;
pub use listening::{ServiceEvent, ServiceEvents};
pub use repair::{call_with_repair, get_prompt_with_repair};
pub use stream::{CallStream, Item};
