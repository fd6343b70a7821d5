//! An upstream server that has something to hide, and counts every request that reaches it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::client::RevisionPolicy;
use switchboard::protocol::{
    CallToolParams, CallToolResult, CompleteResult, Completion, Content, ElicitParams, FormSchema,
    GetPromptResult, Implementation, ListCapability, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Prompt, PromptMessage, Raw, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourcesCapability, Role, RpcError, ServerCapabilities, Settings,
    TaskSupport, Tool, ToolExecution,
};
use switchboard::server::{Handler, HandlerOutcome, Reply, RequestContext, ServerRequest};
use switchboard::{Server, json};
use switchboard_service::task::{TaskLimits, Tasks};

/// How often each request has arrived: the method and its subject.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<BTreeMap<String, usize>>>);

impl Witness {
    fn count(&self, what: String) {
        *self.0.lock().entry(what).or_default() += 1;
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().clone()
    }
}

struct WitnessUpstream {
    witness: Witness,
    tasks: Tasks,
}

/// Builds the server.
pub(crate) fn build(revisions: RevisionPolicy) -> (Arc<Server>, Witness) {
    let (witness, tasks) = (Witness::default(), Tasks::new(TaskLimits::default()));
    let list = || ListCapability::new().with_list_changed(true);
    let mut offers = ServerCapabilities::new()
        .with_tools(list())
        .with_prompts(list())
        .with_resources(ResourcesCapability::new().with_subscribe(true).with_list_changed(true))
        .with_completions(Settings::new());
    Tasks::declare_capabilities(&mut offers);
    let handler = WitnessUpstream { witness: witness.clone(), tasks: tasks.clone() };
    let server = Server::builder(Implementation::new("witness", "1.0.0"), offers);
    let server = server.revisions(revisions).build(handler);
    tasks.set_publisher(server.publisher().clone());
    (server, witness)
}

impl Handler for WitnessUpstream {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let method = request.method().to_owned();
        let count = |subject: &str| self.witness.count(format!("{method} {subject}"));
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new(tools())),
            ServerRequest::ListPrompts(_) => {
                HandlerOutcome::now(ListPromptsResult::new(["greet", "ask"].map(Prompt::new)))
            }
            ServerRequest::ListResources(_) => HandlerOutcome::now(ListResourcesResult::new(
                ["note://one", "note://ask"].map(|uri| Resource::new(uri, uri)),
            )),
            ServerRequest::ListResourceTemplates(_) => HandlerOutcome::now(ListResourceTemplatesResult::new(
                [ResourceTemplate::new("page://{+id}", "page")],
            )),
            ServerRequest::CallTool(call) => {
                count(&call.name);
                match call.name.as_str() {
                    "job" if cx.task_protocol().is_some() => {
                        let (work, of_task) = (call_tool(call.clone(), cx.clone()), call.task);
                        self.tasks.start(cx, of_task.as_ref(), Box::pin(work))
                    }
                    _ => HandlerOutcome::later(call_tool(call, cx)),
                }
            }
            ServerRequest::GetPrompt(get) => {
                count(&get.name);
                let name = get.arguments.unwrap_or_default().get("name").cloned().unwrap_or_default();
                let message = PromptMessage::new(Role::User, Content::text(format!("Greet {name}.")));
                HandlerOutcome::now(GetPromptResult::new([message]))
            }
            ServerRequest::ReadResource(read) => {
                count(&read.uri);
                let text = format!("text of {}", read.uri);
                HandlerOutcome::now(ReadResourceResult::new([ResourceContents::text(read.uri, text)]))
            }
            ServerRequest::Complete(complete) => {
                count("");
                let value = format!("{}-done", complete.argument.value);
                HandlerOutcome::now(CompleteResult::new(Completion::new([value])))
            }
            task => {
                count("");
                self.tasks.handle(task, cx)
            }
        }
    }

    fn subscribed(&self, uri: &str) {
        self.witness.count(format!("subscribed {uri}"));
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.witness.count("followed a task".to_owned());
        self.tasks.may_follow(task, owner)
    }
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str| Tool::new(name, json!({ "type": "object" }));
    let mut job = tool("job");
    job.execution = Some(ToolExecution::new(TaskSupport::Optional));
    ["echo", "ask", "meta", "counts", "large"].map(tool).into_iter().chain([job]).collect()
}

async fn call_tool(call: CallToolParams, cx: RequestContext) -> Reply {
    let text = match call.name.as_str() {
        "echo" => call.arguments.unwrap_or_else(Raw::empty_object).as_str().to_owned(),
        "meta" | "counts" => "nothing".to_owned(),
        "large" => "PASSED ".repeat(500),
        "job" => "PASSED".to_owned(),
        "ask" => {
            let question = ElicitParams::form("Which color?", FormSchema::new());
            let answer = cx.elicit("color", question).await?;
            format!("PASSED {:?}", answer.action)
        }
        other => return Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
    };
    Ok(CallToolResult::new([Content::text(text)]).into())
}
