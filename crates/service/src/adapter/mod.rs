//! Between the protocol and a service: requests come in as the session reads them, and go on as calls of methods.
//!
//! Made once from the design when a server is built. Nothing of the design is copied for a call.

mod access;
pub(crate) mod arguments;
pub(crate) mod board;
mod completion;
mod failing;
mod listing;
mod members;
mod prompts;
mod resources;
mod running;
mod stack;
mod streaming;
mod telling;
mod tools;
mod watching;

use std::sync::Arc;

use switchboard_design::{Design, PatternError, UriPolicy};
use switchboard_protocol::{Raw, RpcError, ServerCapabilities};
use switchboard_session::server::{self, Caller, Handler, HandlerOutcome, Publisher, ServerRequest};

use self::board::Board;
use self::listing::Lists;
use self::prompts::Prompts;
use self::resources::Resources;
use self::tools::Tools;
use self::watching::Watching;
use crate::options::Options;
use crate::task::{TaskLimits, Tasks};
use crate::wire::EVENTS_EXTENSION;
use crate::{Dispatch, EventFeed};

/// What every request needs.
pub(crate) struct Core {
    service: Arc<dyn Dispatch>,
    design: Arc<Design>,
    options: Options,
    tools: Tools,
    resources: Resources,
    prompts: Prompts,
    lists: Lists,
    board: Arc<Board>,
    watching: Watching,
    /// The calls that became tasks, when there is a tool that may.
    tasks: Option<Tasks>,
}

/// By how much a listener may be behind, when nothing says so.
pub(crate) const DEFAULT_CAPACITY: usize = 64;

impl Core {
    /// # Errors
    /// When a URI of the design is not a pattern, which the check of the design tells first.
    fn new(
        service: Arc<dyn Dispatch>,
        policy: UriPolicy,
        options: Options,
        publisher: Publisher,
    ) -> Result<Self, PatternError> {
        let design = Arc::clone(service.design());
        let resources = Resources::new(&design, policy)?;
        let capacity = options.feeds.iter().map(EventFeed::capacity).max().unwrap_or(DEFAULT_CAPACITY);
        let tasks = options.tasks.clone().or_else(|| {
            let may = design.tools.iter().any(|tool| !tool.task.is_never());
            may.then(|| Tasks::new(TaskLimits::default()))
        });
        if let Some(tasks) = &tasks {
            tasks.announce_through(publisher.clone());
        }
        let board = Arc::new(Board::new(publisher, capacity));
        options.feeds.iter().for_each(|feed| feed.attach(&board));
        Ok(Self {
            tools: Tools::new(&design, &options),
            prompts: Prompts::new(&design),
            lists: Lists::new(&design, &resources, &options),
            service,
            design,
            options,
            resources,
            board,
            watching: Watching::default(),
            tasks,
        })
    }
}

/// Serves a service to a session.
pub(crate) struct Adapter {
    core: Arc<Core>,
}

impl Adapter {
    /// # Errors
    /// When a URI of the design is not a pattern, which the check of the design tells first.
    pub(crate) fn new(
        service: Arc<dyn Dispatch>,
        policy: UriPolicy,
        options: Options,
        publisher: Publisher,
    ) -> Result<Self, PatternError> {
        Ok(Self { core: Arc::new(Core::new(service, policy, options, publisher)?) })
    }

    /// What is offered: what the design has, and what serving it adds.
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
            Tasks::declare(&mut offers);
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
            ServerRequest::Other { method, params } => core.other(&method, params, cx),
            other => match &core.tasks {
                Some(tasks) => tasks.answer(other, cx),
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
        self.core.subscribed(uri);
    }

    fn unsubscribed(&self, uri: &str) {
        self.core.unsubscribed(uri);
    }

    fn heard(&self, method: &str, params: Option<&Raw>) {
        self.core.heard(method, params);
    }

    fn is_long_lived(&self, method: &str) -> bool {
        self.core.streams_events(method)
    }
}
