//! Serving over HTTP: one endpoint for every revision.
//!
//! ```text
//!   request ─▶ door ─▶ guard (Host, Origin, type, size) ─▶ what does the message say of itself?
//!                                      stands alone ─▶ stateless      in a session ─▶ stateful ─▶ its session
//! ```

mod accept;
mod authenticate;
mod body;
mod budget;
mod client_id;
mod crowd;
mod door;
mod endpoint;
mod entry;
mod guard;
mod head_check;
mod lane;
mod ledger;
mod listener;
mod mirror;
mod options;
mod reply;
mod session;
mod sessions;
mod sse_2024;
mod stateful;
mod stateless;
mod store;
mod stream;
mod stream_limit;
mod timed_io;
mod visitor;

pub use accept::AcceptPolicy;
pub use authenticate::{Authenticate, Refused};
pub use body::ReplyBody;
pub use budget::ByteBudget;
pub use client_id::{AddressRange, AddressRangeError, ClientAddress, ForwardedHeader, PeerAddress};
pub use door::HttpService;
pub use endpoint::Endpoint;
pub use entry::{Entry, Posted, event};
pub use listener::{HttpListener, ListenerLimits};
pub use options::{HttpOptions, LegacySse};
pub use store::{MemoryStore, SessionStore};
pub use visitor::RequestHead;
