//! What is remembered of a server, so that its tools can be shown before it is started.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Implementation, Tool};

/// What a server listed when it last ran. Written and read by the application, wherever it keeps such things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Manifest {
    /// Who the server said it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Implementation>,
    /// What it told the model about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools, in its order.
    pub tools: Vec<Tool>,
}

impl Manifest {
    /// A server with these tools.
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self { server_info: None, instructions: None, tools: tools.into() }
    }
}
