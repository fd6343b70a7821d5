//! A server whose tools do what their names say, in this process or as a child process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_design::TaskRule;
use switchboard_host::ServerSpec;
use switchboard_json::Raw;
use switchboard_protocol::{
    CallToolParams, CallToolResult, CompleteResult, Completion, Content, CreateMessageParams, ElicitParams,
    FormField, FormSchema, GetPromptResult, Implementation, Level, ListCapability, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourcesCapability, Role, RpcError,
    SamplingMessage, ServerCapabilities, ServerResult, Settings, TextField, Tool, ToolAnnotations,
};
use switchboard_service::task::{TaskDecision, TaskLimits, Tasks};
use switchboard_session::RevisionPolicy;
use switchboard_session::server::{
    Handler, HandlerOutcome, InProcess, Reply, RequestContext, Server, ServerRequest,
};
use switchboard_testkit::block_on;
use switchboard_transport::stdio::{Stdio, take_stdio};

/// Which part this program plays.
pub(crate) const PART: &str = "SWITCHBOARD_TEST_PART";

pub(crate) const MODERN: RevisionPolicy = RevisionPolicy::ModernOnly;
pub(crate) const LEGACY: RevisionPolicy = RevisionPolicy::LegacyOnly;

/// What the server has seen.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: AtomicUsize,
    pub(crate) arguments: Mutex<Vec<String>>,
    pub(crate) answers: Mutex<Vec<String>>,
    /// Calls that were dropped before they were done.
    pub(crate) dropped: AtomicUsize,
}

/// The server.
pub(crate) struct Workshop {
    pub(crate) seen: Arc<Seen>,
    pub(crate) tools: Mutex<Vec<Tool>>,
    tasks: Tasks,
}

/// A workshop in this process.
pub(crate) struct Running {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) server: Arc<Server>,
}

impl Running {
    pub(crate) fn new(revisions: RevisionPolicy) -> Self {
        let tasks = Tasks::new(TaskLimits::default().with_poll_interval(Duration::from_millis(20)));
        let workshop =
            Arc::new(Workshop { seen: Arc::default(), tools: Mutex::new(tools()), tasks: tasks.clone() });
        let list = || ListCapability::new().with_list_changed(true);
        let mut offers = ServerCapabilities::new()
            .with_tools(list())
            .with_prompts(list())
            .with_logging(Settings::new())
            .with_resources(ResourcesCapability::new().with_list_changed(true).with_subscribe(true));
        offers.completions = Some(Settings::new());
        Tasks::declare_capabilities(&mut offers);
        let server = Server::builder(Implementation::new("workshop", "1.2.3"), offers)
            .instructions("Use with care.")
            .revisions(revisions)
            .build(Arc::clone(&workshop));
        tasks.set_publisher(server.publisher().clone());
        Self { workshop, server }
    }

    pub(crate) fn spec(&self) -> ServerSpec {
        ServerSpec::from(InProcess::new(&self.server))
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.workshop.seen
    }

    pub(crate) fn calls(&self) -> usize {
        self.seen().calls.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> usize {
        self.seen().dropped.load(Ordering::SeqCst)
    }
}

/// A workshop as a child process.
pub(crate) fn child(part: &str) -> Stdio {
    Stdio::new(std::env::current_exe().unwrap()).env(PART, part)
}

fn tools() -> Vec<Tool> {
    let tool =
        |name: &str| Tool::new(name, json!({"type": "object"})).with_description(format!("Does {name}."));
    let reads = ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false);
    let typed =
        json!({"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}});
    vec![
        tool("echo").with_annotations(reads),
        Tool::new("typed", typed),
        tool("fail"),
        tool("large"),
        tool("forever"),
        tool("steps"),
        tool("tell"),
        tool("refuse"),
        tool("ask"),
        tool("visit"),
        tool("sample"),
        tool("roots"),
        tool("job"),
        tool("long_job"),
        tool("delete").with_annotations(ToolAnnotations::new().with_destructive_hint(true)),
    ]
}

/// Tools whose definitions tell a secret; the second where rows are cut.
fn telling_tools(key: &str) -> [Tool; 2] {
    let tool = |name: &str, description| {
        let mut tool = Tool::new(name, json!({"type": "object"})).with_description(description);
        tool.title = Some(format!("As {key}"));
        tool
    };
    let cut = format!("{}{key}", "x".repeat(395));
    [tool("echo", format!("Signs in with {key}.")), tool("typed", cut)]
}

impl Handler for Workshop {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new(self.tools.lock().clone()))
            }
            ServerRequest::ListResources(_) => {
                HandlerOutcome::now(ListResourcesResult::new([Resource::new("note://today", "today")]))
            }
            ServerRequest::ListResourceTemplates(_) => HandlerOutcome::now(ListResourceTemplatesResult::new(
                [ResourceTemplate::new("note://{day}", "notes")],
            )),
            ServerRequest::ReadResource(read) => {
                HandlerOutcome::now(ReadResourceResult::new([ResourceContents::text(read.uri, "Buy milk.")]))
            }
            ServerRequest::ListPrompts(_) => {
                HandlerOutcome::now(ListPromptsResult::new([Prompt::new("greet")]))
            }
            ServerRequest::GetPrompt(get) => {
                let name = get.arguments.unwrap_or_default().get("name").cloned().unwrap_or_default();
                let greeting = Content::text(format!("Greet {name}."));
                HandlerOutcome::now(GetPromptResult::new([PromptMessage::new(Role::User, greeting)]))
            }
            ServerRequest::Complete(params) => {
                let value = format!("{}da", params.argument.value);
                HandlerOutcome::now(CompleteResult::new(Completion::new([value])))
            }
            ServerRequest::CallTool(call) => self.call(call, cx),
            other => self.tasks.handle(other, cx),
        }
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.tasks.may_follow(task, owner)
    }
}

impl Workshop {
    fn call(&self, call: CallToolParams, cx: RequestContext) -> HandlerOutcome {
        self.seen.calls.fetch_add(1, Ordering::SeqCst);
        let arguments = call.arguments.as_ref().map_or("{}", Raw::as_str).to_owned();
        self.seen.arguments.lock().push(arguments.clone());
        let name = call.name.to_string();
        let work = Box::pin(work(name.clone(), arguments, cx.clone(), Arc::clone(&self.seen)));
        let rule = if name.ends_with("job") { TaskRule::Allowed } else { TaskRule::Never };
        match self.tasks.decide(&cx, rule, call.task.as_ref()) {
            TaskDecision::Task => self.tasks.start(cx, call.task.as_ref(), work),
            TaskDecision::OnRequest => self.tasks.run_detachable(cx, work),
            TaskDecision::Rejected(error) => HandlerOutcome::error(error),
            TaskDecision::Direct => HandlerOutcome::Later(work),
        }
    }
}

/// Counts a call that is dropped.
struct Unfinished(Option<Arc<Seen>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(seen) = &self.0 {
            seen.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn work(name: String, arguments: String, cx: RequestContext, seen: Arc<Seen>) -> Reply {
    let mut unfinished = Unfinished(None);
    let note = |answer: String| seen.answers.lock().push(answer);
    let text = match name.as_str() {
        "fail" => return Ok(CallToolResult::error("the disk is full").into()),
        "large" => "x".repeat(200_000),
        "forever" | "long_job" => {
            unfinished.0 = Some(Arc::clone(&seen));
            std::future::pending::<()>().await;
            String::new()
        }
        "job" => {
            tokio::time::sleep(Duration::from_millis(50)).await;
            "done".to_owned()
        }
        "steps" => {
            for step in 1..=3 {
                cx.progress(f64::from(step), Some(3.0), Some("step"));
                cx.log(Level::Warning, Some("workshop"), format!("step {step}"));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            "three steps".to_owned()
        }
        // Says its arguments in every way that a server has.
        "tell" => {
            eprintln!("told {}", text_of(&arguments));
            cx.progress(1.0, None, Some(&text_of(&arguments)));
            cx.log(Level::Warning, None, arguments.clone());
            let question = ElicitParams::form(format!("Is it {}?", text_of(&arguments)), FormSchema::new());
            cx.elicit("it", question).await?;
            arguments
        }
        "refuse" => {
            return Err(RpcError::internal(format!("not with {}", text_of(&arguments))));
        }
        "ask" => {
            let form = FormSchema::new()
                .with_required("name", FormField::Text(TextField::new().with_max_length(10u64)));
            let answer = cx.elicit("name", ElicitParams::form("Who are you?", form)).await?;
            let answer = Raw::encode(&answer).unwrap().as_str().to_owned();
            note(answer.clone());
            answer
        }
        "visit" => {
            let page = ElicitParams::url("Log in.", "https://login.example.org/start");
            let answer = cx.elicit("login", page).await?;
            note(format!("{:?}", answer.action));
            "visited".to_owned()
        }
        "sample" => {
            let question = SamplingMessage::new(Role::User, [Content::text("How are you?")]);
            let answer = cx.sample("mood", CreateMessageParams::new([question], 50)).await?;
            note(answer.model.clone());
            answer.model
        }
        "roots" => {
            let roots = cx.roots("roots").await?;
            let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
            note(uris.join(" "));
            uris.join(" ")
        }
        _ => arguments,
    };
    Ok(ServerResult::from(CallToolResult::new([Content::text(text)])))
}

/// Returns the text in the arguments.
fn text_of(arguments: &str) -> String {
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
    arguments["text"].as_str().unwrap().to_owned()
}

/// Plays a server on our own stdin and stdout.
pub(crate) fn play(part: &str) {
    let revisions = if part.starts_with("legacy") { LEGACY } else { MODERN };
    if part.ends_with("chatty") {
        (1..=600).for_each(|line| eprintln!("line {line}"));
    }
    let running = Running::new(revisions);
    if let Ok(key) = std::env::var("API_KEY") {
        running.workshop.tools.lock()[..2].clone_from_slice(&telling_tools(&key));
    }
    block_on(async { running.server.serve(take_stdio().unwrap()).await });
}
