//! A server of a hundred tools written with rmcp. The build script writes them.

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Has a hundred tools.
#[derive(Clone)]
pub struct Service;

include!(concat!(env!("OUT_DIR"), "/hundred.rs"));

#[tool_handler]
impl ServerHandler for Service {}
