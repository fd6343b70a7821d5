//! The tool `ReadMcpResource`: reads one resource of a server.

use std::sync::Weak;

use serde::Deserialize;
use serde_json::json;
use switchboard_protocol::{CallToolResult, Raw, Tool, ToolAnnotations};
use switchboard_session::link::BoxFuture;

use crate::builtin::structured_result;
use crate::call::error_result;
use crate::error::HostError;
use crate::local_tool::LocalTool;
use crate::run::Run;
use crate::set::HostState;

/// The tool `ReadMcpResource`.
pub(crate) struct ReadResource {
    pub(crate) host: Weak<HostState>,
}

#[derive(Deserialize)]
struct ReadArguments {
    server: String,
    uri: String,
}

impl LocalTool for ReadResource {
    fn definition(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "required": ["server", "uri"],
            "properties": {
                "server": {"type": "string", "description": "The server that has the resource."},
                "uri": {"type": "string", "description": "The resource, as the server lists it."}
            }
        });
        let effects = ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false);
        Tool::new("ReadMcpResource", schema)
            .with_description("Reads one resource of an MCP server.")
            .with_annotations(effects)
    }

    fn call<'a>(&'a self, arguments: Raw, _: Option<&'a Run>) -> BoxFuture<'a, CallToolResult> {
        Box::pin(async move {
            let Some(host) = self.host.upgrade() else { return error_result(&HostError::Closed) };
            let ReadArguments { server, uri } = match arguments.decode() {
                Ok(arguments) => arguments,
                Err(error) => return CallToolResult::error(error.to_string()),
            };
            match host.read_resource(&server, &uri).await {
                Ok(read) => structured_result(&json!({ "contents": read.contents })),
                Err(error) => error_result(&error),
            }
        })
    }
}
