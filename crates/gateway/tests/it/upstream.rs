//! An upstream server with one tool for each thing that a gateway relays. It counts what happens to it; the tool `counts`
//! returns the counts, also from another process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use switchboard::client::RevisionPolicy;
use switchboard::protocol::{
    CallToolParams, CallToolResult, CompleteResult, Completion, Content, CreateMessageParams, ElicitParams,
    FormSchema, GetPromptParams, GetPromptResult, Implementation, Level, ListCapability, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, PromptMessage, Raw,
    ReadResourceParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourcesCapability, Role, RpcError, SamplingMessage, ServerCapabilities, Settings, Tool,
};
use switchboard::server::{Handler, HandlerOutcome, Publisher, Reply, RequestContext, ServerRequest};
use switchboard::{Server, json};

/// The variable that makes this program an upstream server.
pub(crate) const PART: &str = "GATEWAY_TEST_PART";

/// What happened to an upstream server.
pub(crate) type Counts = BTreeMap<String, i64>;

#[derive(Default)]
struct Shared {
    counts: Mutex<Counts>,
    has_extra: AtomicBool,
    publisher: OnceLock<Publisher>,
    /// The client that was asked to visit a page.
    visitor: Mutex<Option<RequestContext>>,
    /// Calls that have arrived.
    arrived: tokio::sync::watch::Sender<usize>,
}

impl Shared {
    fn count(&self, what: &str, by: i64) {
        *self.counts.lock().entry(what.to_owned()).or_default() += by;
    }
}

struct Upstream {
    shared: Arc<Shared>,
}

/// Builds an upstream server that speaks these revisions.
pub(crate) fn build(revisions: RevisionPolicy) -> Arc<Server> {
    let shared = Arc::new(Shared::default());
    let list = || ListCapability::new().with_list_changed(true);
    let offers = ServerCapabilities::new()
        .with_tools(list())
        .with_prompts(list())
        .with_resources(ResourcesCapability::new().with_subscribe(true).with_list_changed(true))
        .with_completions(Settings::new())
        .with_logging(Settings::new());
    let server = Server::builder(Implementation::new("upstream", "1.0.0"), offers)
        .revisions(revisions)
        .instructions("Ask before you act.")
        .build(Upstream { shared: Arc::clone(&shared) });
    let _ = shared.publisher.set(server.publisher().clone());
    server
}

/// Serves on stdin and stdout.
pub(crate) fn play(part: &str) {
    let is_legacy = part.ends_with("legacy");
    let revisions = if is_legacy { RevisionPolicy::LegacyOnly } else { RevisionPolicy::ModernOnly };
    let has_tasks = part.starts_with("tasks-");
    let server = if has_tasks { crate::task_upstream::build(revisions) } else { build(revisions) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { switchboard::serve_stdio(&server).await }).unwrap();
}

pub(crate) const TOOLS: [&str; 19] = [
    "pid",
    "die",
    "echo",
    "capabilities",
    "meta",
    "progress",
    "log",
    "wait",
    "ask",
    "ask_twice",
    "ask_together",
    "visit",
    "visited",
    "log_when_two",
    "sample",
    "roots",
    "toggle",
    "touch",
    "counts",
];

impl Handler for Upstream {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let shared = Arc::clone(&self.shared);
        let has_extra = shared.has_extra.load(Ordering::Relaxed);
        let extra = has_extra.then_some("extra");
        match request {
            ServerRequest::ListTools(_) => {
                shared.count("lists", 1);
                let tool = |name: &str| Tool::new(name, json!({ "type": "object" }));
                HandlerOutcome::now(ListToolsResult::new(
                    TOOLS.into_iter().chain(extra).map(tool).collect::<Vec<_>>(),
                ))
            }
            ServerRequest::ListPrompts(_) => {
                let prompts = ["greet", "ask"].into_iter().chain(extra).map(Prompt::new);
                HandlerOutcome::now(ListPromptsResult::new(prompts.collect::<Vec<_>>()))
            }
            ServerRequest::ListResources(_) => {
                let uris =
                    ["note://one", "note://ask"].into_iter().chain(has_extra.then_some("note://extra"));
                let resources = uris.map(|uri| Resource::new(uri, uri));
                HandlerOutcome::now(ListResourcesResult::new(resources.collect::<Vec<_>>()))
            }
            ServerRequest::ListResourceTemplates(_) => HandlerOutcome::now(ListResourceTemplatesResult::new(
                [ResourceTemplate::new("page://{id}", "page")],
            )),
            ServerRequest::CallTool(call) => HandlerOutcome::later(call_tool(shared, call, cx)),
            ServerRequest::GetPrompt(get) => HandlerOutcome::later(get_prompt(shared, get, cx)),
            ServerRequest::ReadResource(read) => HandlerOutcome::later(read_resource(shared, read, cx)),
            ServerRequest::Complete(complete) => {
                let value = format!("{}-done", complete.argument.value);
                HandlerOutcome::now(CompleteResult::new(Completion::new([value])))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        match uri {
            "page://refused" => Err(RpcError::invalid_params("this page never changes")),
            _ => Ok(()),
        }
    }

    fn subscribed(&self, _: &str) {
        self.shared.count("subscribed", 1);
    }

    fn unsubscribed(&self, _: &str) {
        self.shared.count("subscribed", -1);
    }
}

async fn call_tool(shared: Arc<Shared>, call: CallToolParams, cx: RequestContext) -> Reply {
    shared.count(&format!("runs of {}", call.name), 1);
    let arguments = call.arguments.clone().unwrap_or_else(Raw::empty_object);
    let text = match call.name.as_str() {
        "pid" => std::process::id().to_string(),
        "die" => std::process::exit(7),
        "echo" => arguments.as_str().to_owned(),
        "capabilities" => Raw::encode(cx.capabilities()).unwrap().as_str().to_owned(),
        "meta" => {
            let keys: Vec<&str> = call.meta.iter().flat_map(|meta| meta.iter()).map(|(key, _)| key).collect();
            keys.join(" ")
        }
        "progress" => {
            cx.progress(1.0, Some(2.0), Some("half"));
            cx.progress(2.0, Some(2.0), Some("all"));
            "done".to_owned()
        }
        "log" => {
            cx.log(Level::Debug, Some("upstream"), "quiet");
            cx.log(Level::Warning, Some("upstream"), "loud");
            "logged".to_owned()
        }
        "wait" => {
            let _ended = CountOnDrop(Arc::clone(&shared), "ended waits");
            std::future::pending().await
        }
        "ask" => {
            let _ended = CountOnDrop(Arc::clone(&shared), "ended asks");
            ask_color(&cx, "color").await?
        }
        "ask_twice" => format!("{} {}", ask_color(&cx, "first").await?, ask_color(&cx, "second").await?),
        "ask_together" => {
            let (one, two) = tokio::join!(ask_color(&cx, "one"), ask_color(&cx, "two"));
            format!("{} {}", one?, two?)
        }
        "visit" => {
            let mut url = switchboard::protocol::UrlParams::new("Log in.", "https://login.example.org/7");
            url.elicitation_id = Some("visit-7".to_owned());
            *shared.visitor.lock() = Some(cx.clone());
            let answer = cx.elicit("visit", ElicitParams::Url(url)).await?;
            format!("{:?}", answer.action)
        }
        "visited" => {
            let visitor = shared.visitor.lock().take().unwrap();
            let done = json!({ "elicitationId": "visit-7" });
            visitor.notify_session("notifications/elicitation/complete", done.into());
            "told".to_owned()
        }
        "log_when_two" => {
            shared.arrived.send_modify(|arrived| *arrived += 1);
            shared.arrived.subscribe().wait_for(|arrived| *arrived >= 2).await.unwrap();
            if arguments.as_str().contains("logs") {
                cx.log(Level::Warning, Some("upstream"), "whose?");
                shared.count("logged", 1);
            }
            // Both are in flight until they are released.
            shared.arrived.subscribe().wait_for(|arrived| *arrived >= 100).await.unwrap();
            "logged".to_owned()
        }
        "sample" => {
            let message = SamplingMessage::new(Role::User, [Content::text("Say hello.")]);
            let sampled = cx.sample("sample", CreateMessageParams::new([message], 100)).await?;
            sampled.content[0].as_text().unwrap_or_default().to_owned()
        }
        "roots" => {
            let roots = cx.roots("roots").await?;
            roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join(" ")
        }
        "toggle" => {
            shared.has_extra.fetch_xor(true, Ordering::Relaxed);
            let publisher = shared.publisher.get().unwrap();
            publisher.tools_changed();
            publisher.prompts_changed();
            publisher.resources_changed();
            "toggled".to_owned()
        }
        "counts" if arguments.as_str().contains("release") => {
            shared.arrived.send_modify(|arrived| *arrived = 100);
            "{}".to_owned()
        }
        "touch" => {
            shared.publisher.get().unwrap().resource_updated("note://one");
            "touched".to_owned()
        }
        "counts" => Raw::encode(&*shared.counts.lock()).unwrap().as_str().to_owned(),
        other => return Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
    };
    Ok(CallToolResult::new([Content::text(text)]).into())
}

/// Asks for a color and returns it.
async fn ask_color(cx: &RequestContext, key: &str) -> Result<String, RpcError> {
    let question = ElicitParams::form(format!("Which {key}?"), FormSchema::new());
    let answer = cx.elicit(key, question).await?;
    let content = answer.content.unwrap_or_default();
    Ok(content
        .get("color")
        .and_then(|color| color.decode::<String>().ok())
        .unwrap_or_else(|| "none".to_owned()))
}

async fn get_prompt(shared: Arc<Shared>, get: GetPromptParams, cx: RequestContext) -> Reply {
    let text = match get.name.as_str() {
        "ask" => ask_color(&cx, "prompt").await?,
        _ if get.arguments.as_ref().is_some_and(|arguments| arguments.contains_key("wait")) => {
            wait(&shared, "prompt").await
        }
        _ => format!("Greet {}.", get.arguments.unwrap_or_default().get("name").cloned().unwrap_or_default()),
    };
    Ok(GetPromptResult::new([PromptMessage::new(Role::User, Content::text(text))]).into())
}

async fn read_resource(shared: Arc<Shared>, read: ReadResourceParams, cx: RequestContext) -> Reply {
    let text = match read.uri.as_str() {
        "page://wait" => wait(&shared, "resource").await,
        "note://ask" => ask_color(&cx, "resource").await?,
        uri => format!("text of {uri}"),
    };
    Ok(ReadResourceResult::new([ResourceContents::text(read.uri, text)]).into())
}

/// Never answers.
async fn wait(shared: &Arc<Shared>, what: &str) -> String {
    shared.count(&format!("runs of {what} wait"), 1);
    let _ended = CountOnDrop(Arc::clone(shared), "ended waits");
    std::future::pending().await
}

/// Counts when a handler ends, in whatever way.
struct CountOnDrop(Arc<Shared>, &'static str);

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        self.0.count(self.1, 1);
    }
}
