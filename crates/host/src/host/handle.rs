//! A handle of one tool.

use std::sync::Arc;

use serde::Serialize;
use switchboard_protocol::{CallToolResult, Raw, Tool, ToolAnnotations};

use crate::call::{ToolCall, ToolSelector};
use crate::host::Host;
use crate::registry::CatalogTool;

/// A tool of the catalog and the host that calls it.
///
/// ```
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let add = host.get("mcp__sums__add").expect("it is listed");
/// assert!(add.effects().is_read_only());
/// assert_eq!(add.call(json!({ "a": 1, "b": 2 })).await?.text(), "3");
/// # demo::done() });
/// ```
#[derive(Clone, Debug)]
pub struct ToolHandle {
    host: Host,
    listed: Arc<CatalogTool>,
}

impl ToolHandle {
    pub(crate) fn new(host: Host, listed: Arc<CatalogTool>) -> Self {
        Self { host, listed }
    }

    /// Returns the tool of the catalog.
    pub fn listed(&self) -> &Arc<CatalogTool> {
        &self.listed
    }

    /// Returns the tool as its server lists it.
    pub fn tool(&self) -> &Tool {
        self.listed.tool()
    }

    /// Returns the JSON Schema of its arguments.
    pub fn schema(&self) -> &Raw {
        &self.listed.tool.input_schema
    }

    /// Returns its annotations.
    pub fn effects(&self) -> ToolAnnotations {
        self.listed.effects()
    }

    /// Calls the tool; await the call for a result or a typed error.
    pub fn call(&self, arguments: impl Serialize) -> ToolCall {
        let which = ToolSelector::Listed(Arc::clone(&self.listed));
        ToolCall::new(Arc::clone(&self.host.inner), which, Raw::encode(&arguments))
    }

    /// Calls the tool for a model: every failure is an error result.
    pub async fn execute(&self, arguments: impl Serialize) -> CallToolResult {
        self.call(arguments).execute().await
    }
}
