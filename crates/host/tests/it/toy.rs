//! Servers to play with: in this process, as a child process, over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::json;
use switchboard_protocol::{
    CallToolParams, CallToolResult, CompleteResult, Completion, Content, ElicitParams, FormField, FormSchema,
    GetPromptResult, Implementation, ListCapability, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Prompt, PromptMessage, Raw, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourcesCapability, Role, RpcError, ServerCapabilities,
    ServerResult, Settings, TextField, Tool, ToolAnnotations,
};
use switchboard_session::RevisionPolicy;
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_testkit::block_on;
use switchboard_transport::stdio::take_stdio;

/// Which part this program plays.
pub(crate) const PART: &str = "SWITCHBOARD_TEST_PART";

/// A server with a few tools, which can be changed.
pub(crate) struct Toy {
    pub(crate) tools: Mutex<Vec<Tool>>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) calls: AtomicUsize,
    pub(crate) lists: AtomicUsize,
    /// Whether the list of tools fails.
    pub(crate) is_broken: Mutex<bool>,
    /// The `_meta` of the last call.
    pub(crate) last_meta: Mutex<Option<String>>,
}

impl Toy {
    /// A server with tools of these names.
    pub(crate) fn new(tools: &[&str]) -> Arc<Self> {
        Arc::new(Self {
            tools: Mutex::new(tools.iter().map(|name| tool(name)).collect()),
            resources: Vec::new(),
            calls: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            is_broken: Mutex::new(false),
            last_meta: Mutex::new(None),
        })
    }

    /// A server with tools that behave as they are named, and resources.
    pub(crate) fn full() -> Arc<Self> {
        let mut toy = Self::new(&["echo", "fail", "boom", "picky", "forever", "ask", "large", "pid", "die"]);
        let parts = Arc::get_mut(&mut toy).unwrap();
        parts.resources =
            vec![Resource::new("toy://one", "one"), Resource::new("toy://two", "two").with_title("Two")];
        toy
    }

    pub(crate) fn server(self: &Arc<Self>, name: &str) -> Arc<Server> {
        self.served(name, RevisionPolicy::Any)
    }

    pub(crate) fn served(self: &Arc<Self>, name: &str, offer: RevisionPolicy) -> Arc<Server> {
        let list = || ListCapability::new().with_list_changed(true);
        let mut offers = ServerCapabilities::new().with_tools(list()).with_prompts(list());
        offers.completions = Some(Settings::new());
        if !self.resources.is_empty() {
            offers = offers.with_resources(ResourcesCapability::new().with_list_changed(true));
        }
        Server::builder(Implementation::new(name, "1.2.3"), offers)
            .instructions(format!("Use {name} with care."))
            .revisions(offer)
            .build(Arc::clone(self))
    }

    pub(crate) fn called(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// A tool that takes anything.
pub(crate) fn tool(name: &str) -> Tool {
    let schema = match name {
        "picky" => json!({
            "type": "object",
            "required": ["path"],
            "properties": {"path": {"type": "string", "description": "The file.", "examples": ["/tmp/a"]}}
        }),
        _ => json!({"type": "object"}),
    };
    let effects = match name {
        "echo" => Some(ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false)),
        "die" => Some(ToolAnnotations::new().with_destructive_hint(true)),
        "once" => Some(ToolAnnotations::new().with_idempotent_hint(true)),
        _ => None,
    };
    let mut tool = Tool::new(name, schema).with_description(format!("What {name} does."));
    tool.annotations = effects;
    tool
}

impl Handler for Toy {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                self.lists.fetch_add(1, Ordering::SeqCst);
                if *self.is_broken.lock() {
                    return HandlerOutcome::error(RpcError::internal("the list is broken"));
                }
                HandlerOutcome::now(ListToolsResult::new(self.tools.lock().clone()))
            }
            ServerRequest::ListResources(_) => {
                HandlerOutcome::now(ListResourcesResult::new(self.resources.clone()))
            }
            ServerRequest::ReadResource(params) => {
                match self.resources.iter().find(|resource| resource.uri == params.uri) {
                    Some(found) => HandlerOutcome::now(ReadResourceResult::new([ResourceContents::text(
                        found.uri.clone(),
                        format!("contents of {}", found.name),
                    )])),
                    None => {
                        HandlerOutcome::error(RpcError::invalid_params(format!("no resource {}", params.uri)))
                    }
                }
            }
            ServerRequest::ListPrompts(_) => {
                HandlerOutcome::now(ListPromptsResult::new([Prompt::new("greet")]))
            }
            ServerRequest::GetPrompt(params) => {
                let name = params.arguments.as_ref().and_then(|arguments| arguments.get("name").cloned());
                let text = format!("Greet {}.", name.unwrap_or_default());
                HandlerOutcome::now(GetPromptResult::new([PromptMessage::new(
                    Role::User,
                    Content::text(text),
                )]))
            }
            ServerRequest::ListResourceTemplates(_) => HandlerOutcome::now(ListResourceTemplatesResult::new(
                [ResourceTemplate::new("toy://{name}", "toys")],
            )),
            ServerRequest::Complete(params) => {
                let value = format!("{}da", params.argument.value);
                HandlerOutcome::now(CompleteResult::new(Completion::new([value])))
            }
            ServerRequest::CallTool(call) => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                let meta = call.meta.as_ref().and_then(|meta| Raw::encode(meta).ok());
                *self.last_meta.lock() = meta.map(|meta| meta.as_str().to_owned());
                call_tool(call, cx)
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn call_tool(call: CallToolParams, cx: RequestContext) -> HandlerOutcome {
    let say = |text: String| HandlerOutcome::now(CallToolResult::new([Content::text(text)]));
    match call.name.as_str() {
        "fail" => HandlerOutcome::now(CallToolResult::error("the disk is full")),
        "boom" => HandlerOutcome::error(RpcError::internal("something broke inside")),
        "picky" => HandlerOutcome::error(RpcError::invalid_params("path must be absolute")),
        "forever" => HandlerOutcome::later(async { std::future::pending().await }),
        "large" => say("x".repeat(200_000)),
        "pid" => say(std::process::id().to_string()),
        "die" => std::process::exit(7),
        "count" => {
            static CALLS: AtomicUsize = AtomicUsize::new(0);
            say((CALLS.fetch_add(1, Ordering::SeqCst) + 1).to_string())
        }
        "once" => {
            // The marker outlives the process, so the next one lives.
            match std::fs::File::create_new(std::env::var("MARKER").unwrap()) {
                Ok(_) => std::process::exit(8),
                Err(_) => say("alive".to_owned()),
            }
        }
        "roots" => HandlerOutcome::later(async move {
            let roots = cx.roots("roots").await?;
            let uris: Vec<String> = roots.into_iter().map(|root| root.uri).collect();
            Ok(ServerResult::from(CallToolResult::new([Content::text(uris.join(" "))])))
        }),
        "structured" => {
            let structured = call.arguments.clone().unwrap_or_else(Raw::empty_object);
            HandlerOutcome::now(
                CallToolResult::new([Content::text("data")]).with_structured_content(structured),
            )
        }
        "ask" => HandlerOutcome::later(async move {
            let form = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
            let answer = cx.elicit("name", ElicitParams::form("Who are you?", form)).await?;
            let text = Raw::encode(&answer).unwrap().as_str().to_owned();
            Ok(ServerResult::from(CallToolResult::new([Content::text(text)])))
        }),
        _ => say(call.arguments.as_ref().map_or("{}", Raw::as_str).to_owned()),
    }
}

/// Plays a server on our own stdin and stdout.
pub(crate) fn play(part: &str) {
    let toy = match part {
        "toy" | "legacy" => Toy::full(),
        "counting" => Toy::new(&["echo", "pid", "die", "count"]),
        "dies-once" => Toy::new(&["once"]),
        "locked" => {
            let lock = std::env::var("LOCK").unwrap();
            std::fs::File::create_new(&lock).expect("the one before has let go");
            Toy::full()
        }
        "stillborn" => {
            eprintln!("no such setting: colour");
            std::process::exit(3);
        }
        other => panic!("no such part: {other}"),
    };
    let offer = if part == "legacy" { RevisionPolicy::LegacyOnly } else { RevisionPolicy::Any };
    let server = toy.served("toy", offer);
    block_on(async { server.serve(take_stdio().unwrap()).await });
    if part == "locked" {
        std::thread::sleep(std::time::Duration::from_millis(300));
        std::fs::remove_file(std::env::var("LOCK").unwrap()).unwrap();
    }
}
