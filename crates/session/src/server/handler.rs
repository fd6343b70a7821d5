//! What a server author writes: one request in, one reply out. No era in sight.

use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{
    CallToolParams, CompleteParams, FromRaw, GetPromptParams, PageParams, Raw, ReadResourceParams, RpcError,
    ServerResult, TaskIdParams, UpdateTaskParams,
};

use crate::link::BoxFuture;
use crate::request::{Caller, Reply};
use crate::server::{AnsweredRequest, CachedResult, RequestContext};

/// Answers requests. Openings, pings, subscriptions and log levels are answered before a handler is asked.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. Dropping what it returns cancels it.
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome;

    /// Whether a resource may be subscribed to; unless said otherwise, any may.
    ///
    /// # Errors
    /// What the client is told when not.
    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        let _ = uri;
        Ok(())
    }

    /// Whether this caller may subscribe to a resource; unless said otherwise, whoever may.
    ///
    /// # Errors
    /// What the client is told when not.
    fn may_subscribe_as(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        let _ = caller;
        self.may_subscribe(uri)
    }

    /// The input schema of a tool, where some of its arguments are marked to be mirrored (`x-mcp-header`): over HTTP
    /// the mirror is then checked against the arguments.
    fn input_schema(&self, tool: &str) -> Option<Raw> {
        let _ = tool;
        None
    }

    /// Whether a request of this method, one of an extension, is answered only at its end and says what it has to say
    /// before: as a listener does.
    fn is_long_lived(&self, method: &str) -> bool {
        let _ = method;
        false
    }

    /// Whether this owner ([`RequestContext::owner`]) may hear how a task is doing; unless said otherwise, any may.
    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        let _ = (task, owner);
        true
    }

    /// The roots of a legacy client have changed.
    fn roots_changed(&self) {}

    /// Somebody subscribed to a resource that may be subscribed to. Every time is followed by [`Self::unsubscribed`],
    /// at the latest when the connection ends.
    fn subscribed(&self, uri: &str) {
        let _ = uri;
    }

    /// A subscription is over.
    fn unsubscribed(&self, uri: &str) {
        let _ = uri;
    }

    /// A client sent a notification that no revision knows.
    fn heard(&self, method: &str, params: Option<&Raw>) {
        let _ = (method, params);
    }

    /// A request was answered without [`Self::handle`]: one of the protocol itself, such as `initialize` or `ping`, or one
    /// that was refused.
    fn answered(&self, request: &AnsweredRequest<'_>) {
        let _ = request;
    }
}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        (**self).handle(request, cx)
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        (**self).may_subscribe(uri)
    }

    fn may_subscribe_as(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        (**self).may_subscribe_as(uri, caller)
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        (**self).input_schema(tool)
    }

    fn is_long_lived(&self, method: &str) -> bool {
        (**self).is_long_lived(method)
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        (**self).may_follow(task, owner)
    }

    fn roots_changed(&self) {
        (**self).roots_changed();
    }

    fn subscribed(&self, uri: &str) {
        (**self).subscribed(uri);
    }

    fn unsubscribed(&self, uri: &str) {
        (**self).unsubscribed(uri);
    }

    fn heard(&self, method: &str, params: Option<&Raw>) {
        (**self).heard(method, params);
    }

    fn answered(&self, request: &AnsweredRequest<'_>) {
        (**self).answered(request);
    }
}

/// How a request is handled.
pub enum HandlerOutcome {
    /// The reply is here already: nothing is spawned and nothing waits.
    Now(Reply),
    /// The reply was written before, and is given again.
    Cached(CachedResult),
    /// It takes a while. Polled once where it was read; only one that waits becomes a task.
    Later(BoxFuture<'static, Reply>),
    /// It holds a thread: run where that harms nobody.
    Blocking(Box<dyn FnOnce() -> Reply + Send>),
}

impl HandlerOutcome {
    /// A result that is here already.
    pub fn now(result: impl Into<ServerResult>) -> Self {
        Self::Now(Ok(result.into()))
    }

    /// A result that is the same for everybody who asks.
    pub fn cached(result: &CachedResult) -> Self {
        Self::Cached(result.clone())
    }

    /// An error that is here already.
    pub fn error(error: RpcError) -> Self {
        Self::Now(Err(error))
    }

    /// A reply that takes a while.
    pub fn later(future: impl Future<Output = Reply> + Send + 'static) -> Self {
        Self::Later(Box::pin(future))
    }

    /// Work that holds a thread.
    pub fn blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Self {
        Self::Blocking(Box::new(work))
    }
}

impl std::fmt::Debug for HandlerOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "HandlerOutcome::Now",
            Self::Cached(_) => "HandlerOutcome::Cached",
            Self::Later(_) => "HandlerOutcome::Later",
            Self::Blocking(_) => "HandlerOutcome::Blocking",
        })
    }
}

macro_rules! requests {
    ($($(#[$doc:meta])* $variant:ident($params:ty) = $method:literal,)*) => {
        /// A request for a handler, decoded into exactly its type.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum ServerRequest {
            $($(#[$doc])* $variant($params),)*
            /// A method of an extension, or none that is known.
            Other {
                /// The method.
                method: String,
                /// The parameters.
                params: Option<Raw>,
            },
        }

        impl ServerRequest {
            /// Decodes the parameters of a method.
            pub(crate) fn read(request: &Request) -> Result<Self, RpcError> {
                let (method, params) = (&*request.method, &request.params);
                let invalid = |error: switchboard_protocol::DecodeError| {
                    RpcError::invalid_params(format!("Invalid params for {method}: {error}"))
                };
                if method == "tools/call" {
                    // The one that is asked all the time: nothing of it is copied.
                    return CallToolParams::from_fields(request.fields()).map(Self::CallTool).map_err(invalid);
                }
                let read = || params.clone().unwrap_or_else(Raw::empty_object);
                match method {
                    $($method => FromRaw::from_raw(&read()).map(Self::$variant).map_err(invalid),)*
                    _ => Ok(Self::Other { method: method.to_owned(), params: params.clone() }),
                }
            }

            /// The method.
            pub fn method(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $method,)*
                    Self::Other { method, .. } => method,
                }
            }
        }
    };
}

requests! {
    /// The tools, a page at a time.
    ListTools(PageParams) = "tools/list",
    /// A call of a tool.
    CallTool(CallToolParams) = "tools/call",
    /// The resources, a page at a time.
    ListResources(PageParams) = "resources/list",
    /// The resource templates, a page at a time.
    ListResourceTemplates(PageParams) = "resources/templates/list",
    /// The contents of a resource.
    ReadResource(ReadResourceParams) = "resources/read",
    /// The prompts, a page at a time.
    ListPrompts(PageParams) = "prompts/list",
    /// A prompt, filled in.
    GetPrompt(GetPromptParams) = "prompts/get",
    /// Values that complete an argument.
    Complete(CompleteParams) = "completion/complete",
    /// The state of a task.
    GetTask(TaskIdParams) = "tasks/get",
    /// The result of a task (2025-11-25).
    TaskResult(TaskIdParams) = "tasks/result",
    /// Cancel a task.
    CancelTask(TaskIdParams) = "tasks/cancel",
    /// The tasks, a page at a time (2025-11-25).
    ListTasks(PageParams) = "tasks/list",
    /// Input for a task (the extension).
    UpdateTask(UpdateTaskParams) = "tasks/update",
}
