//! A tool to look at and to call.

use std::sync::Arc;

use serde::Serialize;
use switchboard_protocol::{CallToolResult, Raw, Tool, ToolAnnotations};

use crate::call::{ToolCall, Which};
use crate::host::Host;
use crate::registry::CatalogTool;

/// A tool of the catalogue, with the host that calls it.
#[derive(Clone, Debug)]
pub struct ToolHandle {
    host: Host,
    listed: Arc<CatalogTool>,
}

impl ToolHandle {
    pub(crate) fn new(host: Host, listed: Arc<CatalogTool>) -> Self {
        Self { host, listed }
    }

    /// The tool as the catalogue has it.
    pub fn listed(&self) -> &Arc<CatalogTool> {
        &self.listed
    }

    /// The tool as its server lists it.
    pub fn tool(&self) -> &Tool {
        self.listed.tool()
    }

    /// The JSON Schema of its arguments.
    pub fn schema(&self) -> &Raw {
        &self.listed.tool.input_schema
    }

    /// What it says of its effects.
    pub fn effects(&self) -> ToolAnnotations {
        self.listed.effects()
    }

    /// Calls it; await for a typed error or a result.
    pub fn call(&self, arguments: impl Serialize) -> ToolCall {
        let which = Which::Listed(Arc::clone(&self.listed));
        ToolCall::new(Arc::clone(&self.host.inner), which, Raw::encode(&arguments))
    }

    /// Calls it for a model: every failure is a result that says so.
    pub async fn execute(&self, arguments: impl Serialize) -> CallToolResult {
        self.call(arguments).execute().await
    }
}
