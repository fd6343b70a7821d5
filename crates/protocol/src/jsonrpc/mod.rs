//! JSON-RPC 2.0, as MCP uses it: messages, ids, errors. No MCP method is named here.

mod code;
mod envelope;
mod fault;
mod id;
mod members;
mod outline;
mod param_fields;
mod salvage;

pub use code::{ErrorCode, RpcError};
pub use envelope::{
    Envelope, MAX_METHOD_BYTES, Malformed, Message, Notification, Request, RequestMeta, Response, Version,
    parse,
};
pub use fault::{Fault, FaultKind};
pub use id::{MAX_ID_BYTES, RequestId};
pub use members::MAX_BATCH;
pub use outline::Outline;
pub use param_fields::ParamFields;
pub use salvage::{Salvaged, Salvager, salvage};
pub use switchboard_json::{SyntaxError, SyntaxErrorKind};
