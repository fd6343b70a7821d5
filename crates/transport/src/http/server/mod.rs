//! Serving over HTTP: one endpoint for every revision.
//!
//! ```text
//!   request ─▶ door ─▶ guard (Host, Origin, type, size) ─▶ what does the message say of itself?
//!                                      stands alone ─▶ stateless      in a session ─▶ stateful ─▶ its session
//! ```

mod accept;
mod authenticate;
mod body;
mod crowd;
mod door;
mod endpoint;
mod entry;
mod guard;
mod lane;
mod listener;
mod mirror;
mod options;
mod reply;
mod session;
mod sse_2024;
mod stateful;
mod stateless;
mod store;
mod stream;
mod timed_io;
mod visitor;

pub use accept::AcceptPolicy;
pub use authenticate::{Authenticate, Refused};
pub use body::ReplyBody;
pub use door::HttpService;
pub use endpoint::Endpoint;
pub use entry::{Entry, Posted, event};
pub use listener::{HttpListener, ListenerLimits};
pub use options::{HttpOptions, LegacySse};
pub use store::{MemoryStore, SessionStore};
pub use visitor::RequestHead;
