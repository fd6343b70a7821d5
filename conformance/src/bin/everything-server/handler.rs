//! Dispatches requests to the parts of the fixture.

use std::sync::{Arc, OnceLock};

use switchboard::protocol::{CallToolParams, Raw, RpcError};
use switchboard::protocol::{
    CompleteParams, CompleteResult, Completion, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult,
};
use switchboard::server::{Handler, HandlerOutcome, Publisher, RequestContext, ServerRequest};

use crate::tools::{Call, TOOLS, Tool};
use crate::{prompts, resources, tools};

/// Handler of the whole fixture.
pub(crate) struct Everything {
    publisher: Arc<OnceLock<Publisher>>,
}

impl Everything {
    pub(crate) fn new(publisher: Arc<OnceLock<Publisher>>) -> Self {
        Self { publisher }
    }

    fn call(&self, params: CallToolParams, cx: RequestContext) -> HandlerOutcome {
        let Some(tool) = tools::find(&params.name) else {
            let unknown = format!("there is no tool {:?}", params.name);
            return HandlerOutcome::error(RpcError::invalid_params(unknown));
        };
        let arguments = params.arguments.unwrap_or_else(Raw::empty_object);
        let publisher = self.publisher.get().cloned().unwrap_or_default();
        (tool.run)(Call { arguments, cx, publisher })
    }
}

impl Handler for Everything {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let listed: Vec<_> = TOOLS.iter().map(|tool| tool.listed()).collect();
                HandlerOutcome::now(ListToolsResult::new(listed))
            }
            ServerRequest::CallTool(params) => self.call(params, cx),
            ServerRequest::ListResources(_) => {
                HandlerOutcome::now(ListResourcesResult::new(resources::list()))
            }
            ServerRequest::ListResourceTemplates(_) => {
                HandlerOutcome::now(ListResourceTemplatesResult::new(resources::templates()))
            }
            ServerRequest::ReadResource(params) => resources::read(&params.uri),
            ServerRequest::ListPrompts(_) => HandlerOutcome::now(ListPromptsResult::new(prompts::list())),
            ServerRequest::GetPrompt(params) => prompts::get(&params, cx),
            ServerRequest::Complete(params) => complete(&params),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        if resources::exists(uri) { Ok(()) } else { Err(resources::unknown(uri)) }
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        tools::find(tool).map(Tool::schema)
    }
}

/// Returns the values that begin with the typed text.
fn complete(params: &CompleteParams) -> HandlerOutcome {
    let typed = &params.argument.value;
    let values: Vec<String> = ["paris", "park", "party", "test"]
        .into_iter()
        .filter(|value| value.starts_with(typed.as_str()))
        .map(str::to_owned)
        .collect();
    let total = values.len() as u64;
    HandlerOutcome::now(CompleteResult::new(Completion::new(values).with_total(total).with_has_more(false)))
}
