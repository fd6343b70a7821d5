//! Manifests: the tools of a server that is not started.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Implementation, Tool};

/// The tools of a server when it last ran. The application stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Manifest {
    /// The name and version of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Implementation>,
    /// Its instructions for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools, in order.
    pub tools: Vec<Tool>,
}

impl Manifest {
    /// Creates a manifest with these tools.
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self { server_info: None, instructions: None, tools: tools.into() }
    }
}
