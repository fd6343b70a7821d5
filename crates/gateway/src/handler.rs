//! The handler of the gateway: lists from the exposed catalog, everything else to the server that owns it.

use std::sync::Arc;

use switchboard_protocol::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, Completion, ErrorCode, FromRaw,
    GetPromptParams, GetPromptResult, PageParams, Raw, ReadResourceParams, ReadResourceResult, Reference,
    RpcError, ServerResult,
};
use switchboard_session::server::{
    CachedResult, Handler, HandlerOutcome, Reply, RequestContext, ServerRequest,
};

use crate::error::{unknown_prompt, unknown_tool};
use crate::exchange::UpstreamResult;
use crate::exposed::Exposed;
use crate::meta;
use crate::relay::{UpstreamRequest, UpstreamTarget, relay};
use crate::resource_owner::ResourceOwner;
use crate::state::GatewayState;

/// The handler of a gateway.
pub(crate) struct GatewayHandler {
    pub(crate) state: Arc<GatewayState>,
    /// Owned here: it ends with the server.
    pub(crate) _changes: crate::changes::ChangesTask,
}

/// Builds one page of a list.
type PageBuilder = fn(&Exposed, Option<&str>, usize) -> Result<CachedResult, RpcError>;

impl Handler for GatewayHandler {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let state = Arc::clone(&self.state);
        match request {
            ServerRequest::ListTools(params) => list(state, params, Exposed::tool_page),
            ServerRequest::ListPrompts(params) => list(state, params, Exposed::prompt_page),
            ServerRequest::ListResources(params) => list(state, params, Exposed::resource_page),
            ServerRequest::ListResourceTemplates(params) => list(state, params, Exposed::template_page),
            ServerRequest::CallTool(params) => HandlerOutcome::later(call_tool(state, cx, params)),
            ServerRequest::GetPrompt(params) => HandlerOutcome::later(get_prompt(state, cx, params)),
            ServerRequest::ReadResource(params) => HandlerOutcome::later(read_resource(state, cx, params)),
            ServerRequest::Complete(params) => HandlerOutcome::later(complete(state, cx, params)),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        self.state.subscribable(uri).map(drop)
    }

    fn subscribed(&self, uri: &str) {
        let owner = self.state.exposed().owners.find(uri).ok();
        self.state.subscriptions.add(uri, owner, &self.state.host, &self.state.publisher);
    }

    fn unsubscribed(&self, uri: &str) {
        self.state.subscriptions.remove(uri);
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        let exposed = self.state.exposed();
        let schema = &exposed.tools.get(tool)?.item.tool().input_schema;
        schema.as_str().contains("x-mcp-header").then(|| schema.clone())
    }
}

/// Answers a list from memory; the first ones wait for servers that are starting.
fn list(state: Arc<GatewayState>, params: PageParams, build: PageBuilder) -> HandlerOutcome {
    if state.has_settled() {
        let page = build(&state.exposed(), params.cursor.as_deref(), state.options.page_size);
        return match page {
            Ok(page) => HandlerOutcome::cached(&page),
            Err(error) => HandlerOutcome::error(error),
        };
    }
    HandlerOutcome::later(async move {
        state.settle().await;
        let page = build(&state.exposed(), params.cursor.as_deref(), state.options.page_size)?;
        Ok(page.result().clone())
    })
}

/// Looks something up in the exposed catalog; once more after the servers have started.
async fn look_up<T>(
    state: &GatewayState,
    find: impl Fn(&Exposed) -> Result<T, RpcError>,
) -> Result<T, RpcError> {
    match find(&state.exposed()) {
        Err(_) if !state.has_settled() => {
            state.settle().await;
            find(&state.exposed())
        }
        found => found,
    }
}

async fn call_tool(state: Arc<GatewayState>, cx: RequestContext, params: CallToolParams) -> Reply {
    let CallToolParams { name, arguments, meta, .. } = params;
    let (server, tool) = look_up(&state, |exposed| {
        let tool = exposed.tools.get(&name).ok_or_else(|| unknown_tool(&name))?;
        Ok((Arc::clone(&tool.server), tool.name.clone()))
    })
    .await?;
    let arguments = arguments.unwrap_or_else(Raw::empty_object);
    let target = UpstreamTarget::Tool { name: tool, arguments };
    let request = UpstreamRequest { server, target, meta: meta::relayed(meta) };
    let result = relay(state, cx.clone(), request).await?;
    pass_on::<CallToolResult>(&cx, result)
}

async fn get_prompt(state: Arc<GatewayState>, cx: RequestContext, params: GetPromptParams) -> Reply {
    let GetPromptParams { name, arguments, meta, .. } = params;
    let (server, prompt) = look_up(&state, |exposed| {
        let prompt = exposed.prompts.get(&name).ok_or_else(|| unknown_prompt(&name))?;
        Ok((Arc::clone(&prompt.server), prompt.name.clone()))
    })
    .await?;
    let mut params = GetPromptParams::new(prompt);
    params.arguments = arguments;
    let target = UpstreamTarget::Method { method: "prompts/get", params: encode(&params)? };
    let request = UpstreamRequest { server, target, meta: meta::relayed(meta) };
    let result = relay(state, cx.clone(), request).await?;
    pass_on::<GetPromptResult>(&cx, result)
}

async fn read_resource(state: Arc<GatewayState>, cx: RequestContext, params: ReadResourceParams) -> Reply {
    let ReadResourceParams { uri: exposed_uri, meta, .. } = params;
    let ResourceOwner { server, uri } = look_up(&state, |exposed| exposed.owners.find(&exposed_uri)).await?;
    let params = encode(&ReadResourceParams::new(uri.as_str()))?;
    let target = UpstreamTarget::Method { method: "resources/read", params };
    let request = UpstreamRequest { server, target, meta: meta::relayed(meta) };
    let UpstreamResult { raw, .. } = relay(state, cx, request).await?;
    // Read, because the lifetime has to be there for modern clients and its scope is that of this gateway.
    let mut result = ReadResourceResult::from_raw(&raw).map_err(not_a_result)?;
    result.meta = meta::relayed(result.meta.take());
    if result.cache_scope.is_some() {
        result.cache_scope = Some(switchboard_protocol::CacheScope::Private);
    }
    if uri != exposed_uri {
        for contents in result.contents.iter_mut().filter(|contents| contents.uri == uri) {
            contents.uri.clone_from(&exposed_uri);
        }
    }
    Ok(result.into())
}

async fn complete(state: Arc<GatewayState>, cx: RequestContext, mut params: CompleteParams) -> Reply {
    let (server, reference) = match &params.reference {
        Reference::Resource { uri } => {
            let owner = look_up(&state, |exposed| exposed.owners.find_template(uri)).await?;
            (owner.server, Reference::resource(owner.uri))
        }
        Reference::Prompt { name, title } => {
            let (server, name) = look_up(&state, |exposed| {
                let prompt = exposed.prompts.get(name).ok_or_else(|| unknown_prompt(name))?;
                Ok((Arc::clone(&prompt.server), prompt.name.clone()))
            })
            .await?;
            (server, Reference::Prompt { name, title: title.clone() })
        }
        _ => return Err(RpcError::invalid_params("a completion is for a prompt or a resource")),
    };
    params.reference = reference;
    let meta = meta::relayed(params.meta.take());
    let target = UpstreamTarget::Method { method: "completion/complete", params: encode(&params)? };
    match relay(state, cx.clone(), UpstreamRequest { server, target, meta }).await {
        // The gateway offers completion if any server does.
        Err(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
            Ok(CompleteResult::new(Completion::new(Vec::<String>::new())).into())
        }
        result => pass_on::<CompleteResult>(&cx, result?),
    }
}

/// Passes a result on: as the server wrote it, or read and lowered if the client's revision is older.
fn pass_on<T: FromRaw + Into<ServerResult>>(cx: &RequestContext, result: UpstreamResult) -> Reply {
    let raw = meta::clean_result(result.raw);
    if cx.must_lower(result.revision) {
        return Ok(T::from_raw(&raw).map_err(not_a_result)?.into());
    }
    Ok(ServerResult::Raw(raw))
}

fn encode(params: &impl serde_core::Serialize) -> Result<Raw, RpcError> {
    Raw::encode(params).map_err(|error| RpcError::internal(error.to_string()))
}

fn not_a_result(error: switchboard_protocol::DecodeError) -> RpcError {
    RpcError::internal(format!("the server's result is not valid: {error}"))
}
