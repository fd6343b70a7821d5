//! The toolset of `__service__`: one adapter for each of its tools.
//!
//! Written once by `switchboard new --agent`; it is yours. Everything that knows the names of tools is here, so
//! that a planner does not.

__modules__

use serde_json::Value;

use crate::operator::toolsets::Step;

/// Name of the service in `bootstrap.rs`.
pub const SERVER: &str = "__service__";

__tools__

/// Creates a call of one of the tools.
pub fn step(tool: &'static str, arguments: Value) -> Step {
    Step {
        server: SERVER,
        tool,
        arguments,
    }
}
