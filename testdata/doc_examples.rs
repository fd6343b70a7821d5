// The server and the runtime of examples in doc comments, which include this file as a hidden module.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use switchboard::protocol::{
    CallToolResult, Content, GetPromptResult, Implementation, ListCapability, ListPromptsResult,
    ListResourcesResult, ListToolsResult, Prompt, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, ResourcesCapability, Role, RpcError, ServerCapabilities, Settings, Tool,
    ToolAnnotations,
};
use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
use switchboard::{Server, json};

/// Tools `add` (the sum of `a` and `b`) and `wait` (never ends), the resource `note://today`, the prompt `greet`.
pub struct Demo;

impl Handler for Demo {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let number = json!({ "type": "integer" });
                let schema = json!({
                    "type": "object",
                    "properties": { "a": number, "b": number },
                    "required": ["a", "b"],
                });
                let add = Tool::new("add", schema)
                    .with_description("Adds two numbers.")
                    .with_annotations(ToolAnnotations::new().with_read_only_hint(true));
                HandlerOutcome::now(ListToolsResult::new([add, Tool::new("wait", json!({ "type": "object" }))]))
            }
            ServerRequest::CallTool(call) if call.name == "add" => {
                cx.progress(1.0, Some(1.0), Some("added"));
                let numbers: Option<BTreeMap<String, i64>> = call.arguments.and_then(|raw| raw.decode().ok());
                let sum: i64 = numbers.unwrap_or_default().values().sum();
                HandlerOutcome::now(CallToolResult::new([Content::text(sum.to_string())]))
            }
            ServerRequest::CallTool(call) if call.name == "wait" => HandlerOutcome::later(std::future::pending()),
            ServerRequest::ListResources(_) => {
                HandlerOutcome::now(ListResourcesResult::new([Resource::new("note://today", "today")]))
            }
            ServerRequest::ReadResource(read) => {
                HandlerOutcome::now(ReadResourceResult::new([ResourceContents::text(read.uri, "Buy milk.")]))
            }
            ServerRequest::ListPrompts(_) => HandlerOutcome::now(ListPromptsResult::new([Prompt::new("greet")])),
            ServerRequest::GetPrompt(get) => {
                let arguments = get.arguments.unwrap_or_default();
                let name = arguments.get("name").cloned().unwrap_or_default();
                let greeting = Content::text(format!("Greet {name}."));
                HandlerOutcome::now(GetPromptResult::new([PromptMessage::new(Role::User, greeting)]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

pub fn capabilities() -> ServerCapabilities {
    ServerCapabilities::new()
        .with_logging(Settings::new())
        .with_tools(ListCapability::new().with_list_changed(true))
        .with_prompts(ListCapability::new())
        .with_resources(ResourcesCapability::new().with_subscribe(true))
}

pub fn server() -> Arc<Server> {
    Server::builder(Implementation::new("demo", "1.0.0"), capabilities()).build(Demo)
}

/// Runs an example.
pub fn run<E: Into<Box<dyn Error>>>(example: impl Future<Output = Result<(), E>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if let Err(error) = runtime.block_on(example) {
        panic!("{}", error.into());
    }
}

pub fn done() -> Result<(), Box<dyn Error>> {
    Ok(())
}
