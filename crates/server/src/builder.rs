//! A server being put together from a service.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_design::{Answer, Asked, Error, ErrorRules, Mistakes, OutputRule, UriPolicy};
use switchboard_protocol::{
    CallToolParams, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Raw, RpcError,
};
use switchboard_session::answering::{self, Handled, Handler, Reply, Server, ServerRequest};

use crate::{Call, Cx, Dispatch, EventFeed};

/// A server being put together.
#[derive(Clone)]
pub struct ServiceBuilder {
    service: Arc<dyn Dispatch>,
}

impl ServiceBuilder {
    /// A server of this service.
    pub fn new(service: Arc<dyn Dispatch>) -> Self {
        Self { service }
    }

    /// The service.
    #[cfg(feature = "rpc")]
    pub(crate) fn service(&self) -> &Arc<dyn Dispatch> {
        &self.service
    }

    /// Where what the service tells unasked comes from.
    #[must_use]
    pub fn events(self, feed: EventFeed) -> Self {
        let _ = feed;
        self
    }

    /// The server.
    ///
    /// # Errors
    /// All mistakes of the design at once.
    pub fn build(self) -> Result<Arc<Server>, Mistakes> {
        let design = self.service.design();
        design.check()?;
        let mut builder = Server::builder(design.implementation(), design.capabilities());
        if let Some(instructions) = &design.instructions {
            builder = builder.instructions(instructions);
        }
        Ok(builder.build(Adapter::new(self.service)))
    }
}

impl std::fmt::Debug for ServiceBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceBuilder").field("design", &self.service.design().name).finish_non_exhaustive()
    }
}

struct Adapter {
    service: Arc<dyn Dispatch>,
    tools: HashMap<String, usize>,
}

impl Adapter {
    fn new(service: Arc<dyn Dispatch>) -> Self {
        let tools = service.design().tools.iter().enumerate();
        let tools = tools.map(|(place, tool)| (tool.name.clone(), place)).collect();
        Self { service, tools }
    }

    fn call_tool(&self, params: CallToolParams, cx: answering::Cx) -> Handled {
        let Some(&tool) = self.tools.get(&params.name) else {
            return Handled::error(RpcError::invalid_params(format!("Unknown tool: {}", params.name)));
        };
        let args = params.arguments.unwrap_or_else(Raw::empty_object);
        let work = self.service.call_tool(tool, Call::new(Cx::serving(cx), args));
        Handled::later(async move { work.await.map(Into::into).or_else(|error| told(&error)) })
    }
}

fn told(error: &Error) -> Reply {
    match ErrorRules::default().answer(error, Asked::Tool) {
        Answer::Result(result) => Ok(result.into()),
        Answer::Rpc(error) => Err(error),
        _ => Err(RpcError::internal("Internal error")),
    }
}

impl Handler for Adapter {
    fn handle(&self, request: ServerRequest, cx: answering::Cx) -> Handled {
        let design = self.service.design();
        match request {
            ServerRequest::ListTools(_) => {
                Handled::now(ListToolsResult::new(design.list_tools(OutputRule::ObjectsOnly)))
            }
            ServerRequest::CallTool(params) => self.call_tool(params, cx),
            ServerRequest::ListResources(_) => {
                Handled::now(ListResourcesResult::new(design.list_resources(&UriPolicy::default())))
            }
            ServerRequest::ListResourceTemplates(_) => {
                Handled::now(ListResourceTemplatesResult::new(design.list_templates(&UriPolicy::default())))
            }
            ServerRequest::ListPrompts(_) => Handled::now(ListPromptsResult::new(design.list_prompts())),
            other => Handled::error(RpcError::method_not_found(other.method())),
        }
    }
}
