//! The tool `ListMcpResources`: lists the resources of one server or of all servers.

use std::sync::Weak;

use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_protocol::{CallToolResult, Raw, Tool, ToolAnnotations};
use switchboard_session::link::BoxFuture;

use crate::builtin::structured_result;
use crate::call::error_result;
use crate::error::HostError;
use crate::local_tool::LocalTool;
use crate::run::Run;
use crate::set::HostState;

/// The tool `ListMcpResources`.
pub(crate) struct ListResources {
    pub(crate) host: Weak<HostState>,
}

#[derive(Deserialize)]
struct ListArguments {
    server: Option<String>,
}

#[derive(Serialize)]
struct ResourceList {
    resources: Vec<ResourceEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceEntry {
    server: String,
    uri: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl LocalTool for ListResources {
    fn definition(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "server": {"type": "string", "description": "Only the resources of this server; of all, without it."}
            }
        });
        let effects = ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false);
        Tool::new("ListMcpResources", schema)
            .with_description("Lists the resources of the connected MCP servers, each with its server.")
            .with_annotations(effects)
    }

    fn call<'a>(&'a self, arguments: Raw, _: Option<&'a Run>) -> BoxFuture<'a, CallToolResult> {
        Box::pin(async move {
            let Some(host) = self.host.upgrade() else { return error_result(&HostError::Closed) };
            let server = match arguments.decode::<ListArguments>() {
                Ok(arguments) => arguments.server,
                Err(error) => return CallToolResult::error(error.to_string()),
            };
            let merged =
                host.merge_lists(server.as_deref(), |session| Box::pin(session.list_resources())).await;
            let merged = match merged {
                Ok(merged) => merged,
                Err(error) => return error_result(&error),
            };
            let resources = merged.items.into_iter().map(|of| ResourceEntry {
                server: of.server.to_string(),
                uri: of.item.uri,
                name: of.item.name,
                mime_type: of.item.mime_type,
                description: of.item.description,
            });
            let errors = merged.errors.iter().map(|(_, error)| error.to_string()).collect();
            structured_result(&ResourceList { resources: resources.collect(), errors })
        })
    }
}
