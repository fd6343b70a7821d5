//! An upstream server whose tools run as tasks, in the protocol of its revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use switchboard::client::RevisionPolicy;
use switchboard::protocol::{
    CallToolResult, Content, ElicitParams, FormSchema, Implementation, ListCapability, ListToolsResult,
    RpcError, ServerCapabilities, TaskSupport, Tool, ToolExecution,
};
use switchboard::server::{Handler, HandlerOutcome, Reply, RequestContext, ServerRequest};
use switchboard::{Server, json};
use switchboard_design::TaskRule;
use switchboard_service::task::{TaskDecision, TaskLimits, Tasks};
use tokio::sync::Semaphore;

struct TaskUpstream {
    tasks: Tasks,
    shared: Arc<Shared>,
}

struct Shared {
    /// One permit for each `job` that may finish.
    releases: Semaphore,
    ended: AtomicI64,
}

/// Builds a server whose tools run as tasks.
pub(crate) fn build(revisions: RevisionPolicy) -> Arc<Server> {
    let tasks = Tasks::new(TaskLimits::default().with_poll_interval(Duration::from_millis(20)));
    let mut offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
    Tasks::declare_capabilities(&mut offers);
    let shared = Arc::new(Shared { releases: Semaphore::new(0), ended: AtomicI64::new(0) });
    let server = Server::builder(Implementation::new("tasks", "1.0.0"), offers)
        .revisions(revisions)
        .build(TaskUpstream { tasks: tasks.clone(), shared });
    tasks.set_publisher(server.publisher().clone());
    server
}

/// Tools that run as tasks, and whether they must.
const TASK_TOOLS: [(&str, TaskRule, TaskSupport); 4] = [
    ("job", TaskRule::Allowed, TaskSupport::Optional),
    ("ask", TaskRule::Allowed, TaskSupport::Optional),
    ("fail", TaskRule::Required, TaskSupport::Required),
    ("complain", TaskRule::Allowed, TaskSupport::Optional),
];

impl Handler for TaskUpstream {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let call = match request {
            ServerRequest::CallTool(call) => call,
            ServerRequest::ListTools(_) => {
                let plain = ["counts", "release"].map(|name| Tool::new(name, json!({ "type": "object" })));
                let tasks = TASK_TOOLS.map(|(name, _, support)| {
                    let mut tool = Tool::new(name, json!({ "type": "object" }));
                    tool.execution = Some(ToolExecution::new(support));
                    tool
                });
                return HandlerOutcome::now(ListToolsResult::new(
                    tasks.into_iter().chain(plain).collect::<Vec<_>>(),
                ));
            }
            other => return self.tasks.handle(other, cx),
        };
        let rule = TASK_TOOLS.iter().find(|(name, ..)| *name == call.name);
        let rule = rule.map_or(TaskRule::Never, |(_, rule, _)| *rule);
        let work = Box::pin(work(call.name.clone(), cx.clone(), Arc::clone(&self.shared)));
        match self.tasks.decide(&cx, rule, call.task.as_ref()) {
            TaskDecision::Direct => HandlerOutcome::Later(work),
            TaskDecision::Task => self.tasks.start(cx, call.task.as_ref(), work),
            TaskDecision::OnRequest => self.tasks.run_detachable(cx, work),
            TaskDecision::Rejected(error) => HandlerOutcome::error(error),
        }
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.tasks.may_follow(task, owner)
    }
}

async fn work(tool: String, cx: RequestContext, shared: Arc<Shared>) -> Reply {
    let text = match tool.as_str() {
        "counts" => format!(r#"{{"ended jobs":{}}}"#, shared.ended.load(Ordering::SeqCst)),
        "release" => {
            shared.releases.add_permits(1);
            "released".to_owned()
        }
        "job" => {
            let _ended = Ended(Arc::clone(&shared));
            shared.releases.acquire().await.map(tokio::sync::SemaphorePermit::forget).unwrap();
            "done".to_owned()
        }
        "ask" => {
            let answer = cx.elicit("color", ElicitParams::form("Which color?", FormSchema::new())).await?;
            let content = answer.content.unwrap_or_default();
            content.get("color").and_then(|color| color.decode::<String>().ok()).unwrap_or_default()
        }
        "complain" => return Ok(CallToolResult::error("bad luck").into()),
        "fail" => return Err(RpcError::internal("it is broken")),
        other => return Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
    };
    Ok(CallToolResult::new([Content::text(text)]).into())
}

/// Counts when a job ends, in whatever way.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}
