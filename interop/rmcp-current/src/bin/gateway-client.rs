//! A client of a gateway in front of the servers everything, filesystem, memory, time and playwright, written with the
//! current rmcp: `gateway-client [--era auto|legacy|modern] [--key KEY] --name NAME --folder FOLDER --page URL
//! (--url URL | -- COMMAND…)`
//!
//! Uses a tool of each server and all that everything offers, closes, and prints what it saw as one line of JSON.

#![expect(deprecated, reason = "sampling and subscribing, which older revisions have")]

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorData, GetPromptRequestParams, Implementation, JsonObject, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ResourceUpdatedNotificationParam, SamplingMessage,
    ServerNotification, SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::watch;

const USAGE: &str = "usage: gateway-client [--era auto|legacy|modern] [--key KEY] --name NAME --folder FOLDER \
                     --page URL (--url URL | -- COMMAND…)";
const SLOW: &str = "everything__trigger-long-running-operation";

type Session = RunningService<RoleClient, User>;
type Seen<T = Value> = Result<T, Box<dyn Error>>;

#[derive(Default)]
struct Arguments {
    era: Option<String>,
    key: Option<String>,
    name: String,
    folder: String,
    page: String,
    url: Option<String>,
    command: Vec<String>,
}

fn parse(mut given: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut arguments = Arguments::default();
    while let Some(word) = given.next() {
        match word.as_str() {
            "--era" => arguments.era = Some(given.next()?),
            "--key" => arguments.key = Some(given.next()?),
            "--name" => arguments.name = given.next()?,
            "--folder" => arguments.folder = given.next()?,
            "--page" => arguments.page = given.next()?,
            "--url" => arguments.url = Some(given.next()?),
            "--" => arguments.command = given.by_ref().collect(),
            _ => return None,
        }
    }
    Some(arguments)
}

/// The user, who answers every question with their name, and what came without being the answer to anything.
#[derive(Clone)]
struct User {
    name: String,
    progress: Arc<watch::Sender<Vec<f64>>>,
    updated: Arc<watch::Sender<Option<String>>>,
}

impl ClientHandler for User {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({ "name": self.name });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let text = format!("{} says hello", self.name);
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text(text), "a-model".into()))
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.send_modify(|progress| progress.push(told.progress));
    }

    async fn on_resource_updated(
        &self,
        told: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.updated.send_replace(Some(told.uri));
    }

    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().enable_sampling().build();
        ClientConfig::new(capabilities, Implementation::new(self.name.clone(), "3.8.0"))
    }
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// Calls a tool and returns the texts of its result.
async fn call(client: &Session, tool: &'static str, arguments: Value) -> Result<String, ServiceError> {
    let result = json!(client.call_tool(params(tool, arguments)).await?);
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|each| each["text"].as_str());
    Ok(texts.collect::<Vec<_>>().join("\n"))
}

/// Uses one tool of each server.
async fn tools(client: &Session, given: &Arguments) -> Seen {
    let tools = client.list_all_tools().await?;
    let servers: BTreeSet<&str> = tools.iter().filter_map(|tool| tool.name.split("__").next()).collect();
    let path = format!("{}/{}.txt", given.folder, given.name);
    let file = json!({ "path": path, "content": format!("by {}", given.name) });
    let entity = json!({ "name": given.name, "entityType": "client", "observations": ["asks"] });
    let zones =
        json!({ "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata" });
    let sum = call(client, "everything__get-sum", json!({ "a": 19, "b": 23 })).await?;
    let written = call(client, "filesystem__write_file", file).await?;
    call(client, "memory__create_entities", json!({ "entities": [entity] })).await?;
    let unknown = match call(client, "everything__nothing", json!({})).await {
        Err(ServiceError::McpError(error)) => json!(error.code.0),
        _ => Value::Null,
    };
    Ok(json!({
        "servers": servers,
        "sum": sum,
        "written": written,
        "graph": call(client, "memory__read_graph", json!({})).await?,
        "converted": call(client, "time__convert_time", zones).await?,
        "page": call(client, "playwright__browser_navigate", json!({ "url": given.page })).await?,
        "unknown": unknown,
    }))
}

/// Uses what everything offers besides plain tools.
async fn rest(client: &Session, user: &User) -> Seen {
    let prompts = client.list_all_prompts().await?;
    let city = json!({ "city": "Oslo" }).as_object().cloned().unwrap_or_default();
    let prompt = GetPromptRequestParams::new("everything__args-prompt").with_arguments(city);
    let prompt = json!(client.get_prompt(prompt).await?.messages);
    let uri = "demo://resource/static/document/features.md";
    let document = json!(client.read_resource(ReadResourceRequestParams::new(uri)).await?.contents);

    // rmcp hands progress on beside the answer, not before it.
    call(client, SLOW, json!({ "duration": 1, "steps": 4 })).await?;
    user.progress.subscribe().wait_for(|progress| progress.len() >= 4).await?;
    let progress = user.progress.send_replace(Vec::new());
    let elicited = call(client, "everything__trigger-elicitation-request", json!({})).await?;
    let sampled =
        call(client, "everything__trigger-sampling-request", json!({ "prompt": "Say hello." })).await?;

    // Gone away from at its first progress.
    user.progress.send_replace(Vec::new());
    let forever = params(SLOW, json!({ "duration": 600, "steps": 2000 }));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(forever));
    let gone = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
    user.progress.subscribe().wait_for(|progress| !progress.is_empty()).await?;
    gone.cancel(Some("the caller no longer waits".into())).await?;
    let again = call(client, "everything__echo", json!({ "message": "still here" })).await?;

    Ok(json!({
        "prompts": prompts.iter().map(|prompt| prompt.name.clone()).collect::<Vec<_>>(),
        "prompt": prompt[0]["content"]["text"],
        "document": document[0]["text"].as_str().and_then(|text| text.lines().next()),
        "progress": progress,
        "elicited": elicited,
        "sampled": sampled,
        "cancelled": true,
        "again": again,
        "updated": is_updated(client, user).await?,
    }))
}

/// Subscribes to a resource in the way of the revision and waits for its update: the server announces changes of what
/// somebody subscribed to every few seconds.
async fn is_updated(client: &Session, user: &User) -> Seen<bool> {
    let resources = client.list_all_resources().await?;
    let uri = resources.first().ok_or("no resources")?.uri.clone();
    let toggle = "everything__toggle-subscriber-updates";
    let revision = client.peer_info().map(|peer| peer.protocol_version.clone());
    let updated = if revision == Some(ProtocolVersion::V_2026_07_28) {
        let filter = SubscriptionFilter::builder().resource_subscription(uri.as_str()).build();
        let mut subscription = client.listen(filter).await?;
        call(client, toggle, json!({})).await?;
        let update = subscription.next().await?;
        subscription.cancel().await?;
        matches!(update, Some(ServerNotification::ResourceUpdatedNotification(told)) if told.params.uri == uri)
    } else {
        client.subscribe(SubscribeRequestParams::new(uri.as_str())).await?;
        call(client, toggle, json!({})).await?;
        user.updated.subscribe().wait_for(Option::is_some).await?.as_deref() == Some(uri.as_str())
    };
    call(client, toggle, json!({})).await?;
    Ok(updated)
}

async fn connect(user: &User, given: &Arguments) -> Seen<Session> {
    let modern = || vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match given.era.as_deref() {
        Some("legacy") => ClientLifecycleMode::Initialize,
        Some("modern") => ClientLifecycleMode::Discover { preferred_versions: modern() },
        _ => ClientLifecycleMode::Auto { preferred_versions: modern(), legacy_version: None },
    };
    if let Some(url) = &given.url {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.clone());
        config.auth_header = given.key.clone();
        let transport = StreamableHttpClientTransport::from_config(config);
        return Ok(user.clone().serve_with_lifecycle(transport, lifecycle).await?);
    }
    let (program, words) = given.command.split_first().ok_or(USAGE)?;
    let mut command = Command::new(program);
    command.args(words);
    Ok(user.clone().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?)
}

async fn run(given: Arguments) -> Seen {
    let user = User { name: given.name.clone(), progress: Arc::default(), updated: Arc::default() };
    let client = connect(&user, &given).await?;
    let peer = json!(*client.peer_info().ok_or("no word from the server about itself")?);
    let mut seen = json!({ "protocolVersion": peer["protocolVersion"] });
    for part in [tools(&client, &given).await?, rest(&client, &user).await?] {
        if let (Value::Object(seen), Value::Object(part)) = (&mut seen, part) {
            seen.extend(part);
        }
    }
    client.cancel().await?;
    Ok(seen)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(given) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(given).await {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("gateway-client: {error}");
            ExitCode::FAILURE
        }
    }
}
