//! `ReadMcpResource`: one resource of one server.

use std::sync::Weak;

use serde::Deserialize;
use serde_json::json;
use switchboard_protocol::{CallToolResult, Raw, Tool, ToolAnnotations};
use switchboard_session::link::BoxFuture;

use crate::builtin::both;
use crate::call::failure;
use crate::error::HostError;
use crate::local_tool::LocalTool;
use crate::run::Run;
use crate::set::Inner;

/// The tool.
pub(crate) struct ReadResource {
    pub(crate) host: Weak<Inner>,
}

#[derive(Deserialize)]
struct Arguments {
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
            let Some(host) = self.host.upgrade() else { return failure(&HostError::Closed) };
            let Arguments { server, uri } = match arguments.decode() {
                Ok(arguments) => arguments,
                Err(error) => return CallToolResult::error(error.to_string()),
            };
            match host.read_resource(&server, &uri).await {
                Ok(read) => both(&json!({ "contents": read.contents })),
                Err(error) => failure(&error),
            }
        })
    }
}
