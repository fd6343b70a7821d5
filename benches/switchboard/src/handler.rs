//! The tools of the server.

use std::sync::{Arc, OnceLock};

use bench_kit::{Usage, fixture};
use serde::Deserialize;
use switchboard::Server;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, Implementation, Raw, RpcError, ServerCapabilities, Tool,
};
use switchboard::protocol::{ListCapability, ListToolsResult};
use switchboard::server::{CachedResult, Handler, HandlerOutcome, RequestContext, ServerRequest};

struct Tools {
    list: CachedResult,
    /// Made when it is first asked for, so that the server starts fast.
    big: OnceLock<String>,
}

#[derive(Deserialize)]
struct Echo {
    text: String,
}

impl Handler for Tools {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::cached(&self.list),
            ServerRequest::CallTool(params) => self.call(params),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

impl Tools {
    fn call(&self, params: CallToolParams) -> HandlerOutcome {
        let CallToolParams { name, arguments, .. } = params;
        let text = match name.as_str() {
            "echo" => match arguments.unwrap_or_else(Raw::empty_object).decode() {
                Ok(Echo { text }) => text,
                Err(error) => {
                    let reason = format!("the arguments do not fit: {error}");
                    return HandlerOutcome::now(CallToolResult::error(reason));
                }
            },
            "big" => self.big.get_or_init(fixture::big).clone(),
            "usage" => Usage::now().text(),
            _ => {
                return HandlerOutcome::error(RpcError::invalid_params(format!("there is no tool {name:?}")));
            }
        };
        HandlerOutcome::now(CallToolResult::new([Content::text(text)]))
    }
}

/// The server, with this many tools.
pub fn server(tools: usize) -> Arc<Server> {
    let tool = |definition: fixture::Definition| {
        let schema: serde_json::Value =
            serde_json::from_str(&definition.schema).expect("the schemas of the fixture are JSON");
        Tool::new(definition.name, schema).with_description(definition.description)
    };
    let list: Vec<Tool> = fixture::tools(tools).into_iter().map(tool).collect();
    let list = CachedResult::new(ListToolsResult::new(list));
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("bench", "1.0.0"), offers).build(Tools { list, big: OnceLock::new() })
}
