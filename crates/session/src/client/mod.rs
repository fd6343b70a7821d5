//! The client's side of a session: typed verbs, answers to what the server asks, news from it.

mod alarm;
mod answers;
mod builder;
mod cache;
mod call;
mod changes;
mod clock;
mod gather;
mod lists;
mod live;
mod raw_call;
mod session;
mod spawn;
mod state;
mod subscribe;
mod task;
mod tool_call;
mod upcalls;

pub use crate::request::Limits;
pub use answers::{Abilities, Answers, Asker, Refusal};
pub use builder::Client;
pub use changes::{Change, Changes, Listening};
pub use lists::{Cut, Entry, Listing};
pub use raw_call::RawCall;
pub use session::ClientSession;
pub use state::State;
pub use tool_call::CallTool;
pub use upcalls::is_web_address;
