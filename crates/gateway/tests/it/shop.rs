//! An upstream for views: tools with arguments, large results, resources of several schemes.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::gateway::view::View;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::Host;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, GetPromptResult, Implementation, ListCapability,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    PromptMessage, Raw, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourcesCapability, Role, RpcError, ServerCapabilities, Settings, Tool, ToolAnnotations,
};
use switchboard::server::{Caller, Handler, HandlerOutcome, RequestContext, ServerRequest};
use switchboard::{Client, InProcess, Server, json};
use switchboard_session::ClientSession;
use tokio::sync::Notify;

use crate::cells::Side;

/// What has reached the upstreams: server, tool and arguments of every call.
pub(crate) type Ledger = Arc<Mutex<Vec<(String, String, String)>>>;

struct Shop {
    name: &'static str,
    ledger: Ledger,
    /// Lets the tool `wait` return.
    release: Arc<Notify>,
}

fn tools() -> Vec<Tool> {
    let search = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "Old." },
            "repo": { "type": "string" },
            "token": { "type": "string" },
            "limit": { "$ref": "#/$defs/limit" },
        },
        "required": ["query", "repo"],
        "additionalProperties": false,
        "$defs": { "limit": { "type": "integer" } },
    });
    let under_all_of = json!({
        "type": "object",
        "allOf": [{ "properties": { "repo": { "type": "string" } }, "required": ["repo"] }],
    });
    let marked = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "zone": { "type": "string", "x-mcp-header": "Zone" },
        },
    });
    let output = json!({ "type": "object", "properties": { "rows": { "type": "string" } } });
    let any = || json!({ "type": "object" });
    vec![
        Tool::new("search", search).with_title("Find").with_description("Searches."),
        Tool::new("combined", under_all_of),
        Tool::new("marked", marked),
        Tool::new("large", any()),
        Tool::new("report", any()).with_output_schema(Raw::from(output)),
        Tool::new("wait", any()),
        Tool::new("delete_all", any()).with_annotations(ToolAnnotations::new().with_read_only_hint(true)),
    ]
}

impl Handler for Shop {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new(tools())),
            ServerRequest::ListPrompts(_) => {
                HandlerOutcome::now(ListPromptsResult::new(["greet", "secret"].map(Prompt::new)))
            }
            ServerRequest::ListResources(_) => {
                let resources = ["note://one", "secret://one"].map(|uri| Resource::new(uri, uri));
                HandlerOutcome::now(ListResourcesResult::new(resources))
            }
            ServerRequest::ListResourceTemplates(_) => {
                let templates = ["page://{id}", "secret://{id}"].map(|uri| ResourceTemplate::new(uri, uri));
                HandlerOutcome::now(ListResourceTemplatesResult::new(templates))
            }
            ServerRequest::CallTool(call) => self.call(call),
            ServerRequest::GetPrompt(_) => {
                let message = PromptMessage::new(Role::User, Content::text("Hello."));
                HandlerOutcome::now(GetPromptResult::new([message]))
            }
            ServerRequest::ReadResource(read) => {
                HandlerOutcome::now(ReadResourceResult::new([ResourceContents::text(read.uri, self.name)]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

impl Shop {
    fn call(&self, call: CallToolParams) -> HandlerOutcome {
        let arguments = call.arguments.unwrap_or_else(Raw::empty_object);
        self.ledger.lock().push((self.name.to_owned(), call.name.clone(), arguments.as_str().to_owned()));
        match call.name.as_str() {
            "large" => HandlerOutcome::now(CallToolResult::new([Content::text(large_text())])),
            "report" => {
                let rows = Raw::from(json!({ "rows": large_text() }));
                let text = Content::text(rows.as_str());
                HandlerOutcome::now(CallToolResult::new([text]).with_structured_content(rows))
            }
            "wait" => {
                let release = Arc::clone(&self.release);
                HandlerOutcome::later(async move {
                    release.notified().await;
                    Ok(CallToolResult::new([Content::text("released")]).into())
                })
            }
            _ => HandlerOutcome::now(CallToolResult::new([Content::text(arguments.as_str())])),
        }
    }
}

/// The text of large results.
pub(crate) fn large_text() -> String {
    let lines = (0..2_000)
        .map(|line| if line == 1_234 { "the needle\n".to_owned() } else { format!("row {line}\n") });
    lines.collect()
}

/// A gateway in front of two equal upstreams, `one` and `two`.
pub(crate) struct ShopBench {
    pub(crate) gateway: Gateway,
    pub(crate) host: Host,
    pub(crate) ledger: Ledger,
    pub(crate) release: Arc<Notify>,
}

impl ShopBench {
    /// Opens a gateway with views that are written in TOML.
    pub(crate) async fn open(views: &str, options: GatewayOptions) -> Self {
        let (ledger, release) = (Ledger::default(), Arc::<Notify>::default());
        let host = Gateway::host_builder().build();
        let list = || ListCapability::new().with_list_changed(true);
        for name in ["one", "two"] {
            let offers = ServerCapabilities::new()
                .with_tools(list())
                .with_prompts(list())
                .with_resources(ResourcesCapability::new().with_subscribe(true))
                .with_completions(Settings::new());
            let shop = Shop { name, ledger: Arc::clone(&ledger), release: Arc::clone(&release) };
            let server = Server::builder(Implementation::new(name, "1.0.0"), offers)
                .instructions(format!("Ask {name}."))
                .build(shop);
            host.connect(name, InProcess::new(&server)).await.unwrap();
        }
        let gateway = Gateway::new(host.clone(), options.with_views(View::parse_all(views).unwrap()));
        Self { gateway, host, ledger, release }
    }

    /// Connects a client to a view, as this principal.
    pub(crate) async fn client(&self, side: Side, view: &str, principal: &str) -> ClientSession {
        let server = self.gateway.view(view).unwrap();
        let dial = InProcess::new(&server).with_caller(Caller::new(principal));
        Client::new().with_revisions(side.revisions()).connect(dial).await.unwrap()
    }

    /// Returns the calls that have reached the upstreams, and forgets them.
    pub(crate) fn calls(&self) -> Vec<(String, String, String)> {
        std::mem::take(&mut *self.ledger.lock())
    }
}

/// Returns the names of a view's tools.
pub(crate) async fn tool_names(session: &ClientSession) -> Vec<String> {
    session.refresh_tools().await.unwrap().iter().map(|tool| tool.name.clone()).collect()
}
