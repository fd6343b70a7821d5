//! Serving over HTTP: one endpoint for every revision.
//!
//! ```text
//!   request ─▶ service ─▶ admission (Host, Origin, caller, Accept, type, size) ─▶ class of the message
//!                                      no session ─▶ stateless      session id ─▶ stateful ─▶ session
//! ```

mod accept;
mod admission;
mod authenticate;
mod bearer;
mod body;
mod budget;
mod client_id;
mod connections;
mod endpoint;
mod event_queue;
mod head_check;
mod listener;
mod lru;
mod metadata_document;
mod mirror;
mod missing_scopes;
mod options;
mod pending_request;
mod replica_name;
mod reply;
mod request_checks;
mod service;
mod session;
mod session_reply;
mod sessions;
mod sse_2024;
mod stateful;
mod stateless;
mod store;
mod stream_limit;
mod timed_io;
#[cfg(feature = "http-tls")]
mod tls;
mod unix_socket;

pub use accept::{Accept, AcceptPolicy};
pub use admission::{Admission, AdmittedRequest};
pub use authenticate::{AuthRejection, Authenticate};
pub use body::ReplyBody;
pub use budget::ByteBudget;
pub use client_id::{AddressRange, AddressRangeError, ClientAddress, ForwardedHeader, PeerAddress};
pub use endpoint::Endpoint;
pub use listener::{HttpListener, ListenerLimits, ShutdownHandle};
pub use missing_scopes::MissingScopes;
pub use options::{HttpServerOptions, LegacySse};
pub use pending_request::RequestHead;
pub use replica_name::{ReplicaName, ReplicaNameError};
pub use reply::{encode_message_event, malformed_error, message_response, status_response, stream_response};
pub use service::HttpService;
pub use sessions::SessionCounter;
pub use store::{MemoryStore, SessionStore};
pub use switchboard_http::{
    DpopSupport, PresentedToken, ProtectedResource, TokenScheme, VerifiedCaller, Verifier, VerifyError,
};
#[cfg(feature = "http-tls")]
pub use tls::{TlsError, TlsIdentity};
pub use unix_socket::UnixSocketError;
