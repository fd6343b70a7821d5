//! Serves a service to sessions: converts protocol requests to calls of the service.
//!
//! Built once from the design when a server is built. Calls do not copy the design.

pub(crate) mod access;
pub(crate) mod argument_validator;
pub(crate) mod broadcaster;
mod completion;
mod error_reply;
mod lists;
mod members;
mod method_future;
mod prompts;
mod resources;
pub(crate) mod service_events;
pub(crate) mod stack;
mod stream_buffer;
mod tools;
mod watchers;

use std::sync::Arc;

use switchboard_design::{Design, PatternError, UriPolicy};
use switchboard_protocol::{Raw, RpcError, ServerCapabilities};
use switchboard_session::server::{self, Caller, Handler, HandlerOutcome, Publisher, ServerRequest};

use self::broadcaster::Broadcaster;
use self::lists::DesignLists;
use self::prompts::PromptTable;
use self::resources::ResourceTable;
use self::tools::ToolTable;
use self::watchers::Watchers;
use crate::Dispatch;
use crate::options::BuilderOptions;
use crate::task::{TaskLimits, Tasks};
use crate::wire::EVENTS_EXTENSION;

/// State shared by all requests of an adapter.
pub(crate) struct Core {
    service: Arc<dyn Dispatch>,
    design: Arc<Design>,
    options: BuilderOptions,
    tools: ToolTable,
    resources: ResourceTable,
    prompts: PromptTable,
    lists: DesignLists,
    broadcaster: Arc<Broadcaster>,
    watchers: Watchers,
    /// Running tasks, if any tool may run as a task.
    tasks: Option<Tasks>,
}

impl Core {
    /// # Errors
    /// When a resource URI is not a valid pattern; the design check reports that first.
    fn new(
        service: Arc<dyn Dispatch>,
        policy: UriPolicy,
        options: BuilderOptions,
        publisher: Publisher,
    ) -> Result<Self, PatternError> {
        let design = Arc::clone(service.design());
        let resources = ResourceTable::new(&design, policy)?;
        let tasks = options.tasks.clone().or_else(|| {
            let has_tasks = design.tools.iter().any(|tool| !tool.task.is_never());
            has_tasks.then(|| Tasks::new(TaskLimits::default()))
        });
        if let Some(tasks) = &tasks {
            tasks.set_publisher(publisher.clone());
        }
        let broadcaster = Broadcaster::attached_to(&options.feeds, publisher);
        Ok(Self {
            tools: ToolTable::new(&design, &options),
            prompts: PromptTable::new(&design),
            lists: DesignLists::new(&design, &resources, &options),
            service,
            design,
            options,
            resources,
            broadcaster,
            watchers: Watchers::default(),
            tasks,
        })
    }
}

/// The session's request handler for a service.
pub(crate) struct Adapter {
    core: Arc<Core>,
}

impl Adapter {
    /// # Errors
    /// When a resource URI is not a valid pattern; the design check reports that first.
    pub(crate) fn new(
        service: Arc<dyn Dispatch>,
        policy: UriPolicy,
        options: BuilderOptions,
        publisher: Publisher,
    ) -> Result<Self, PatternError> {
        Ok(Self { core: Arc::new(Core::new(service, policy, options, publisher)?) })
    }

    /// Returns the server capabilities: those of the design and those of the options.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let Core { design, options, .. } = &*self.core;
        let mut offers = design.capabilities();
        offers.logging = Some(Default::default());
        offers.completions = completion::is_offered(design).then(Default::default);
        if options.list_changed.unwrap_or(!options.feeds.is_empty()) {
            let lists = [&mut offers.tools, &mut offers.prompts];
            lists.into_iter().flatten().for_each(|list| list.list_changed = Some(true));
            offers.resources.iter_mut().for_each(|list| list.list_changed = Some(true));
        }
        if self.core.tasks.is_some() {
            Tasks::declare_capabilities(&mut offers);
        }
        if !design.notifications.is_empty() {
            offers.extensions.get_or_insert_default().insert(EVENTS_EXTENSION, Raw::empty_object());
        }
        offers
    }
}

impl Handler for Adapter {
    fn handle(&self, request: ServerRequest, cx: server::RequestContext) -> HandlerOutcome {
        let core = &self.core;
        match request {
            ServerRequest::CallTool(params) => core.call_tool(params, cx),
            ServerRequest::ListTools(page) => core.list(&core.lists.tools, &page, &cx),
            ServerRequest::ReadResource(params) => core.read_resource(params, cx),
            ServerRequest::ListResources(page) => core.list_resources(page, cx),
            ServerRequest::ListResourceTemplates(page) => core.list(&core.lists.templates, &page, &cx),
            ServerRequest::GetPrompt(params) => core.get_prompt(params, cx),
            ServerRequest::ListPrompts(page) => core.list(&core.lists.prompts, &page, &cx),
            ServerRequest::Complete(params) => core.complete(params, cx),
            ServerRequest::Other { method, params } => core.handle_custom_request(&method, params, cx),
            other => match &core.tasks {
                Some(tasks) => tasks.handle(other, cx),
                None => HandlerOutcome::error(RpcError::method_not_found(other.method())),
            },
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        self.core.may_subscribe(uri, None)
    }

    fn may_subscribe_as(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        self.core.may_subscribe(uri, caller)
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.core.tasks.as_ref().is_some_and(|tasks| tasks.may_follow(task, owner))
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        self.core.mirrored_schema(tool)
    }

    fn subscribed(&self, uri: &str) {
        self.core.on_subscribe(uri);
    }

    fn unsubscribed(&self, uri: &str) {
        self.core.on_unsubscribe(uri);
    }

    fn notification_received(&self, method: &str, params: Option<&Raw>) {
        self.core.handle_notification(method, params);
    }

    fn is_long_lived(&self, method: &str) -> bool {
        self.core.streams_events(method)
    }
}
