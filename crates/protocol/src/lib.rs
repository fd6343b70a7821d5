//! The words of the Model Context Protocol, in all five revisions.

pub mod jsonrpc;
mod raw;

pub use jsonrpc::{ErrorCode, RequestId, RpcError};
pub use raw::{DecodeError, DecodeKind, EncodeError, MAX_DEPTH, MAX_NODES, Raw};
