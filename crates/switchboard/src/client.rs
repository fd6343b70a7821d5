//! The client side: one session with one server.
//!
//! [`Client::connect`] opens a [`ClientSession`] over any transport and negotiates the protocol revision. The session
//! lists and calls tools, reads resources, gets prompts and subscribes to changes. A [`ClientHandler`] answers requests of
//! the server: elicitation and sampling. For many servers at once there is [`Host`](crate::host).
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use switchboard::client::{Client, RevisionPolicy};
//! use switchboard::protocol::Revision;
//! use switchboard::{CallError, Http, json};
//!
//! # async fn example() -> Result<(), CallError> {
//! let session = Client::new()
//!     .with_revisions(RevisionPolicy::Only(Revision::V2025_11_25))
//!     .connect(Http::new("https://example.org/mcp"))
//!     .await?;
//! let call = session.call_tool("search", json!({ "query": "rust" }));
//! let result = call.timeout(Duration::from_secs(20)).await?; // dropping the future cancels the call
//! println!("{}", result.text());
//! # Ok(()) }
//! ```

pub use switchboard_session::client::{
    CallOptions, CallTool, Change, ChangeStream, Client, ClientHandler, ClientSession, HandlerCapabilities,
    HandlerError, Limits, List, ListEntry, ListTruncation, RawCall, RequestingServer, SessionState,
    Subscription, is_web_address,
};
pub use switchboard_session::{
    CallError, EraHint, RevisionList, RevisionPolicy, SessionInfo, TaskProtocol, TimeoutKind,
};
#[cfg(feature = "http-client")]
pub use switchboard_transport::http::client::{EndpointError, HttpBinding, HttpLimits};
