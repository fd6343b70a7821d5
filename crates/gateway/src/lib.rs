//! A gateway: many MCP servers behind one endpoint.
//!
//! - [`policy`]: who may call which tool, resource or prompt of which server, with which arguments.
//! - [`limits`]: how often.
//! - [`audit`]: the record of every call.
//!
//! **Invariants.** Rules bind to a server and its own name for the target, never to the exposed name. A decision never tells
//! the caller which rule made it.

pub mod audit;
pub mod limits;
pub mod policy;
