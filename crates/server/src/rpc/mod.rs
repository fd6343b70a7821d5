//! The plain JSON-RPC endpoint of a service: every method over one POST, for callers that do not speak MCP.
//!
//! A method is called by its name in Rust, alone or after the name of the service and a dot, with its arguments by name
//! or by position. It answers with its result as JSON, or with an error whose code says whose fault it is.

mod caller;
mod method;
mod refusal;

pub use caller::RpcCaller;
pub use refusal::Refused;
