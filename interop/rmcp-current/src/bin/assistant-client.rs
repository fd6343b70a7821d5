//! A client of the assistant, written with the current rmcp:
//! `assistant-client [--era auto|legacy|modern] (--url URL | -- COMMAND…)`
//!
//! Uses all that the assistant offers, closes, and prints what it saw as one line of JSON. Exits 0 when all of that
//! worked. rmcp checks no schemas of tools, so that `accepted` counts what it could read.

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities,
    ClientConfig, ClientRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, GetPromptRequestParams, GetTaskParams, Implementation, JsonObject,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

const USAGE: &str = "usage: assistant-client [--era auto|legacy|modern] (--url URL | -- COMMAND…)";
const STATUS: &str = "status://system";

type Session = RunningService<RoleClient, User>;
/// How far it is, and what was said with it.
type Progress = (f64, Option<String>);
type Seen<T = Value> = Result<T, Box<dyn Error>>;

enum Target {
    Url(String),
    Command(Vec<String>),
}

fn parse(mut given: impl Iterator<Item = String>) -> Option<(ClientLifecycleMode, Target)> {
    let modern = || vec![ProtocolVersion::V_2026_07_28];
    let auto = || ClientLifecycleMode::Auto { preferred_versions: modern(), legacy_version: None };
    let mut lifecycle = auto();
    while let Some(word) = given.next() {
        match word.as_str() {
            "--era" => {
                lifecycle = match given.next()?.as_str() {
                    "auto" => auto(),
                    "legacy" => ClientLifecycleMode::Initialize,
                    "modern" => ClientLifecycleMode::Discover { preferred_versions: modern() },
                    _ => return None,
                }
            }
            "--url" => return Some((lifecycle, Target::Url(given.next()?))),
            "--" => {
                let command: Vec<String> = given.collect();
                return (!command.is_empty()).then_some((lifecycle, Target::Command(command)));
            }
            _ => return None,
        }
    }
    None
}

/// The user, who agrees to everything but JavaScript, and what came without being the answer to anything.
#[derive(Clone, Default)]
struct User {
    tasks: bool,
    asked: Arc<Mutex<Vec<Value>>>,
    progress: Arc<Mutex<Vec<Progress>>>,
}

impl User {
    fn heard(&self) -> usize {
        self.progress.lock().expect("nobody panics with it").len()
    }

    /// Waits until so much progress was heard: rmcp hands it on beside the answer, not before it.
    async fn hears(&self, progress: usize) -> Seen<()> {
        let heard = async {
            while self.heard() < progress {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        Ok(tokio::time::timeout(Duration::from_secs(5), heard).await?)
    }

    /// All that was heard until now, in order.
    fn take_progress(&self) -> Vec<Progress> {
        let mut progress = std::mem::take(&mut *self.progress.lock().expect("nobody panics with it"));
        progress.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        progress
    }
}

impl ClientHandler for User {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let asked = json!({ "message": message, "fields": requested_schema.properties });
        self.asked.lock().expect("nobody panics with it").push(asked);
        if message.contains("JavaScript") {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        }
        let content = json!({ "ok": true, "reason": "it is a test" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().expect("nobody panics with it").push((told.progress, told.message));
    }

    fn get_info(&self) -> ClientConfig {
        let form = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        let capabilities = ClientCapabilities::builder().enable_elicitation_with(form);
        let capabilities =
            if self.tasks { capabilities.enable_tasks().build() } else { capabilities.build() };
        ClientConfig::new(capabilities, Implementation::new("assistant-client", "3.8.0"))
    }
}

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap_or_default()
}

/// Calls a tool; the result as it would be sent.
async fn call(client: &Session, tool: &'static str, arguments: Value) -> Result<Value, ServiceError> {
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(object(arguments))).await?;
    Ok(json!(result))
}

async fn read(client: &Session, uri: &str) -> Result<Value, ServiceError> {
    Ok(json!(client.read_resource(ReadResourceRequestParams::new(uri)).await?.contents))
}

/// Who says what in a prompt.
async fn prompt(client: &Session, name: &str, arguments: Value) -> Result<Value, ServiceError> {
    let asked = GetPromptRequestParams::new(name).with_arguments(object(arguments));
    let messages = json!(client.get_prompt(asked).await?.messages);
    let said = |message: &Value| json!([message["role"], message["content"]["text"]]);
    Ok(messages.as_array().into_iter().flatten().map(said).collect())
}

/// What a failed request failed with.
fn failure(answer: Result<Value, ServiceError>) -> Seen {
    match answer {
        Err(ServiceError::McpError(error)) => Ok(json!(error.code.0)),
        Err(other) => Err(other.into()),
        Ok(_) => Ok(Value::Null),
    }
}

/// The texts in a result.
fn text(result: &Value) -> Value {
    result["content"].as_array().into_iter().flatten().map(|content| content["text"].clone()).collect()
}

/// The text in a result, and that it is told as a failure.
fn failed(result: &Value) -> Value {
    json!({ "isError": result["isError"], "text": text(result) })
}

async fn tools(client: &Session, user: &User) -> Seen {
    let tools = client.list_all_tools().await?;
    let named = |tool: &rmcp::model::Tool| tool.name.to_string();
    let outputs = tools.iter().filter(|tool| tool.output_schema.is_some());
    let sentiment = call(client, "analyze_sentiment", json!({ "text": "I love this new feature!" })).await?;
    let summary =
        call(client, "summarize_text", json!({ "text": "One. Two. Three.", "sentences": 2 })).await?;
    let search = call(client, "search_knowledge", json!({ "query": "rust" })).await?;
    let wrong = call(client, "search_knowledge", json!({ "query": "rust", "limit": 1000 })).await?;
    let unknown = failure(call(client, "no_such_tool", json!({})).await)?;
    let executed = call(client, "execute_code", json!({ "language": "python", "code": "print(1)" })).await?;
    let refused = call(client, "execute_code", json!({ "language": "javascript", "code": "1" })).await?;
    user.take_progress();
    let batch = call(client, "process_batch", json!({ "items": ["a", "b", "c"] })).await?;
    // How many items there are is told, at most so often: once at least.
    user.hears(1).await?;
    let progress = user.take_progress();
    let broken = call(client, "process_batch", json!({ "items": ["a", "fail"], "format": "text" })).await?;
    user.take_progress();

    // Gone away from in the middle. What was under way is let pass; after that the server must be quiet about it.
    let rebuild = CallToolRequestParams::new("rebuild_index").with_arguments(object(json!({ "steps": 100 })));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(rebuild));
    let gone = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
    user.hears(3).await?;
    gone.cancel(Some("the caller no longer waits".into())).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = user.heard();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let late = user.heard() - before;
    let rebuilt = call(client, "rebuild_index", json!({ "steps": 2 })).await?;

    Ok(json!({
        "tools": tools.iter().map(named).collect::<Vec<_>>(),
        "outputs": outputs.map(named).collect::<Vec<_>>(),
        "accepted": tools.len(),
        "sentiment": sentiment["structuredContent"],
        "summary": text(&summary),
        "search": search["structuredContent"],
        "wrong": failed(&wrong),
        "unknown": unknown,
        "asked": *user.asked.lock().expect("nobody panics with it"),
        "executed": executed["structuredContent"],
        "refused": failed(&refused),
        "batch": { "data": batch["structuredContent"], "text": text(&batch) },
        "progress": progress,
        "broken": failed(&broken),
        "cancelled": before < 100,
        "late": late,
        "rebuilt": rebuilt["structuredContent"],
    }))
}

async fn resources(client: &Session) -> Seen {
    let resources = client.list_all_resources().await?;
    let templates = client.list_all_resource_templates().await?;
    Ok(json!({
        "resources": resources.iter().map(|resource| resource.uri.clone()).collect::<Vec<_>>(),
        "templates": templates.iter().map(|template| template.uri_template.clone()).collect::<Vec<_>>(),
        "documents": read(client, "doc://list").await?,
        "rust": read(client, "doc://rust").await?,
        "history": read(client, "conversation://history?limit=2&nums=1").await?,
        "missing": failure(read(client, "doc://cobol").await)?,
        "nowhere": failure(read(client, "nowhere://at/all").await)?,
        "status": read(client, STATUS).await?,
        "subscribed": subscribe(client).await?,
    }))
}

/// Asks to be told of changes, in the way of the revision, and lets go of it again.
async fn subscribe(client: &Session) -> Seen {
    let revision = client.peer_info().map(|peer| peer.protocol_version.clone());
    if revision == Some(ProtocolVersion::V_2026_07_28) {
        let filter = SubscriptionFilter::builder().resource_subscription(STATUS).build();
        let mut subscription = client.listen(filter).await?;
        let honoured = json!(subscription.acknowledged().resource_subscriptions);
        subscription.cancel().await?;
        return Ok(honoured);
    }
    // It warns of what the newest revision no longer has.
    #[expect(deprecated, reason = "what older revisions have")]
    client.subscribe(SubscribeRequestParams::new(STATUS)).await?;
    #[expect(deprecated, reason = "what older revisions have")]
    client.unsubscribe(UnsubscribeRequestParams::new(STATUS)).await?;
    Ok(json!([STATUS]))
}

async fn prompts(client: &Session) -> Seen {
    let prompts = json!(client.list_all_prompts().await?);
    let signature = |prompt: &Value| -> Value {
        let taken = prompt["arguments"].as_array().into_iter().flatten().map(|argument| &argument["name"]);
        std::iter::once(&prompt["name"]).chain(taken).cloned().collect()
    };
    let contextual = json!({ "context": "Rust", "task": "explain" });
    Ok(json!({
        "prompts": prompts.as_array().into_iter().flatten().map(signature).collect::<Value>(),
        "review": prompt(client, "code_review", json!({ "code": "fn main() {}" })).await?,
        "contextual": prompt(client, "contextual_prompts", contextual).await?,
        "incomplete": failure(prompt(client, "code_review", json!({})).await)?,
        "completed": client.complete_prompt_simple("contextual_prompts", "context", "r").await?,
    }))
}

/// Lets the long call become a task: one that is waited for, and one that is cancelled. Only the newest revision has them.
async fn tasks(client: &Session) -> Seen {
    let done = task(client, 2).await?;
    let gone = task(client, 100).await?;
    match client.cancel_task(CancelTaskParams::new(gone.clone())).await {
        // An acknowledgement with `_meta`, where servers say who they are, is the result of a tool to rmcp 3.8.0. How
        // the task ends tells whether it was cancelled.
        Ok(()) | Err(ServiceError::UnexpectedResponse) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(json!({ "done": end(client, &done).await?, "gone": end(client, &gone).await? }))
}

/// Starts a task, and gives its name.
async fn task(client: &Session, steps: u32) -> Seen<String> {
    let rebuild =
        CallToolRequestParams::new("rebuild_index").with_arguments(object(json!({ "steps": steps })));
    match client.call_tool_once(rebuild).await? {
        CallToolResponse::Task(begun) => Ok(begun.task.task_id),
        other => Err(format!("not a task: {other:?}").into()),
    }
}

/// How a task ended, and with what.
async fn end(client: &Session, task: &str) -> Seen {
    loop {
        let now = client.get_task(GetTaskParams::new(task)).await?;
        if now.task.status().is_terminal() {
            let now = json!(now);
            return Ok(json!([now["status"], now["result"]["structuredContent"]]));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn connect(user: &User, lifecycle: ClientLifecycleMode, target: &Target) -> Seen<Session> {
    Ok(match target {
        Target::Url(url) => {
            let transport = StreamableHttpClientTransport::from_uri(url.clone());
            user.clone().serve_with_lifecycle(transport, lifecycle).await?
        }
        Target::Command(words) => {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            user.clone().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        }
    })
}

async fn run(lifecycle: ClientLifecycleMode, target: Target) -> Seen {
    let user = User::default();
    let client = connect(&user, lifecycle.clone(), &target).await?;
    let peer = json!(*client.peer_info().ok_or("no word from the server about itself")?);
    let mut seen = json!({
        "protocolVersion": peer["protocolVersion"],
        "server": peer["serverInfo"]["name"],
        "instructions": peer["instructions"],
        // It has nothing that tells its user of errors.
        "errors": [],
    });
    let parts = [tools(&client, &user).await?, resources(&client).await?, prompts(&client).await?];
    if let Value::Object(seen) = &mut seen {
        seen.extend(parts.into_iter().flat_map(object));
    }
    client.cancel().await?;
    // A client that knows tasks is given them, and its ordinary calls do not take them: one more session.
    if lifecycle != ClientLifecycleMode::Initialize {
        let client = connect(&User { tasks: true, ..user }, lifecycle, &target).await?;
        seen["tasks"] = tasks(&client).await?;
        client.cancel().await?;
    }
    Ok(seen)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((lifecycle, target)) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(lifecycle, target).await {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("assistant-client: {error}");
            ExitCode::FAILURE
        }
    }
}
