//! Built-in tools that let a model read the resources of servers.

mod list_resources;
mod read_resource;

use std::sync::{Arc, Weak};

use switchboard_protocol::{CallToolResult, Content, Raw};

use crate::builtin::list_resources::ListResources;
use crate::builtin::read_resource::ReadResource;
use crate::local_tool::LocalTool;
use crate::set::HostState;

/// Returns the built-in tools. They do not keep the host alive.
pub(crate) fn tools(host: &Weak<HostState>) -> Vec<Arc<dyn LocalTool>> {
    vec![
        Arc::new(ListResources { host: Weak::clone(host) }),
        Arc::new(ReadResource { host: Weak::clone(host) }),
    ]
}

/// Returns a result with a value as text and as structured content.
fn structured_result(value: &impl serde::Serialize) -> CallToolResult {
    match Raw::encode(value) {
        Ok(raw) => CallToolResult::new([Content::text(raw.as_str())]).with_structured_content(raw),
        Err(error) => CallToolResult::error(error.to_string()),
    }
}
