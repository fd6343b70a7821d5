//! The handler of a view: lists from the exposed catalog, everything else to the server that owns it.

use std::pin::pin;
use std::sync::Arc;

use switchboard_protocol::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, Completion, FromRaw, GetPromptParams,
    GetPromptResult, PageParams, Raw, ReadResourceParams, ReadResourceResult, Reference, RpcError,
    ServerResult, TaskSupport, ToolAnnotations,
};
use switchboard_session::server::{
    CachedResult, Caller, Handler, HandlerOutcome, Reply, RequestContext, ServerRequest, SubscriptionOutcome,
};

use crate::access::{AccessRequest, AccessRules};
use crate::error::{unknown_prompt, unknown_tool, view_removed};
use crate::exchange::UpstreamResult;
use crate::exposed::{Exposed, PageRequest};
use crate::meta;
use crate::policy::{Target, TargetKind};
use crate::read_result::{keep_result, read_kept_result};
use crate::relay::relay;
use crate::resource_owner::{ResourceOwner, not_found};
use crate::results::shorten;
use crate::subscriptions::SubscribedResource;
use crate::tasks;
use crate::upstream_error::is_unknown_method;
use crate::upstream_request::{UpstreamRequest, UpstreamTarget};
use crate::view::{LargeResults, READ_RESULT};
use crate::view_state::{RunningCall, ViewState};

/// The handler of one view of a gateway.
pub(crate) struct GatewayHandler {
    pub(crate) state: Arc<ViewState>,
    /// Owned here: it ends with the server.
    pub(crate) _changes: crate::changes::ChangesTask,
}

/// Builds one page of a list.
type PageBuilder = fn(&Exposed, &PageRequest<'_>) -> Result<CachedResult, RpcError>;

impl Handler for GatewayHandler {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let state = Arc::clone(&self.state);
        if state.is_removed() {
            return HandlerOutcome::error(view_removed());
        }
        match request {
            ServerRequest::ListTools(params) => list(state, cx, params, Exposed::tool_page),
            ServerRequest::ListPrompts(params) => list(state, cx, params, Exposed::prompt_page),
            ServerRequest::ListResources(params) => list(state, cx, params, Exposed::resource_page),
            ServerRequest::ListResourceTemplates(params) => list(state, cx, params, Exposed::template_page),
            ServerRequest::CallTool(params) => {
                HandlerOutcome::later(call_tool(self.state.begin_call(), cx, params))
            }
            ServerRequest::GetPrompt(params) => {
                HandlerOutcome::later(get_prompt(self.state.begin_call(), cx, params))
            }
            ServerRequest::ReadResource(params) => {
                HandlerOutcome::later(read_resource(self.state.begin_call(), cx, params))
            }
            ServerRequest::Complete(params) => {
                HandlerOutcome::later(complete(self.state.begin_call(), cx, params))
            }
            task @ (ServerRequest::GetTask(_)
            | ServerRequest::TaskResult(_)
            | ServerRequest::CancelTask(_)
            | ServerRequest::ListTasks(_)
            | ServerRequest::UpdateTask(_)) => tasks::handle(state, task, cx),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    fn may_follow_as(&self, task: &str, caller: Option<&Caller>) -> bool {
        tasks::may_follow(&self.state, task, caller)
    }

    fn task_followed(&self, task: &str) {
        tasks::follow(&self.state, task);
    }

    fn task_unfollowed(&self, task: &str) {
        self.state.followers.remove(task);
    }

    fn may_subscribe_as(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        if self.state.is_removed() {
            return Err(view_removed());
        }
        let owner = self.state.exposed().find_resource(uri)?;
        check_subscription(&self.state, (uri, &owner), caller)?;
        self.state.subscribable(uri).map(drop)
    }

    fn open_subscription(&self, uri: &str, cx: &RequestContext) -> SubscriptionOutcome {
        if let Err(refused) = self.may_subscribe_as(uri, cx.caller()) {
            return SubscriptionOutcome::Now(Err(refused));
        }
        let (state, cx, exposed) = (Arc::clone(&self.state), cx.clone(), uri.to_owned());
        SubscriptionOutcome::later(async move {
            let owner = state.exposed().find_resource(&exposed)?;
            let host = &state.gateway.host;
            let scope = state.gateway.sharing.scope(host, &cx, &owner.server).await?;
            let resource = SubscribedResource { exposed: exposed.clone(), owner: owner.clone(), scope };
            let grant = state.subscriptions.open(host, &state.publisher, resource).await?;
            // Sessions outlive policies.
            let (state, caller) = (Arc::downgrade(&state), cx.caller().cloned());
            Ok(grant.with_check(move || {
                let state = state.upgrade();
                state.is_some_and(|state| may_receive(&state, (&exposed, &owner), caller.as_ref()))
            }))
        })
    }

    fn roots_changed(&self, session: &str) {
        self.state.gateway.sharing.roots_changed(session);
    }

    fn input_schema_as(&self, tool: &str, caller: Option<&Caller>) -> Option<Raw> {
        let exposed = self.state.exposed();
        let found = exposed.tool(tool)?;
        let schema = &found.item.tool().input_schema;
        if !schema.as_str().contains("x-mcp-header") {
            return None;
        }
        // A mismatch would tell that a hidden tool exists.
        let filter = self.state.gateway.access.list_filter(self.state.subject(caller));
        let is_shown = filter.is_none_or(|filter| {
            filter.shows_tool(&found.server, &found.name, |trusted| found.item.annotations(trusted))
        });
        is_shown.then(|| schema.clone())
    }
}

/// Checks whether the policy lets a caller subscribe to a resource.
fn check_subscription(
    state: &ViewState,
    (exposed, owner): (&str, &ResourceOwner),
    caller: Option<&Caller>,
) -> Result<(), RpcError> {
    let target = (&*owner.server, owner.uri.as_str());
    state.gateway.access.check_subscription(&state.subject(caller), target, not_found(exposed))
}

/// Returns whether a subscriber may receive an update of the server that it is subscribed at now. Another server that claims
/// the URI since makes it ambiguous for requests, but sends no updates here.
fn may_receive(state: &ViewState, (exposed, owner): (&str, &ResourceOwner), caller: Option<&Caller>) -> bool {
    !state.is_removed()
        && state.rules().has_resource(&owner.server, &owner.uri)
        && check_subscription(state, (exposed, owner), caller).is_ok()
}

/// Answers a list from memory; the first ones wait for servers that are starting.
fn list(state: Arc<ViewState>, cx: RequestContext, params: PageParams, build: PageBuilder) -> HandlerOutcome {
    let page = move |state: &ViewState| {
        let metrics = state.gateway.access.metrics().map(|metrics| &**metrics);
        let filter = state.gateway.access.list_filter(state.subject(cx.caller()));
        let request = PageRequest {
            cursor: params.cursor.as_deref(),
            size: state.gateway.options.page_size,
            filter,
            metrics,
        };
        build(&state.exposed(), &request)
    };
    if state.gateway.has_settled() {
        return match page(&state) {
            Ok(page) => HandlerOutcome::cached(&page),
            Err(error) => HandlerOutcome::error(error),
        };
    }
    HandlerOutcome::later(async move {
        state.gateway.settle().await;
        Ok(page(&state)?.result().clone())
    })
}

/// Looks something up in the exposed catalog; once more after the servers have started.
async fn look_up<T>(
    state: &ViewState,
    find: impl Fn(&Exposed) -> Result<T, RpcError>,
) -> Result<T, RpcError> {
    match find(&state.exposed()) {
        Err(_) if !state.gateway.has_settled() => {
            state.gateway.settle().await;
            find(&state.exposed())
        }
        found => found,
    }
}

/// As [`look_up`]; what is not found is recorded.
async fn resolve<T>(
    state: &ViewState,
    cx: &RequestContext,
    (method, name): (&'static str, &str),
    find: impl Fn(&Exposed) -> Result<T, RpcError>,
) -> Result<T, RpcError> {
    match look_up(state, find).await {
        Err(error) => {
            state
                .gateway
                .access
                .record_unknown(cx, &state.subject(cx.caller()), (method, name), &error)
                .await?;
            Err(error)
        }
        found => found,
    }
}

/// A tool that is called.
struct ResolvedTool {
    /// The rules that say whether the annotations are trusted.
    rules: Arc<AccessRules>,
    server: Arc<str>,
    /// Its name on the server.
    name: String,
    annotations: Option<ToolAnnotations>,
    /// As the server gets them, or why they are refused, and what the client sent.
    arguments: Result<Raw, (RpcError, Raw)>,
    large_results: Option<LargeResults>,
    has_output_schema: bool,
    task_support: Option<TaskSupport>,
}

async fn call_tool(running: RunningCall, cx: RequestContext, params: CallToolParams) -> Reply {
    let state = running.state();
    let CallToolParams { name, arguments, meta, task, .. } = params;
    if name == READ_RESULT && state.rules().keeps_results() {
        return read_kept_result(Arc::clone(state), cx, arguments).await;
    }
    let found = resolve(state, &cx, ("tools/call", &name), |exposed| {
        let exposed_tool = exposed.tool(&name).ok_or_else(|| unknown_tool(&name))?;
        let rules = state.gateway.access.rules();
        let trusted = rules.trusts_annotations(&exposed_tool.server);
        let sent = arguments.clone().unwrap_or_else(Raw::empty_object);
        Ok(ResolvedTool {
            rules,
            server: Arc::clone(&exposed_tool.server),
            name: exposed_tool.name.clone(),
            annotations: exposed_tool.item.annotations(trusted),
            // A call that the policy denies is denied also with arguments that are refused.
            arguments: exposed_tool.item.apply_arguments(&sent).map_err(|error| (error, sent)),
            large_results: exposed_tool.item.large_results,
            has_output_schema: exposed_tool.item.tool().output_schema.is_some(),
            task_support: exposed_tool
                .item
                .tool()
                .execution
                .as_ref()
                .and_then(|execution| execution.task_support),
        })
    });
    let ResolvedTool {
        rules,
        server,
        name: tool,
        annotations,
        arguments,
        large_results,
        has_output_schema,
        task_support,
    } = found.await?;
    let (arguments, refused) = match arguments {
        Ok(arguments) => (arguments, None),
        Err((error, sent)) => (sent, Some(error)),
    };
    let access = AccessRequest {
        rules,
        subject: state.subject(cx.caller()),
        method: "tools/call",
        target: Target { annotations: annotations.as_ref(), ..Target::tool(&server, &tool) },
        // The bytes that are sent on.
        arguments: Some(&arguments),
        meta: meta.as_ref(),
        unknown: unknown_tool(&name),
    };
    let call = pin!(async {
        if let Some(error) = refused {
            return Err(error);
        }
        let target = UpstreamTarget::Tool { name: tool.clone(), arguments: arguments.clone() };
        let request = UpstreamRequest::new(&server, target, meta::relayed(meta.clone()));
        let plan = tasks::plan(state, &cx, (&server, task_support), task).await?;
        let request = UpstreamRequest { task: plan.task.clone(), offer: plan.offer, ..request };
        let result = relay(Arc::clone(&state.gateway), cx.clone(), request).await?;
        if let Some(created) = tasks::created(state, &cx, (&server, &tool), &plan, &result)? {
            return Ok(created);
        }
        let keep = |text| keep_result(state, &cx, (&server, &tool, &arguments), text);
        let shortened = large_results.and_then(|large| shorten(&result.raw, large, has_output_schema, keep));
        match shortened {
            Some(mut shortened) => {
                shortened.meta = meta::relayed(shortened.meta.take());
                Ok(shortened.into())
            }
            None => pass_on::<CallToolResult>(&cx, result),
        }
    });
    state.gateway.access.run(&cx, access, call).await
}

async fn get_prompt(running: RunningCall, cx: RequestContext, params: GetPromptParams) -> Reply {
    let state = running.state();
    let GetPromptParams { name, arguments, meta, .. } = params;
    let (server, prompt) = resolve(state, &cx, ("prompts/get", &name), |exposed| {
        let prompt = exposed.prompts.get(&name).ok_or_else(|| unknown_prompt(&name))?;
        Ok((Arc::clone(&prompt.server), prompt.name.clone()))
    })
    .await?;
    let inspected = arguments.as_ref().map(encode).transpose()?;
    let access = AccessRequest {
        rules: state.gateway.access.rules(),
        subject: state.subject(cx.caller()),
        method: "prompts/get",
        target: Target::prompt(&server, &prompt),
        arguments: inspected.as_ref(),
        meta: meta.as_ref(),
        unknown: unknown_prompt(&name),
    };
    let call = pin!(async {
        let mut params = GetPromptParams::new(prompt.clone());
        params.arguments = arguments;
        let target = UpstreamTarget::Method { method: "prompts/get", params: encode(&params)? };
        let request = UpstreamRequest::new(&server, target, meta::relayed(meta.clone()));
        let result = relay(Arc::clone(&state.gateway), cx.clone(), request).await?;
        pass_on::<GetPromptResult>(&cx, result)
    });
    state.gateway.access.run(&cx, access, call).await
}

async fn read_resource(running: RunningCall, cx: RequestContext, params: ReadResourceParams) -> Reply {
    let state = running.state();
    let ReadResourceParams { uri: exposed_uri, meta, .. } = params;
    let found =
        resolve(state, &cx, ("resources/read", &exposed_uri), |exposed| exposed.find_resource(&exposed_uri));
    let owner = found.await?;
    let access = AccessRequest {
        rules: state.gateway.access.rules(),
        subject: state.subject(cx.caller()),
        method: "resources/read",
        target: Target::resource(&owner.server, &owner.uri),
        arguments: None,
        meta: meta.as_ref(),
        unknown: not_found(&exposed_uri),
    };
    let call = pin!(async {
        let params = encode(&ReadResourceParams::new(owner.uri.as_str()))?;
        let target = UpstreamTarget::Method { method: "resources/read", params };
        let request = UpstreamRequest::new(&owner.server, target, meta::relayed(meta.clone()));
        let UpstreamResult { raw, .. } = relay(Arc::clone(&state.gateway), cx.clone(), request).await?;
        read_result(&raw, &owner, &exposed_uri)
    });
    state.gateway.access.run(&cx, access, call).await
}

/// Reads the contents of a resource, because the lifetime has to be there for modern clients and its scope is that of this
/// gateway.
fn read_result(raw: &Raw, owner: &ResourceOwner, exposed_uri: &str) -> Reply {
    let mut result = ReadResourceResult::from_raw(raw).map_err(not_a_result)?;
    result.meta = meta::relayed(result.meta.take());
    if result.cache_scope.is_some() {
        result.cache_scope = Some(switchboard_protocol::CacheScope::Private);
    }
    if owner.uri != exposed_uri {
        for contents in result.contents.iter_mut().filter(|contents| contents.uri == owner.uri) {
            exposed_uri.clone_into(&mut contents.uri);
        }
    }
    Ok(result.into())
}

/// The prompt or template that a completion is for.
struct CompletionOwner {
    server: Arc<str>,
    kind: TargetKind,
    name: String,
    reference: Reference,
    unknown: RpcError,
}

async fn find_completed(
    state: &ViewState,
    cx: &RequestContext,
    reference: &Reference,
) -> Result<CompletionOwner, RpcError> {
    let method = "completion/complete";
    match reference {
        Reference::Resource { uri } => {
            let found = resolve(state, cx, (method, uri), |exposed| exposed.find_template(uri));
            let ResourceOwner { server, uri: name } = found.await?;
            let reference = Reference::resource(name.clone());
            let kind = TargetKind::TemplateCompletion;
            Ok(CompletionOwner { server, kind, name, reference, unknown: not_found(uri) })
        }
        Reference::Prompt { name: exposed_name, title } => {
            let find = |exposed: &Exposed| {
                let prompt = exposed.prompts.get(exposed_name).ok_or_else(|| unknown_prompt(exposed_name))?;
                Ok((Arc::clone(&prompt.server), prompt.name.clone()))
            };
            let (server, name) = resolve(state, cx, (method, exposed_name), find).await?;
            let reference = Reference::Prompt { name: name.clone(), title: title.clone() };
            let kind = TargetKind::PromptCompletion;
            Ok(CompletionOwner { server, kind, name, reference, unknown: unknown_prompt(exposed_name) })
        }
        _ => Err(RpcError::invalid_params("a completion is for a prompt or a resource")),
    }
}

async fn complete(running: RunningCall, cx: RequestContext, mut params: CompleteParams) -> Reply {
    let state = running.state();
    let CompletionOwner { server, kind, name, reference, unknown } =
        find_completed(state, &cx, &params.reference).await?;
    params.reference = reference;
    let meta = params.meta.take();
    let access = AccessRequest {
        rules: state.gateway.access.rules(),
        subject: state.subject(cx.caller()),
        method: "completion/complete",
        target: Target::new(&server, kind, &name),
        arguments: None,
        meta: meta.as_ref(),
        unknown,
    };
    let call = pin!(async {
        let target = UpstreamTarget::Method { method: "completion/complete", params: encode(&params)? };
        let request = UpstreamRequest::new(&server, target, meta::relayed(meta.clone()));
        match relay(Arc::clone(&state.gateway), cx.clone(), request).await {
            // The gateway offers completion if any server does.
            Err(error) if is_unknown_method(&error) => {
                Ok(CompleteResult::new(Completion::new(Vec::<String>::new())).into())
            }
            result => pass_on::<CompleteResult>(&cx, result?),
        }
    });
    state.gateway.access.run(&cx, access, call).await
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
