//! The client side of a session: typed requests, the handler of the server's requests, and the stream of its changes.

mod builder;
mod cache;
mod call;
mod call_options;
mod change_stream;
mod deadline;
mod handler;
mod lists;
mod live_session;
mod paging;
mod raw_call;
mod session;
mod state;
mod subscriptions;
mod task;
mod timer_pool;
mod tool_call;
mod upcalls;

pub use crate::request::Limits;
pub use builder::Client;
pub use call_options::CallOptions;
pub use change_stream::{Change, ChangeStream, Subscription};
pub use handler::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
pub use lists::{List, ListEntry, ListTruncation};
pub use raw_call::RawCall;
pub use session::ClientSession;
pub use state::SessionState;
pub use tool_call::CallTool;
pub use upcalls::is_web_address;
