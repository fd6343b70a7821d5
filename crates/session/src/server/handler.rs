//! The handler of a server: one request in, one reply out, independent of the era.

use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{
    CallToolParams, CompleteParams, FromRaw, GetPromptParams, PageParams, Raw, ReadResourceParams, RpcError,
    ServerResult, TaskIdParams, UpdateTaskParams,
};

use crate::link::BoxFuture;
use crate::request::{Caller, Reply, SubscriptionGrant};
use crate::server::layer::panic_error;
use crate::server::{CachedResult, RequestContext, SubscriptionOutcome};

/// Answers requests. `initialize`, pings, subscriptions and log levels are answered without the handler.
///
/// To see or reject requests without being their handler, add a [`Layer`](crate::server::Layer).
///
/// ```
/// use switchboard::protocol::{CallToolResult, Content, Implementation, RpcError};
/// use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
/// use switchboard::{Client, InProcess, Server, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// struct Echo;
///
/// impl Handler for Echo {
///     fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
///         match request {
///             ServerRequest::CallTool(call) => HandlerOutcome::now(CallToolResult::new([Content::text(call.name)])),
///             other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
///         }
///     }
/// }
///
/// let server = Server::builder(Implementation::new("echo", "1.0.0"), demo::capabilities()).build(Echo);
/// let session = Client::new().connect(InProcess::new(&server)).await?;
/// assert_eq!(session.call_tool("hello", json!({})).await?.text(), "hello");
/// # demo::done() });
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. Dropping the outcome cancels it.
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome;

    /// Checks whether a resource may be subscribed to; by default any may.
    ///
    /// # Errors
    /// The error for the client when not.
    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        let _ = uri;
        Ok(())
    }

    /// Checks whether this caller may subscribe to a resource; by default as [`Self::may_subscribe`].
    ///
    /// # Errors
    /// The error for the client when not.
    fn may_subscribe_as(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        let _ = caller;
        self.may_subscribe(uri)
    }

    /// Decides about a subscription before the client's request is answered: which updates it hears, and what is held until it
    /// ends. By default it hears the updates for everyone, if [`Self::may_subscribe_as`] allows it.
    ///
    /// A listen request cannot ask its client a question.
    fn open_subscription(&self, uri: &str, cx: &RequestContext) -> SubscriptionOutcome {
        let allowed = self.may_subscribe_as(uri, cx.caller());
        SubscriptionOutcome::Now(allowed.map(|()| SubscriptionGrant::new()))
    }

    /// Returns the input schema of a tool that marks arguments to be mirrored (`x-mcp-header`): over HTTP the headers are then
    /// checked against the arguments.
    fn input_schema(&self, tool: &str) -> Option<Raw> {
        let _ = tool;
        None
    }

    /// Returns the input schema of a tool for this caller; by default as [`Self::input_schema`]. `None` for a tool that the caller
    /// must not know of: a mismatch would tell that it exists.
    fn input_schema_as(&self, tool: &str, caller: Option<&Caller>) -> Option<Raw> {
        let _ = caller;
        self.input_schema(tool)
    }

    /// Returns whether a request of this extension method is a long-lived stream of notifications, as a listen request is.
    fn is_long_lived(&self, method: &str) -> bool {
        let _ = method;
        false
    }

    /// Returns whether this owner ([`RequestContext::owner`]) may follow a task; by default any may.
    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        let _ = (task, owner);
        true
    }

    /// Returns whether this caller may follow a task; by default as [`Self::may_follow`].
    fn may_follow_as(&self, task: &str, caller: Option<&Caller>) -> bool {
        self.may_follow(task, caller.map(Caller::principal).as_deref())
    }

    /// Called when the roots of a legacy client have changed, with the key of its session
    /// ([`RequestContext::session_key`]).
    fn roots_changed(&self, session: &str) {
        let _ = session;
    }

    /// Called when a subscription to a resource starts. Each call is followed by [`Self::unsubscribed`], at the latest when the
    /// connection ends.
    fn subscribed(&self, uri: &str) {
        let _ = uri;
    }

    /// Called when a subscription ends.
    fn unsubscribed(&self, uri: &str) {
        let _ = uri;
    }

    /// Called when a listen stream for a task starts. Each call is followed by [`Self::task_unfollowed`].
    fn task_followed(&self, task: &str) {
        let _ = task;
    }

    /// Called when a listen stream for a task ends.
    fn task_unfollowed(&self, task: &str) {
        let _ = task;
    }

    /// Called for a client's notification that no revision defines.
    fn notification_received(&self, method: &str, params: Option<&Raw>) {
        let _ = (method, params);
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

    fn open_subscription(&self, uri: &str, cx: &RequestContext) -> SubscriptionOutcome {
        (**self).open_subscription(uri, cx)
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        (**self).input_schema(tool)
    }

    fn input_schema_as(&self, tool: &str, caller: Option<&Caller>) -> Option<Raw> {
        (**self).input_schema_as(tool, caller)
    }

    fn is_long_lived(&self, method: &str) -> bool {
        (**self).is_long_lived(method)
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        (**self).may_follow(task, owner)
    }

    fn may_follow_as(&self, task: &str, caller: Option<&Caller>) -> bool {
        (**self).may_follow_as(task, caller)
    }

    fn roots_changed(&self, session: &str) {
        (**self).roots_changed(session);
    }

    fn subscribed(&self, uri: &str) {
        (**self).subscribed(uri);
    }

    fn unsubscribed(&self, uri: &str) {
        (**self).unsubscribed(uri);
    }

    fn task_followed(&self, task: &str) {
        (**self).task_followed(task);
    }

    fn task_unfollowed(&self, task: &str) {
        (**self).task_unfollowed(task);
    }

    fn notification_received(&self, method: &str, params: Option<&Raw>) {
        (**self).notification_received(method, params);
    }
}

/// The outcome of a request: a rejection, a reply that is ready, or the work that returns one.
///
/// ```
/// use switchboard::protocol::{CallToolResult, Content, RpcError, ServerResult};
/// use switchboard::server::HandlerOutcome;
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let text = |text: &str| ServerResult::from(CallToolResult::new([Content::text(text)]));
/// let (quick, fetched, read) = (text("quick"), text("fetched"), text("read"));
///
/// assert!(HandlerOutcome::now(quick).is_immediate());
/// assert!(HandlerOutcome::error(RpcError::invalid_params("no such tool")).into_reply().await.is_err());
/// assert!(HandlerOutcome::later(async { Ok(fetched) }).into_reply().await.is_ok()); // awaits
/// assert!(HandlerOutcome::blocking(|| Ok(read)).into_reply().await.is_ok()); // on a blocking thread
/// # demo::done() });
/// ```
pub enum HandlerOutcome {
    /// A rejection before the request was handled; over HTTP the status says so. The error is sent as it is, in every
    /// revision.
    Refused(RpcError),
    /// An immediate reply: nothing is spawned and nothing waits.
    Now(Reply),
    /// A reply that was encoded before.
    Cached(CachedResult),
    /// An asynchronous reply. Polled once by the reading task; it becomes a task only if it is pending.
    Later(BoxFuture<'static, Reply>),
    /// Blocking work, run on a blocking thread.
    Blocking(Box<dyn FnOnce() -> Reply + Send>),
}

impl HandlerOutcome {
    /// Creates an immediate result.
    pub fn now(result: impl Into<ServerResult>) -> Self {
        Self::Now(Ok(result.into()))
    }

    /// Creates a reply from a cached result.
    pub fn cached(result: &CachedResult) -> Self {
        Self::Cached(result.clone())
    }

    /// Creates an immediate error.
    pub fn error(error: RpcError) -> Self {
        Self::Now(Err(error))
    }

    /// Creates an asynchronous reply.
    pub fn later(future: impl Future<Output = Reply> + Send + 'static) -> Self {
        Self::Later(Box::pin(future))
    }

    /// Creates a reply from blocking work.
    pub fn blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Self {
        Self::Blocking(Box::new(work))
    }

    /// Returns whether the reply is known already.
    pub fn is_immediate(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Now(_) | Self::Cached(_))
    }

    /// Calls a function with the reply; not if the request is cancelled before. An immediate reply stays immediate.
    #[must_use]
    pub fn inspect(self, see: impl FnOnce(Result<&ServerResult, &RpcError>) + Send + 'static) -> Self {
        match &self {
            Self::Refused(error) => see(Err(error)),
            Self::Now(reply) => see(reply.as_ref()),
            Self::Cached(cached) => see(Ok(cached.result())),
            Self::Later(_) | Self::Blocking(_) => {
                return self.map(move |reply| {
                    see(reply.as_ref());
                    reply
                });
            }
        }
        self
    }

    /// Replaces the reply. An immediate reply stays immediate.
    #[must_use]
    pub fn map(self, change: impl FnOnce(Reply) -> Reply + Send + 'static) -> Self {
        match self {
            Self::Refused(error) => match change(Err(error)) {
                Err(error) => Self::Refused(error),
                replaced => Self::Now(replaced),
            },
            Self::Now(reply) => Self::Now(change(reply)),
            Self::Cached(cached) => Self::Now(change(Ok(cached.result().clone()))),
            Self::Later(future) => Self::later(async move { change(future.await) }),
            Self::Blocking(work) => Self::blocking(move || change(work())),
        }
    }

    /// Waits for the reply. For a layer that has to wait before it calls the next one.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request, except for blocking work that has started.
    pub async fn into_reply(self) -> Reply {
        match self {
            Self::Refused(error) => Err(error),
            Self::Now(reply) => reply,
            Self::Cached(cached) => Ok(cached.result().clone()),
            Self::Later(future) => future.await,
            Self::Blocking(work) => {
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panic_error("blocking work")))
            }
        }
    }
}

impl std::fmt::Debug for HandlerOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Refused(_) => "HandlerOutcome::Refused",
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
        ///
        /// ```
        /// use switchboard::protocol::CallToolParams;
        /// use switchboard::server::ServerRequest;
        ///
        /// let request = ServerRequest::CallTool(CallToolParams::new("add"));
        /// assert_eq!(request.method(), "tools/call");
        /// ```
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
                    // The most frequent request: decoded without a copy.
                    return CallToolParams::from_fields(request.fields()).map(Self::CallTool).map_err(invalid);
                }
                let read = || params.clone().unwrap_or_else(Raw::empty_object);
                match method {
                    $($method => FromRaw::from_raw(&read()).map(Self::$variant).map_err(invalid),)*
                    _ => Ok(Self::Other { method: method.to_owned(), params: params.clone() }),
                }
            }

            /// Returns the method.
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
