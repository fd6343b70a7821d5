//! JSON-RPC 2.0, as MCP uses it: messages, ids, errors. No MCP method is named here.

mod code;
mod envelope;
mod id;
mod members;
mod message_error;
mod meta_cache;
mod outline;
mod param_fields;
mod recovery;

pub use code::{ErrorCode, RpcError};
pub use envelope::{
    Envelope, MAX_METHOD_BYTES, MalformedMessage, Message, Notification, Request, RequestMeta, Response,
    Version, parse, parse_with_cache,
};
pub use id::{MAX_ID_BYTES, RequestId};
pub use members::MAX_BATCH;
pub use message_error::{MessageError, MessageErrorKind};
pub use meta_cache::MetaCache;
pub use outline::Outline;
pub use param_fields::ParamFields;
pub use recovery::{MessageRecovery, RecoveredMessage, recover};
pub use switchboard_json::{SyntaxError, SyntaxErrorKind};
